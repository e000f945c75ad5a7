; The C side, for programs without Python that link kernels compiled ahead of time (`tilewright compile`).
;
; int tilewright_run_grid(kernel, const uint64_t *slots, int64_t programs, int64_t arena_bytes, int64_t habits[2],
;                         struct { int reason, x, y, z; const char *message; } *failure)

%Failure = type { i32, i32, i32, i32, ptr }

define internal void @poll_signals(ptr %launch, i64 %now) {
  ret void
}

; 0, or the reason why the grid was stopped, with what `failure` is told of it.
define i32 @tilewright_run_grid(ptr %kernel, ptr %slots, i64 %programs, i64 %arena_bytes, ptr %habits, ptr %failure) {
entry:
  %launch = alloca %Launch, align 64
  %some = icmp sgt i64 %programs, 0
  br i1 %some, label %run, label %nothing

nothing:
  ret i32 0

run:
  %kernel_address = ptrtoint ptr %kernel to i64
  %slots_address = ptrtoint ptr %slots to i64
  call void @describe_launch(ptr %launch, i64 %kernel_address, i64 %slots_address, i64 %arena_bytes, ptr %habits)
  %threads = load i32, ptr @default_threads
  call void @run_grid(ptr %launch, i64 %programs, i32 %threads, ptr %habits)
  %failed_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failure
  %failed = load i32, ptr %failed_slot
  %ok = icmp eq i32 %failed, 0
  br i1 %ok, label %end, label %tell

tell:
  store i32 %failed, ptr %failure
  %message_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_message
  %message = load ptr, ptr %message_slot
  %message_at = getelementptr %Failure, ptr %failure, i32 0, i32 4
  store ptr %message, ptr %message_at
  %x_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failed_x
  %x = load i32, ptr %x_slot
  %x_at = getelementptr %Failure, ptr %failure, i32 0, i32 1
  store i32 %x, ptr %x_at
  %y_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failed_y
  %y = load i32, ptr %y_slot
  %y_at = getelementptr %Failure, ptr %failure, i32 0, i32 2
  store i32 %y, ptr %y_at
  %z_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failed_z
  %z = load i32, ptr %z_slot
  %z_at = getelementptr %Failure, ptr %failure, i32 0, i32 3
  store i32 %z, ptr %z_at
  br label %end

end:
  ret i32 %failed
}
