; Waiting and waking with one process-wide mutex and condition, for systems without futexes (macOS).

@mutex = internal global [16 x i64] zeroinitializer, align 16
@changed = internal global [16 x i64] zeroinitializer, align 16

declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_timedwait(ptr, ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)

define void @tilewright_pool_init() {
  %m = call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  %c = call i32 @pthread_cond_init(ptr @changed, ptr null)
  ret void
}

; Sleep while *%word == %expected, until woken or for %timeout ns (0: without end). May return early.
define internal void @wait_on(ptr %word, i32 %expected, i64 %timeout) {
entry:
  %time = alloca %timespec
  %l = call i32 @pthread_mutex_lock(ptr @mutex)
  %now = load atomic i32, ptr %word seq_cst, align 4
  %same = icmp eq i32 %now, %expected
  br i1 %same, label %sleep, label %end
sleep:
  %endless = icmp eq i64 %timeout, 0
  br i1 %endless, label %forever, label %timed
forever:
  %w = call i32 @pthread_cond_wait(ptr @changed, ptr @mutex)
  br label %end
timed:
  %s = call i32 @clock_gettime(i32 0, ptr %time)
  %ns_slot = getelementptr %timespec, ptr %time, i32 0, i32 1
  %seconds = load i64, ptr %time
  %ns = load i64, ptr %ns_slot
  %ns_end = add i64 %ns, %timeout
  %carry = udiv i64 %ns_end, 1000000000
  %ns_rest = urem i64 %ns_end, 1000000000
  %seconds_end = add i64 %seconds, %carry
  store i64 %seconds_end, ptr %time
  store i64 %ns_rest, ptr %ns_slot
  %t = call i32 @pthread_cond_timedwait(ptr @changed, ptr @mutex, ptr %time)
  br label %end
end:
  %u = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}

define internal void @wake_waiters(ptr %word, i32 %count) {
  %l = call i32 @pthread_mutex_lock(ptr @mutex)
  %b = call i32 @pthread_cond_broadcast(ptr @changed)
  %u = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}

define internal void @record_thread(ptr %record) {
  ret void
}

define internal void @record_cpu(ptr %record) {
  ret void
}

define internal void @move_sleepers_away(ptr %workers, i32 %count) {
  ret void
}

define internal void @use_large_pages(ptr %memory, i64 %bytes) {
  ret void
}
