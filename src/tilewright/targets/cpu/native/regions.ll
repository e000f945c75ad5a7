; Locks of regions of memory (4 KiB each), under which kernels change floats: a locked instruction for many elements, in
; place of one for each. A thread holds at most one, which the header of its arena names; it waits for nothing while it
; holds it, so that whoever spins here goes on after a few instructions of another thread.
;
; A thread needs neither locks nor locked instructions while no other has atomics. The gate says who has: threads that
; exclude each other pass it together, one that excludes nobody alone. Threads pass it with their first atomic and leave it
; where a slice of programs ends. Who is alone leaves it also where a nest of atomics ends if other threads have atomics,
; else after some thousand nests; and wherever a program may wait for others (in each round of a `while`, for an atomic
; whose result is used). So nobody waits for it longer than milliseconds.
;
; A few threads each pass the gate alone for the atomics of lanes: taking turns, they are many times as fast as with locked
; instructions on cache lines that go to and fro. Of more, each would wait for too many others.

@updaters = internal global i64 0, align 64 ; how many threads run a slice of programs with atomics
@gate = internal global i64 0, align 64     ; how many threads exclude each other; -1: one is alone
@region_locks = internal global [1024 x [16 x i32]] zeroinitializer, align 64

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal ptr @lock_of_region(i64 %region) alwaysinline {
  %high = lshr i64 %region, 10
  %mixed = add i64 %region, %high
  %index = and i64 %mixed, 1023
  %lock = getelementptr [1024 x [16 x i32]], ptr @region_locks, i64 0, i64 %index
  ret ptr %lock
}

; Pass the gate, alone if nobody is among others, %launch has at most %most threads, and not too many have atomics: 1
; among others, 2 alone.
define internal i32 @pass_gate(ptr %header, i32 %most) {
entry:
  %counted_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_is_counted
  %counted = load i32, ptr %counted_slot
  %is_first = icmp eq i32 %counted, 0
  br i1 %is_first, label %count, label %judge

count:
  store i32 1, ptr %counted_slot
  %updaters_before = atomicrmw add ptr @updaters, i64 1 monotonic
  br label %judge

judge:
  %launch = load ptr, ptr %header
  %threads_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_threads
  %threads = load i32, ptr %threads_slot
  %few_threads = icmp ule i32 %threads, %most
  %updaters = load atomic i64, ptr @updaters monotonic, align 8
  %few_updaters = icmp ule i64 %updaters, 8
  %may_be_alone = and i1 %few_threads, %few_updaters
  br i1 %may_be_alone, label %try_alone, label %look

try_alone:
  %waits = phi i32 [ 0, %judge ], [ %more_waits, %waited ]
  %closing = cmpxchg ptr @gate, i64 0, i64 -1 acquire monotonic
  %closed = extractvalue { i64, i1 } %closing, 1
  br i1 %closed, label %alone_now, label %taken

taken:
  %passed = extractvalue { i64, i1 } %closing, 0
  %is_alone = icmp slt i64 %passed, 0
  br i1 %is_alone, label %wait_alone, label %look

wait_alone:
  %round = phi i32 [ %waits, %taken ], [ %more_waits, %waited ]
  %is_long = icmp ugt i32 %round, 10
  %exponent = select i1 %is_long, i32 10, i32 %round
  %pauses = shl i32 1, %exponent
  br label %each_pause

each_pause:
  %pause = phi i32 [ 1, %wait_alone ], [ %next_pause, %each_pause ]
  call void @pause_or_yield(i32 %pause)
  %next_pause = add i32 %pause, 1
  %is_last = icmp eq i32 %pause, %pauses
  br i1 %is_last, label %waited, label %each_pause

waited:
  %more_waits = add i32 %round, 1
  %now = load atomic i64, ptr @gate monotonic, align 8
  %still = icmp slt i64 %now, 0
  br i1 %still, label %wait_alone, label %try_alone

alone_now:
  ret i32 2

look:
  %tries = phi i32 [ 0, %judge ], [ 0, %taken ], [ %next, %again ]
  %seen = load atomic i64, ptr @gate monotonic, align 8
  %open = icmp sge i64 %seen, 0
  br i1 %open, label %join, label %wait

join:
  %more = add i64 %seen, 1
  %joining = cmpxchg ptr @gate, i64 %seen, i64 %more acquire monotonic
  %joined = extractvalue { i64, i1 } %joining, 1
  br i1 %joined, label %together, label %again

together:
  ret i32 1

wait:
  call void @pause_or_yield(i32 %tries)
  br label %again

again:
  %next = add i32 %tries, 1
  br label %look
}

; The end of a slice of programs.
define internal void @end_slice_of_atomics(ptr %arena) hot {
entry:
  call void @leave_gate(ptr %arena)
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %counted_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_is_counted
  %counted = load i32, ptr %counted_slot
  %has_atomics = icmp ne i32 %counted, 0
  br i1 %has_atomics, label %count_down, label %end
count_down:
  store i32 0, ptr %counted_slot
  %updaters_before = atomicrmw sub ptr @updaters, i64 1 monotonic
  br label %end
end:
  ret void
}

; Leave the gate, if this thread has passed it.
define internal void @leave_gate(ptr %arena) hot {
entry:
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %mode_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_atomics_mode
  %mode = load i32, ptr %mode_slot
  %outside = icmp eq i32 %mode, 0
  br i1 %outside, label %end, label %leave
leave:
  store i32 0, ptr %mode_slot
  %was_alone = icmp eq i32 %mode, 2
  br i1 %was_alone, label %open, label %count_down
open:
  store atomic i64 0, ptr @gate release, align 8
  ret void
count_down:
  atomicrmw sub ptr @gate, i64 1 release
  br label %end
end:
  ret void
}

; In front of atomics of lanes: how the gate is passed, as `pass_gate` tells. Few is up to eight threads.
define i32 @tilewright_enter_atomics(ptr %arena) {
entry:
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %mode_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_atomics_mode
  %known_mode = load i32, ptr %mode_slot
  %outside = icmp eq i32 %known_mode, 0
  br i1 %outside, label %pass, label %inside
pass:
  %new_mode = call i32 @pass_gate(ptr %header, i32 8)
  store i32 %new_mode, ptr %mode_slot
  ret i32 %new_mode
inside:
  ret i32 %known_mode
}

; In front of an atomic that may be waited with: pass the gate among others.
define void @tilewright_share_atomics(ptr %arena) {
entry:
  call void @tilewright_leave_alone(ptr %arena)
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %mode_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_atomics_mode
  %mode = load i32, ptr %mode_slot
  %outside = icmp eq i32 %mode, 0
  br i1 %outside, label %pass, label %end
pass:
  %new_mode = call i32 @pass_gate(ptr %header, i32 0)
  store i32 %new_mode, ptr %mode_slot
  br label %end
end:
  ret void
}

; Where a program may be waiting for others: be alone no longer.
define void @tilewright_leave_alone(ptr %arena) {
entry:
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %mode_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_atomics_mode
  %mode = load i32, ptr %mode_slot
  %is_alone = icmp eq i32 %mode, 2
  br i1 %is_alone, label %leave, label %end
leave:
  call void @tilewright_release_region(ptr %arena)
  call void @leave_gate(ptr %arena)
  br label %end
end:
  ret void
}

; One round of waiting for another thread, which may have lost its CPU.
define internal void @pause_or_yield(i32 %tries) {
entry:
  call void @pause_a_little()
  %low = and i32 %tries, 255
  %yields = icmp eq i32 %low, 255
  br i1 %yields, label %yield, label %end
yield:
  call void @yield_cpu()
  br label %end
end:
  ret void
}

; Hold %region (an address / 4096) in place of the region that this thread holds, if any.
define void @tilewright_hold_region(ptr %arena, i64 %region) {
entry:
  call void @tilewright_release_region(ptr %arena)
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %held_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_held_region
  store i64 %region, ptr %held_slot
  %mode_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_atomics_mode
  %known_mode = load i32, ptr %mode_slot
  %outside = icmp eq i32 %known_mode, 0
  br i1 %outside, label %pass, label %inside

pass:
  %new_mode = call i32 @pass_gate(ptr %header, i32 1)
  store i32 %new_mode, ptr %mode_slot
  br label %inside

inside:
  %mode = load i32, ptr %mode_slot
  %needs_lock = icmp eq i32 %mode, 1
  br i1 %needs_lock, label %lock_it, label %end

lock_it:
  %lock = call ptr @lock_of_region(i64 %region)
  fence release
  br label %try

try:
  %before = atomicrmw xchg ptr %lock, i32 1 acq_rel
  %free = icmp eq i32 %before, 0
  br i1 %free, label %end, label %spin

spin:
  %tries = phi i32 [ 0, %try ], [ %next, %spin ]
  call void @pause_or_yield(i32 %tries)
  %next = add i32 %tries, 1
  %seen = load atomic i32, ptr %lock monotonic, align 4
  %is_free = icmp eq i32 %seen, 0
  br i1 %is_free, label %try, label %spin

end:
  ret void
}

; Hold no region any more: the end of a nest of atomics.
define void @tilewright_release_region(ptr %arena) {
entry:
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %held_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_held_region
  %held = load i64, ptr %held_slot
  store i64 0, ptr %held_slot
  %mode_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_atomics_mode
  %mode = load i32, ptr %mode_slot
  %is_alone = icmp eq i32 %mode, 2
  br i1 %is_alone, label %count, label %check

check:
  %none = icmp eq i64 %held, 0
  br i1 %none, label %end, label %unlock

unlock:
  %lock = call ptr @lock_of_region(i64 %held)
  store atomic i32 0, ptr %lock release, align 4
  br label %end

count:
  %launch = load ptr, ptr %header
  %threads_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_threads
  %threads = load i32, ptr %threads_slot
  %one_thread = icmp eq i32 %threads, 1
  %updaters = load atomic i64, ptr @updaters monotonic, align 8
  %one_updater = icmp eq i64 %updaters, 1
  %stays = and i1 %one_thread, %one_updater
  br i1 %stays, label %count_nest, label %leave

count_nest:
  %count_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_atomics_alone
  %nests = load i32, ptr %count_slot
  %more = add i32 %nests, 1
  store i32 %more, ptr %count_slot
  %low = and i32 %more, 4095
  %enough = icmp eq i32 %low, 0
  br i1 %enough, label %leave, label %end

leave:
  call void @leave_gate(ptr %arena)
  br label %end

end:
  ret void
}

; In the child of a fork nobody holds anything.
define internal void @forget_regions() {
  store i64 0, ptr @gate
  store i64 0, ptr @updaters
  call void @llvm.memset.p0.i64(ptr align 64 @region_locks, i8 0, i64 65536, i1 false)
  ret void
}
