; Threads, waiting and waking, the clock and memory on Windows 8 and later.

declare ptr @CreateThread(ptr, i64, ptr, ptr, i32, ptr)
declare i32 @CloseHandle(ptr)
declare i32 @WaitOnAddress(ptr, ptr, i64, i32)
declare void @WakeByAddressSingle(ptr)
declare void @WakeByAddressAll(ptr)
declare i32 @SwitchToThread()
declare i32 @QueryPerformanceCounter(ptr)
declare i32 @QueryPerformanceFrequency(ptr)
declare ptr @_aligned_malloc(i64, i64)
declare void @_aligned_free(ptr)

@ticks_per_second = internal global i64 0

define void @tilewright_pool_init() {
  %known = call i32 @QueryPerformanceFrequency(ptr @ticks_per_second)
  ret void
}

; Monotonic time in nanoseconds: whole seconds apart, so that nothing overflows.
define internal i64 @now_ns() {
  %slot = alloca i64
  %known = call i32 @QueryPerformanceCounter(ptr %slot)
  %ticks = load i64, ptr %slot
  %rate_known = load i64, ptr @ticks_per_second
  %rate = call i64 @llvm.umax.i64(i64 %rate_known, i64 1)
  %seconds = udiv i64 %ticks, %rate
  %rest = urem i64 %ticks, %rate
  %scaled = mul i64 %seconds, 1000000000
  %rest_scaled = mul i64 %rest, 1000000000
  %rest_ns = udiv i64 %rest_scaled, %rate
  %sum = add i64 %scaled, %rest_ns
  ret i64 %sum
}

; Sleep while *%word == %expected, until woken or for %timeout ns (0: without end), in whole milliseconds. May return
; early.
define internal void @wait_on(ptr %word, i32 %expected, i64 %timeout) {
  %compare = alloca i32
  store i32 %expected, ptr %compare
  %endless = icmp eq i64 %timeout, 0
  %up = add i64 %timeout, 999999
  %whole = udiv i64 %up, 1000000
  %bounded = call i64 @llvm.umin.i64(i64 %whole, i64 4294967294)
  %milliseconds = trunc i64 %bounded to i32
  %limit = select i1 %endless, i32 -1, i32 %milliseconds
  %woken = call i32 @WaitOnAddress(ptr %word, ptr %compare, i64 4, i32 %limit)
  ret void
}

define internal void @wake_waiters(ptr %word, i32 %count) {
entry:
  %single = icmp eq i32 %count, 1
  br i1 %single, label %one, label %all
one:
  call void @WakeByAddressSingle(ptr %word)
  ret void
all:
  call void @WakeByAddressAll(ptr %word)
  ret void
}

; A thread that runs %main(%argument), whose result is its exit code.
define internal i1 @start_thread(ptr %main, ptr %argument) {
entry:
  %handle = call ptr @CreateThread(ptr null, i64 0, ptr %main, ptr %argument, i32 0, ptr null)
  %ok = icmp ne ptr %handle, null
  br i1 %ok, label %detach, label %end
detach:
  %closed = call i32 @CloseHandle(ptr %handle)
  br label %end
end:
  ret i1 %ok
}

; Memory at a multiple of %alignment; null when there is none.
define internal ptr @allocate(i64 %alignment, i64 %bytes) {
  %memory = call ptr @_aligned_malloc(i64 %bytes, i64 %alignment)
  ret ptr %memory
}

define internal void @release(ptr %memory) {
  call void @_aligned_free(ptr %memory)
  ret void
}

define internal void @yield_cpu() {
  %ignored = call i32 @SwitchToThread()
  ret void
}

define internal void @record_thread(ptr %record) {
  ret void
}

define internal void @record_cpu(ptr %record) {
  ret void
}

; Windows moves threads that wake up to a CPU that is free.
define internal void @move_sleepers_away(ptr %workers, i32 %count) {
  ret void
}

define internal void @use_large_pages(ptr %memory, i64 %bytes) {
  ret void
}
