; What the launchers share: how a launch is described.

@launches = internal global i64 0, align 64

; Describe a launch of a kernel over slots. Nobody polls for signals unless the caller sets field 7.
define internal void @describe_launch(ptr %launch, i64 %kernel, i64 %slots, i64 %arena_bytes, ptr %habits) hot {
  store %Launch zeroinitializer, ptr %launch
  %slice_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_slice_programs
  store i64 1, ptr %slice_slot
  %entry_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_entry
  store i64 %kernel, ptr %entry_slot
  %args_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_slots
  store i64 %slots, ptr %args_slot
  %bytes_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_arena_bytes
  store i64 %arena_bytes, ptr %bytes_slot
  %launches_before = atomicrmw add ptr @launches, i64 1 monotonic
  %number = add i64 %launches_before, 1
  %number_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_number
  store i64 %number, ptr %number_slot
  %waits_slot = getelementptr %Habits, ptr %habits, i32 0, i32 $Habits_waits
  %waits = load i64, ptr %waits_slot
  %waits32 = trunc i64 %waits to i32
  %waits32_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_may_wait
  store i32 %waits32, ptr %waits32_slot
  ret void
}
