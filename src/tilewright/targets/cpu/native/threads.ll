; Starting threads, the clock and memory: the same on all POSIX systems.

declare i32 @clock_gettime(i32, ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i32 @sigdelset(ptr, i32)
declare i32 @sched_yield()
declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)

; Monotonic time in nanoseconds.
define internal i64 @now_ns() hot {
  %time = alloca %timespec
  %status = call i32 @clock_gettime(i32 $CLOCK_MONOTONIC, ptr %time)
  %seconds = load i64, ptr %time
  %ns_slot = getelementptr %timespec, ptr %time, i32 0, i32 1
  %ns = load i64, ptr %ns_slot
  %scaled = mul i64 %seconds, 1000000000
  %sum = add i64 %scaled, %ns
  ret i64 %sum
}

; Memory at a multiple of %alignment; null when there is none.
define internal ptr @allocate(i64 %alignment, i64 %bytes) {
  %slot = alloca ptr
  store ptr null, ptr %slot
  %status = call i32 @posix_memalign(ptr %slot, i64 %alignment, i64 %bytes)
  %memory = load ptr, ptr %slot
  %ok = icmp eq i32 %status, 0
  %given = select i1 %ok, ptr %memory, ptr null
  ret ptr %given
}

define internal void @release(ptr %memory) {
  call void @free(ptr %memory)
  ret void
}

define internal void @yield_cpu() {
  %ignored = call i32 @sched_yield()
  ret void
}

; A detached thread that runs %main(%argument) with all signals blocked, so that they reach Python's main thread; but
; not those that its own code raises, whose handlers would not be asked.
define internal i1 @start_thread(ptr %main, ptr %argument) {
entry:
  %thread = alloca ptr
  %blocked = alloca [16 x i64], align 8
  %before = alloca [16 x i64], align 8
  %f = call i32 @sigfillset(ptr %blocked)
  %ill = call i32 @sigdelset(ptr %blocked, i32 4)
  %trap = call i32 @sigdelset(ptr %blocked, i32 5)
  %fpe = call i32 @sigdelset(ptr %blocked, i32 8)
  %segv = call i32 @sigdelset(ptr %blocked, i32 11)
  %bus = call i32 @sigdelset(ptr %blocked, i32 $SIGBUS)
  %b = call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %blocked, ptr %before)
  %status = call i32 @pthread_create(ptr %thread, ptr null, ptr %main, ptr %argument)
  %r = call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %before, ptr null)
  %ok = icmp eq i32 %status, 0
  br i1 %ok, label %detach, label %end
detach:
  %handle = load ptr, ptr %thread
  %d = call i32 @pthread_detach(ptr %handle)
  br label %end
end:
  ret i1 %ok
}
