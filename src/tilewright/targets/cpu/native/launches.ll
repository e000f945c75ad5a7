; What the launchers share: how a launch is described.

@launches = internal global i64 0, align 64

; Describe a launch of a kernel over slots. Nobody polls for signals unless the caller sets field 7.
define internal void @describe_launch(ptr %launch, i64 %kernel, i64 %slots, i64 %arena_bytes, ptr %habits) {
  store %Launch zeroinitializer, ptr %launch
  %slice_slot = getelementptr %Launch, ptr %launch, i32 0, i32 9
  store i64 1, ptr %slice_slot
  %entry_slot = getelementptr %Launch, ptr %launch, i32 0, i32 10
  store i64 %kernel, ptr %entry_slot
  %args_slot = getelementptr %Launch, ptr %launch, i32 0, i32 11
  store i64 %slots, ptr %args_slot
  %bytes_slot = getelementptr %Launch, ptr %launch, i32 0, i32 14
  store i64 %arena_bytes, ptr %bytes_slot
  %launches_before = atomicrmw add ptr @launches, i64 1 monotonic
  %number = add i64 %launches_before, 1
  %number_slot = getelementptr %Launch, ptr %launch, i32 0, i32 15
  store i64 %number, ptr %number_slot
  %waits_slot = getelementptr %Habits, ptr %habits, i32 0, i32 1
  %waits = load i64, ptr %waits_slot
  %waits32 = trunc i64 %waits to i32
  %waits32_slot = getelementptr %Launch, ptr %launch, i32 0, i32 20
  store i32 %waits32, ptr %waits32_slot
  ret void
}
