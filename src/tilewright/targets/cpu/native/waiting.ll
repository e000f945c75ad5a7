; Programs that wait for others, in loops that change nothing but by atomics (`codegen` calls `tilewright_wait` in each
; round of such a loop). On a GPU all programs of a grid that fits run at the same time, so that a program may wait for one
; with a higher number; here a thread runs one after the other. So a program that has been waiting for some time gets a
; thread that stands in for it: one that runs programs which are not begun yet, until it no longer waits.

; What a loop that waits keeps on the stack of its function.
%Wait = type {
  i64,      ; 0 rounds so far
  i64,      ; 1 when they were first looked at, ns
  i64       ; 2 whether the program is counted among those that wait
}

; A round of a loop that waits begins. Returns whether the grid is stopped, and with it the program.
define i1 @tilewright_wait(ptr %arena, ptr %wait) {
entry:
  call void @tilewright_leave_alone(ptr %arena)
  %before = load i64, ptr %wait
  %rounds = add i64 %before, 1
  store i64 %rounds, ptr %wait
  %is_early = icmp ult i64 %rounds, 4
  br i1 %is_early, label %go_on, label %pause

pause:
  call void @pause_a_little()
  %low = and i64 %rounds, 63
  %is_due = icmp eq i64 %low, 0
  br i1 %is_due, label %look, label %go_on

go_on:
  ret i1 false

look:
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %launch = load ptr, ptr %header
  %now = call i64 @now_ns()
  %launcher_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_own_arena
  %launcher_arena = load ptr, ptr %launcher_slot
  %is_launcher = icmp eq ptr %arena, %launcher_arena
  br i1 %is_launcher, label %poll, label %measure

poll:
  call void @poll_signals(ptr %launch, i64 %now)
  br label %measure

measure:
  %since_slot = getelementptr %Wait, ptr %wait, i32 0, i32 1
  %since = load i64, ptr %since_slot
  %is_first = icmp eq i64 %since, 0
  br i1 %is_first, label %arm, label %compare

arm:
  store i64 %now, ptr %since_slot
  br label %end

compare:
  %waited = sub i64 %now, %since
  %is_long = icmp ugt i64 %waited, 100000
  br i1 %is_long, label %yield, label %end

yield:
  call void @yield_cpu()
  call void @ask_for_stand_in(ptr %launch, ptr %wait)
  br label %end

end:
  %stopped = call i1 @is_stopped(ptr %launch)
  ret i1 %stopped
}

; A loop that waits has ended.
define void @tilewright_end_wait(ptr %arena, ptr %wait) {
entry:
  %counted_slot = getelementptr %Wait, ptr %wait, i32 0, i32 2
  %counted = load i64, ptr %counted_slot
  %was_counted = icmp ne i64 %counted, 0
  br i1 %was_counted, label %count_down, label %end
count_down:
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %launch = load ptr, ptr %header
  %waiting = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_waiting
  %waiting_before = atomicrmw sub ptr %waiting, i32 1 monotonic
  br label %end
end:
  ret void
}

; What a loop that may run for long keeps on the stack of its function.
%Look = type {
  i64,      ; 0 when it looked last, ns
  i64       ; 1 rounds from one look to the next
}

; A loop that may run for long has gone around for some time. Returns how many rounds to go until it asks again, 0 where
; the grid is stopped, and with it the program.
define i32 @tilewright_look(ptr %arena, ptr %look) noinline cold {
entry:
  call void @tilewright_leave_alone(ptr %arena)
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %launch = load ptr, ptr %header
  %now = call i64 @now_ns()
  %launcher_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_own_arena
  %launcher_arena = load ptr, ptr %launcher_slot
  %is_launcher = icmp eq ptr %arena, %launcher_arena
  br i1 %is_launcher, label %poll, label %check

poll:
  call void @poll_signals(ptr %launch, i64 %now)
  br label %check

check:
  %stopped = call i1 @is_stopped(ptr %launch)
  br i1 %stopped, label %stop, label %measure

stop:
  ret i32 0

measure:                                     ; some 1 to 8 ms from one look to the next
  %last = load i64, ptr %look
  store i64 %now, ptr %look
  %rounds_slot = getelementptr %Look, ptr %look, i32 0, i32 1
  %known = load i64, ptr %rounds_slot
  %rounds = call i64 @llvm.umax.i64(i64 %known, i64 1)
  %is_first = icmp eq i64 %last, 0
  %spent = sub i64 %now, %last
  %is_short = icmp ult i64 %spent, 1000000
  %is_long = icmp ugt i64 %spent, 8000000
  %longer = shl i64 %rounds, 2
  %capped = call i64 @llvm.umin.i64(i64 %longer, i64 16777216)
  %after_long = call i64 @shorter_rounds(i64 %known, i64 %spent)
  %adapted_down = select i1 %is_long, i64 %after_long, i64 %rounds
  %adapted = select i1 %is_short, i64 %capped, i64 %adapted_down
  %next = select i1 %is_first, i64 1024, i64 %adapted
  store i64 %next, ptr %rounds_slot
  %next32 = trunc i64 %next to i32
  ret i32 %next32
}

; As many rounds as take 4 ms.
define internal i64 @shorter_rounds(i64 %rounds, i64 %spent) {
  %some = call i64 @llvm.umax.i64(i64 %rounds, i64 1)
  %each = udiv i64 %spent, %some
  %positive = call i64 @llvm.umax.i64(i64 %each, i64 1)
  %fitting = udiv i64 4000000, %positive
  %least = call i64 @llvm.umax.i64(i64 %fitting, i64 1)
  ret i64 %least
}

; Start a thread if there are programs to begin, and fewer threads stand in than programs wait. At most 1024 do.
define internal void @ask_for_stand_in(ptr %launch, ptr %wait) {
entry:
  %waiting_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_waiting
  %counted_slot = getelementptr %Wait, ptr %wait, i32 0, i32 2
  %counted = load i64, ptr %counted_slot
  %is_counted = icmp ne i64 %counted, 0
  br i1 %is_counted, label %look, label %count

count:
  store i64 1, ptr %counted_slot
  %waiting_before = atomicrmw add ptr %waiting_slot, i32 1 monotonic
  br label %look

look:
  %some_left = call i1 @has_programs_left(ptr %launch)
  br i1 %some_left, label %compare, label %end

compare:
  %stand_ins_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_stand_ins
  %stand_ins = load atomic i32, ptr %stand_ins_slot monotonic, align 4
  %waiting = load atomic i32, ptr %waiting_slot monotonic, align 4
  %limit = call i32 @llvm.umin.i32(i32 %waiting, i32 1024)
  %too_few = icmp ult i32 %stand_ins, %limit
  br i1 %too_few, label %claim, label %end

claim:
  %more = add i32 %stand_ins, 1
  %swap = cmpxchg ptr %stand_ins_slot, i32 %stand_ins, i32 %more monotonic monotonic
  %won = extractvalue { i32, i1 } %swap, 1
  br i1 %won, label %start, label %end

start:
  %started = call i1 @start_thread(ptr @stand_in_main, ptr %launch)
  br i1 %started, label %end, label %give_up

give_up:                                     ; later, perhaps
  %stand_ins_before = atomicrmw sub ptr %stand_ins_slot, i32 1 monotonic
  br label %end

end:
  ret void
}

; Only for launches whose programs wait: they have one part, and none for one program.
define internal i1 @has_programs_left(ptr %launch) {
entry:
  %parts_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_parts
  %parts = load ptr, ptr %parts_slot
  %is_alone = icmp eq ptr %parts, null
  br i1 %is_alone, label %none, label %look

look:
  %word = load atomic i64, ptr %parts monotonic, align 8
  %shifted = lshr i64 %word, 24
  %lo = and i64 %shifted, 16777215
  %hi = and i64 %word, 16777215
  %some = icmp ult i64 %lo, %hi
  ret i1 %some

none:
  ret i1 false
}

; A thread that runs programs of a launch while others of it wait. The launch does not end before the thread has said that
; it no longer uses it.
define internal ptr @stand_in_main(ptr %launch) {
entry:
  %bytes_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_arena_bytes
  %bytes = load i64, ptr %bytes_slot
  %parts_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_parts
  %parts = load ptr, ptr %parts_slot
  %part_count_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_part_count
  %part_count = load i64, ptr %part_count_slot
  %generation_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_generation
  %generation = load i64, ptr %generation_slot
  %waiting_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_waiting
  %stand_ins_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_stand_ins
  %arena = call ptr @acquire_arena(i64 %bytes, ptr %launch)
  %failed = icmp eq ptr %arena, null
  br i1 %failed, label %no_memory, label %work

no_memory:
  call void @stop_with(ptr %launch, i32 2)
  br label %leave

work:
  %chunk = call { i64, i64 } @take(ptr %parts, i64 %part_count, i64 %generation, i64 0)
  %first = extractvalue { i64, i64 } %chunk, 0
  %count = extractvalue { i64, i64 } %chunk, 1
  %got = icmp ne i64 %count, 0
  br i1 %got, label %run, label %done

run:
  call void @run_chunk(ptr %launch, i64 %first, i64 %count, ptr %arena, i1 false)
  %waiting = load atomic i32, ptr %waiting_slot monotonic, align 4
  %stand_ins = load atomic i32, ptr %stand_ins_slot monotonic, align 4
  %is_needed = icmp sge i32 %waiting, %stand_ins
  br i1 %is_needed, label %work, label %done

done:
  call void @release_arena(ptr %arena)
  br label %leave

leave:
  %stand_ins_before = atomicrmw sub ptr %stand_ins_slot, i32 1 release
  ret ptr null
}

; The job is done: until the threads that stood in have left.
define internal void @wait_for_stand_ins(ptr %launch) {
entry:
  %stand_ins_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_stand_ins
  br label %look

look:
  %tries = phi i32 [ 0, %entry ], [ %next, %wait ]
  %stand_ins = load atomic i32, ptr %stand_ins_slot acquire, align 4
  %none = icmp eq i32 %stand_ins, 0
  br i1 %none, label %end, label %wait

wait:
  call void @pause_or_yield(i32 %tries)
  %next = add i32 %tries, 1
  br label %look

end:
  ret void
}
