; Waiting, waking, CPU affinity and pages on Linux: futexes, and the fix for workers that would wake up on the
; launcher's CPU.

declare i64 @syscall(i64, ...)
declare i32 @sched_getcpu()
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sched_setaffinity(i32, i64, ptr)
declare i32 @madvise(ptr, i64, i32)

define void @tilewright_pool_init() {
  ret void
}

; Sleep while *%word == %expected, until woken or for %timeout ns (0: without end). May return early.
define internal void @wait_on(ptr %word, i32 %expected, i64 %timeout) {
entry:
  %time = alloca %timespec
  %endless = icmp eq i64 %timeout, 0
  %seconds = udiv i64 %timeout, 1000000000
  %nanoseconds = urem i64 %timeout, 1000000000
  store i64 %seconds, ptr %time
  %ns_slot = getelementptr %timespec, ptr %time, i32 0, i32 1
  store i64 %nanoseconds, ptr %ns_slot
  %limit = select i1 %endless, ptr null, ptr %time
  ; FUTEX_WAIT | FUTEX_PRIVATE_FLAG
  %ignored = call i64 (i64, ...) @syscall(i64 $SYS_FUTEX, ptr %word, i32 128, i32 %expected, ptr %limit, ptr null, i32 0)
  ret void
}

define internal void @wake_waiters(ptr %word, i32 %count) {
  ; FUTEX_WAKE | FUTEX_PRIVATE_FLAG
  %ignored = call i64 (i64, ...) @syscall(i64 $SYS_FUTEX, ptr %word, i32 129, i32 %count, ptr null, ptr null, i32 0)
  ret void
}

define internal void @record_thread(ptr %record) {
  %id = call i64 (i64, ...) @syscall(i64 $SYS_GETTID)
  %id32 = trunc i64 %id to i32
  store atomic i32 %id32, ptr %record release, align 4
  ret void
}

define internal void @record_cpu(ptr %record) {
  %cpu = call i32 @sched_getcpu()
  %slot = getelementptr %Worker, ptr %record, i32 0, i32 1
  store atomic i32 %cpu, ptr %slot release, align 4
  ret void
}

; A worker that is woken on the CPU of its waker waits there for milliseconds, though another CPU is free. So workers
; that fell asleep on this CPU are first allowed every CPU of the launcher's mask but this one.
define internal void @move_sleepers_away(ptr %workers, i32 %count) {
entry:
  %mask = alloca [16 x i64], align 8
  %cpu = call i32 @sched_getcpu()
  %cpu_known = icmp ult i32 %cpu, 1024
  br i1 %cpu_known, label %ask, label %end

ask:
  store [16 x i64] zeroinitializer, ptr %mask
  %status = call i32 @sched_getaffinity(i32 0, i64 128, ptr %mask)
  %failed = icmp slt i32 %status, 0
  br i1 %failed, label %end, label %clear

clear:
  %word_index = lshr i32 %cpu, 6
  %bit_index = and i32 %cpu, 63
  %bit_index64 = zext i32 %bit_index to i64
  %bit = shl i64 1, %bit_index64
  %keep = xor i64 %bit, -1
  %word_slot = getelementptr [16 x i64], ptr %mask, i32 0, i32 %word_index
  %word = load i64, ptr %word_slot
  %cleared = and i64 %word, %keep
  store i64 %cleared, ptr %word_slot
  %words = load <16 x i64>, ptr %mask, align 8
  %any_bits = call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %words)
  %elsewhere = icmp ne i64 %any_bits, 0
  br i1 %elsewhere, label %head, label %end

head:
  %i = phi i32 [ 0, %clear ], [ %next, %advance ]
  %more = icmp ult i32 %i, %count
  br i1 %more, label %look, label %end

look:
  %record = getelementptr %Worker, ptr %workers, i32 %i
  %cpu_slot = getelementptr %Worker, ptr %record, i32 0, i32 1
  %asleep_slot = getelementptr %Worker, ptr %record, i32 0, i32 2
  %asleep = load atomic i32, ptr %asleep_slot seq_cst, align 4
  %its_cpu = load atomic i32, ptr %cpu_slot acquire, align 4
  %sleeps = icmp ne i32 %asleep, 0
  %here = icmp eq i32 %its_cpu, %cpu
  %move = and i1 %sleeps, %here
  br i1 %move, label %exclude, label %advance

exclude:
  %id = load atomic i32, ptr %record acquire, align 4
  %ignored = call i32 @sched_setaffinity(i32 %id, i64 128, ptr %mask)
  br label %advance

advance:
  %next = add i32 %i, 1
  br label %head

end:
  ret void
}

declare i64 @llvm.vector.reduce.or.v16i64(<16 x i64>)

; Ask for pages of 2 MiB behind memory that starts on such a page. A system that has none goes on with small ones.
define internal void @use_large_pages(ptr %memory, i64 %bytes) {
  %ignored = call i32 @madvise(ptr %memory, i64 %bytes, i32 14)   ; MADV_HUGEPAGE
  ret void
}
