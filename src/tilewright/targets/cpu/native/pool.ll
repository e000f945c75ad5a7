; The thread pool that runs grids, one per process. A ticket admits workers to a job, whose programs lie in parts, one for
; each thread; see README.md in this folder for the protocol and why each step is safe.

@ticket = internal global i64 0, align 64   ; generation of the job << 48 | free seats
@parts = internal global [257 x %Part] zeroinitializer, align 64
@part_count = internal global i64 0         ; of the current job
@dozing_launchers = internal global i32 0, align 64
@job = internal global ptr null, align 64   ; %Launch of the current job
@busy = internal global i32 0, align 64     ; a launch owns the pool
@generation = internal global i64 0
@sleepers = internal global i32 0, align 64
@wake_word = internal global i32 0
@worker_count = internal global i32 0, align 64
@workers = internal global [256 x %Worker] zeroinitializer, align 64
@default_threads = internal global i32 1
@followed_setting = internal global ptr null
@spare_arena = internal global ptr null, align 64

; ---------------------------------------------------------------------------------------------------------- arenas

; An arena of at least %bytes, with its header naming %launch; null when there is no memory. A large one is asked to lie
; on pages of 2 MiB: packed operands are read with strides that a table of 4 KiB pages has no room for.
define internal ptr @acquire_arena(i64 %bytes, ptr %launch) hot {
entry:
  %spare = atomicrmw xchg ptr @spare_arena, ptr null acquire
  %none = icmp eq ptr %spare, null
  br i1 %none, label %allocate, label %check

check:
  %has = call i64 @arena_bytes(ptr %spare)
  %fits = icmp uge i64 %has, %bytes
  br i1 %fits, label %use, label %discard

discard:
  call void @free_arena(ptr %spare)
  br label %allocate

allocate:
  %fresh = call ptr @allocate_arena(i64 %bytes)
  %failed = icmp eq ptr %fresh, null
  br i1 %failed, label %no_memory, label %use

use:
  %arena = phi ptr [ %spare, %check ], [ %fresh, %allocate ]
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  store ptr %launch, ptr %header
  ret ptr %arena

no_memory:
  ret ptr null
}

define internal ptr @allocate_arena(i64 %bytes) {
entry:
  %whole = add i64 %bytes, $sizeof_ArenaHeader
  %is_large = icmp uge i64 %whole, 4194304
  %alignment = select i1 %is_large, i64 2097152, i64 64
  %block = call ptr @allocate(i64 %alignment, i64 %whole)
  %failed = icmp eq ptr %block, null
  br i1 %failed, label %no_memory, label %got

got:
  br i1 %is_large, label %large, label %fresh

large:
  call void @use_large_pages(ptr %block, i64 %whole)
  br label %fresh

fresh:
  %arena_new = getelementptr i8, ptr %block, i64 $sizeof_ArenaHeader
  %size = getelementptr %ArenaHeader, ptr %block, i32 0, i32 $ArenaHeader_arena_bytes
  store i64 %bytes, ptr %size
  %counted = getelementptr %ArenaHeader, ptr %block, i32 0, i32 $ArenaHeader_is_counted
  store i32 0, ptr %counted
  %number = getelementptr %ArenaHeader, ptr %block, i32 0, i32 $ArenaHeader_cached_launch
  store i64 0, ptr %number
  %held = getelementptr %ArenaHeader, ptr %block, i32 0, i32 $ArenaHeader_held_region
  store i64 0, ptr %held
  %mode = getelementptr %ArenaHeader, ptr %block, i32 0, i32 $ArenaHeader_atomics_mode
  store i32 0, ptr %mode
  ret ptr %arena_new

no_memory:
  ret ptr null
}

define internal i64 @arena_bytes(ptr %arena) alwaysinline {
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %size = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_arena_bytes
  %bytes = load i64, ptr %size
  ret i64 %bytes
}

define internal void @free_arena(ptr %arena) {
  %block = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  call void @release(ptr %block)
  ret void
}

; Keep the arena for the next launch; free the one that was kept.
define internal void @release_arena(ptr %arena) hot {
entry:
  %old = atomicrmw xchg ptr @spare_arena, ptr %arena acq_rel
  %none = icmp eq ptr %old, null
  br i1 %none, label %end, label %drop
drop:
  call void @free_arena(ptr %old)
  br label %end
end:
  ret void
}

; ------------------------------------------------------------------------------------------------- what kernels call

; A device assertion failed: keep the first message and stop the grid.
define void @tilewright_assert_failed(ptr %arena, ptr %message) noinline cold {
entry:
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %launch = load ptr, ptr %header
  %failed = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failure
  %claim = cmpxchg ptr %failed, i32 0, i32 1 acq_rel monotonic
  %first = extractvalue { i32, i1 } %claim, 1
  br i1 %first, label %record, label %end
record:
  %message_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_message
  store ptr %message, ptr %message_slot
  %id = call { i32, i32, i32 } @program_id(ptr %arena)
  %x = extractvalue { i32, i32, i32 } %id, 0
  %y = extractvalue { i32, i32, i32 } %id, 1
  %z = extractvalue { i32, i32, i32 } %id, 2
  %x_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failed_x
  store i32 %x, ptr %x_slot
  %y_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failed_y
  store i32 %y, ptr %y_slot
  %z_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failed_z
  store i32 %z, ptr %z_slot
  br label %end
end:
  store atomic i32 1, ptr %launch release, align 4
  ret void
}

; The id of the program that runs in an arena.
define internal { i32, i32, i32 } @program_id(ptr %arena) {
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  %launch = load ptr, ptr %header
  %args_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_slots
  %args = load ptr, ptr %args_slot
  %grid_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_grid_slot
  %first = load i32, ptr %grid_slot
  %first64 = zext i32 %first to i64
  %grid = getelementptr i64, ptr %args, i64 %first64
  %gx_word = load i64, ptr %grid
  %gx = call i64 @llvm.umax.i64(i64 %gx_word, i64 1)
  %gy_slot = getelementptr i64, ptr %grid, i64 1
  %gy_word = load i64, ptr %gy_slot
  %gy = call i64 @llvm.umax.i64(i64 %gy_word, i64 1)
  %index_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 $ArenaHeader_program_index
  %index = load i64, ptr %index_slot
  %x = urem i64 %index, %gx
  %row = udiv i64 %index, %gx
  %y = urem i64 %row, %gy
  %z = udiv i64 %row, %gy
  %x32 = trunc i64 %x to i32
  %y32 = trunc i64 %y to i32
  %z32 = trunc i64 %z to i32
  %r0 = insertvalue { i32, i32, i32 } poison, i32 %x32, 0
  %r1 = insertvalue { i32, i32, i32 } %r0, i32 %y32, 1
  %r2 = insertvalue { i32, i32, i32 } %r1, i32 %z32, 2
  ret { i32, i32, i32 } %r2
}

define internal i1 @is_stopped(ptr %launch) alwaysinline {
  %stop = load atomic i32, ptr %launch monotonic, align 4
  %stopped = icmp ne i32 %stop, 0
  ret i1 %stopped
}

define internal void @stop_with(ptr %launch, i32 %reason) {
  %failed = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_failure
  %claim = cmpxchg ptr %failed, i32 0, i32 %reason acq_rel monotonic
  store atomic i32 1, ptr %launch release, align 4
  ret void
}

; ----------------------------------------------------------------------------------------------------- running chunks

; Run programs [lo, hi) in slices that take about half a millisecond to four, looking at the stop flag in between: the first
; is one program, how long the others are is up to those before. Returns the nanoseconds that all took.
define internal i64 @run_range(ptr %launch, i64 %lo, i64 %hi, ptr %arena, i1 %is_launcher) hot {
entry:
  %entry_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_entry
  %kernel = load ptr, ptr %entry_slot
  %args_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_slots
  %args = load ptr, ptr %args_slot
  %slice_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_slice_programs
  call void @enter_kernel(ptr %launch, ptr %arena)
  %started = call i64 @now_ns()
  br label %head

head:
  %from = phi i64 [ %lo, %entry ], [ %to, %next ], [ %to, %poll ]
  %begin = phi i64 [ %started, %entry ], [ %finish, %next ], [ %finish, %poll ]
  %more = icmp ult i64 %from, %hi
  %stopped = call i1 @is_stopped(ptr %launch)
  %running = xor i1 %stopped, true
  %go = and i1 %more, %running
  br i1 %go, label %slice, label %end

slice:
  %programs = load atomic i64, ptr %slice_slot monotonic, align 8
  %left = sub i64 %hi, %from
  %count = call i64 @llvm.umin.i64(i64 %programs, i64 %left)
  %to = add i64 %from, %count
  call void %kernel(ptr %args, i64 %from, i64 %to, ptr %arena)
  call void @end_slice_of_atomics(ptr %arena)
  %finish = call i64 @now_ns()
  %is_last = icmp eq i64 %count, %left
  br i1 %is_last, label %end, label %adapt

adapt:
  %spent = sub i64 %finish, %begin
  %is_short = icmp ult i64 %spent, 500000
  %was_whole = icmp eq i64 %count, %programs
  %grow = and i1 %is_short, %was_whole
  %is_long = icmp ugt i64 %spent, 8000000
  %some_ns = call i64 @llvm.umax.i64(i64 %spent, i64 1)
  %times = udiv i64 500000, %some_ns
  %faster = call i64 @llvm.umax.i64(i64 %times, i64 8)
  %longer = call i64 @llvm.umul.fix.sat.i64(i64 %programs, i64 %faster, i32 0)
  %capped = call i64 @llvm.umin.i64(i64 %longer, i64 1099511627776)
  %half = lshr i64 %programs, 1
  %shorter = call i64 @llvm.umax.i64(i64 %half, i64 1)
  %adapted_down = select i1 %is_long, i64 %shorter, i64 %programs
  %adapted = select i1 %grow, i64 %capped, i64 %adapted_down
  store atomic i64 %adapted, ptr %slice_slot monotonic, align 8
  br i1 %is_launcher, label %poll, label %next

poll:
  call void @poll_signals(ptr %launch, i64 %finish)
  br label %head

next:
  br label %head

end:
  %ended = phi i64 [ %begin, %head ], [ %finish, %slice ]
  call void @leave_kernel()
  %all_ns = sub i64 %ended, %started
  ret i64 %all_ns
}

declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)

; Take a seat of the current job: its generation, and whether there was one.
define internal { i64, i1 } @take_seat() {
entry:
  %first_look = load atomic i64, ptr @ticket acquire, align 8
  br label %look

look:
  %seen = phi i64 [ %first_look, %entry ], [ %current, %try ]
  %seats = and i64 %seen, 65535
  %any = icmp ne i64 %seats, 0
  br i1 %any, label %try, label %nothing

try:
  %fewer = sub i64 %seen, 1
  %swap = cmpxchg ptr @ticket, i64 %seen, i64 %fewer acq_rel acquire
  %current = extractvalue { i64, i1 } %swap, 0
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %taken, label %look

taken:
  %generation = lshr i64 %seen, 48
  %r0 = insertvalue { i64, i1 } poison, i64 %generation, 0
  %r1 = insertvalue { i64, i1 } %r0, i1 true, 1
  ret { i64, i1 } %r1

nothing:
  ret { i64, i1 } zeroinitializer
}

; Take a chunk of the job of that generation: of part %own, else of the first of %count parts that has programs left.
; Returns { first program relative to the job, count }; count 0: nothing to take. The job cannot end before the chunk is
; reported done, so its description is stable from then on.
define internal { i64, i64 } @take(ptr %parts, i64 %part_count, i64 %generation, i64 %own) {
entry:
  %of_own = call { i64, i64 } @take_of(ptr %parts, i64 %generation, i64 %own)
  %own_count = extractvalue { i64, i64 } %of_own, 1
  %own_has = icmp ne i64 %own_count, 0
  br i1 %own_has, label %take_own, label %others

take_own:
  ret { i64, i64 } %of_own

others:
  br label %head

head:
  %part = phi i64 [ 0, %others ], [ %next, %look ]
  %more = icmp ult i64 %part, %part_count
  br i1 %more, label %look, label %nothing

look:
  %chunk = call { i64, i64 } @take_of(ptr %parts, i64 %generation, i64 %part)
  %count = extractvalue { i64, i64 } %chunk, 1
  %got = icmp ne i64 %count, 0
  %next = add i64 %part, 1
  br i1 %got, label %take_other, label %head

take_other:
  ret { i64, i64 } %chunk

nothing:
  ret { i64, i64 } zeroinitializer
}

; Take the first quarter of what is left in a part, or one program, if the part is of this generation.
define internal { i64, i64 } @take_of(ptr %parts, i64 %generation, i64 %part) {
entry:
  %word = getelementptr %Part, ptr %parts, i64 %part
  %single_slot = getelementptr %Part, ptr %parts, i64 %part, i32 1
  %first_look = load atomic i64, ptr %word acquire, align 8
  br label %look

look:
  %seen = phi i64 [ %first_look, %entry ], [ %current, %try ]
  %its_generation = lshr i64 %seen, 48
  %same = icmp eq i64 %its_generation, %generation
  %shifted = lshr i64 %seen, 24
  %lo = and i64 %shifted, 16777215
  %hi = and i64 %seen, 16777215
  %some = icmp ult i64 %lo, %hi
  %ok = and i1 %same, %some
  br i1 %ok, label %try, label %nothing

try:
  %left = sub i64 %hi, %lo
  %rounded = add i64 %left, 3
  %quarter = lshr i64 %rounded, 2
  %single = load atomic i64, ptr %single_slot monotonic, align 8
  %is_single = icmp ne i64 %single, 0
  %count = select i1 %is_single, i64 1, i64 %quarter
  %step = shl i64 %count, 24
  %new = add i64 %seen, %step
  %swap = cmpxchg ptr %word, i64 %seen, i64 %new acq_rel acquire
  %current = extractvalue { i64, i1 } %swap, 0
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %taken, label %look

taken:
  %r0 = insertvalue { i64, i64 } poison, i64 %lo, 0
  %r1 = insertvalue { i64, i64 } %r0, i64 %count, 1
  ret { i64, i64 } %r1

nothing:
  ret { i64, i64 } zeroinitializer
}

; Split the %count programs of a job evenly into parts, in order.
define internal void @fill_parts(ptr %parts, i64 %part_count, i64 %generation, i64 %count, i64 %single) {
entry:
  %generation_bits = shl i64 %generation, 48
  %size = udiv i64 %count, %part_count
  %rest = urem i64 %count, %part_count
  br label %each

each:
  %part = phi i64 [ 0, %entry ], [ %next, %each ]
  %lo = phi i64 [ 0, %entry ], [ %hi, %each ]
  %is_larger = icmp ult i64 %part, %rest
  %one_more = zext i1 %is_larger to i64
  %end = add i64 %lo, %size
  %hi = add i64 %end, %one_more
  %lo_bits = shl i64 %lo, 24
  %range = or i64 %lo_bits, %hi
  %content = or i64 %generation_bits, %range
  %word = getelementptr %Part, ptr %parts, i64 %part
  %single_slot = getelementptr %Part, ptr %parts, i64 %part, i32 1
  store atomic i64 %single, ptr %single_slot monotonic, align 8
  store atomic i64 %content, ptr %word release, align 8
  %next = add i64 %part, 1
  %more = icmp ult i64 %next, %part_count
  br i1 %more, label %each, label %done

done:
  ret void
}

; Run the chunk and report it. %launch must not be touched afterwards except by the launcher.
define internal void @run_chunk(ptr %launch, i64 %first, i64 %count, ptr %arena, i1 %is_launcher) {
entry:
  %base_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_first_program
  %base = load i64, ptr %base_slot
  %total_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_job_programs
  %total = load i64, ptr %total_slot
  %lo = add i64 %base, %first
  %hi = add i64 %lo, %count
  %spent = call i64 @run_range(ptr %launch, i64 %lo, i64 %hi, ptr %arena, i1 %is_launcher)
  %done = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_finished
  %before = atomicrmw add ptr %done, i64 %count seq_cst
  %after = add i64 %before, %count
  %is_last = icmp eq i64 %after, %total
  br i1 %is_last, label %finished, label %end
finished:                                    ; the launch may be gone: where it was, nobody is woken, or too early
  %dozing = load atomic i32, ptr @dozing_launchers seq_cst, align 4
  %must_wake = icmp ne i32 %dozing, 0
  br i1 %must_wake, label %wake, label %end
wake:
  call void @wake_waiters(ptr %done, i32 1)
  br label %end
end:
  ret void
}

; ------------------------------------------------------------------------------------------------------------ workers

define internal ptr @worker_main(ptr %record) {
entry:
  %slot = alloca ptr
  store ptr null, ptr %slot
  call void @record_thread(ptr %record)
  %number_slot = getelementptr %Worker, ptr %record, i32 0, i32 3
  %number32 = load i32, ptr %number_slot
  %number = zext i32 %number32 to i64
  br label %idle

idle:
  %idle_since = call i64 @now_ns()
  br label %spin

spin:
  %seat = call { i64, i1 } @take_seat()
  %seated = extractvalue { i64, i1 } %seat, 1
  br i1 %seated, label %join, label %relax

relax:
  call void @pause_a_little()
  %now = call i64 @now_ns()
  %idle_ns = sub i64 %now, %idle_since
  %tired = icmp ugt i64 %idle_ns, 50000
  br i1 %tired, label %sleep, label %spin

sleep:
  %word = load atomic i32, ptr @wake_word seq_cst, align 4
  call void @record_cpu(ptr %record)
  %asleep_slot = getelementptr %Worker, ptr %record, i32 0, i32 2
  store atomic i32 1, ptr %asleep_slot seq_cst, align 4
  atomicrmw add ptr @sleepers, i32 1 seq_cst
  %again = load atomic i64, ptr @ticket seq_cst, align 8
  %seats = and i64 %again, 65535
  %missed = icmp ne i64 %seats, 0
  br i1 %missed, label %awake, label %wait

wait:
  call void @wait_on(ptr @wake_word, i32 %word, i64 0)
  br label %awake

awake:
  atomicrmw sub ptr @sleepers, i32 1 seq_cst
  store atomic i32 0, ptr %asleep_slot seq_cst, align 4
  br label %idle

join:
  %generation = extractvalue { i64, i1 } %seat, 0
  %part_count = load atomic i64, ptr @part_count monotonic, align 8
  %own = urem i64 %number, %part_count
  br label %work

work:
  %chunk = call { i64, i64 } @take(ptr @parts, i64 %part_count, i64 %generation, i64 %own)
  %count = extractvalue { i64, i64 } %chunk, 1
  %more = icmp ne i64 %count, 0
  br i1 %more, label %run, label %idle

run:                                         ; generations wrap: look again whose chunk this is
  %first = extractvalue { i64, i64 } %chunk, 0
  %launch = load ptr, ptr @job
  %arena = call ptr @worker_arena(ptr %slot, ptr %launch)
  call void @run_chunk(ptr %launch, i64 %first, i64 %count, ptr %arena, i1 false)
  br label %work
}

; This worker's arena, grown to what the launch needs. Without memory the launch is stopped and null returned.
define internal ptr @worker_arena(ptr %slot, ptr %launch) {
entry:
  %need_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_arena_bytes
  %need = load i64, ptr %need_slot
  %old = load ptr, ptr %slot
  %none = icmp eq ptr %old, null
  br i1 %none, label %grow, label %check
check:
  %has = call i64 @arena_bytes(ptr %old)
  %fits = icmp uge i64 %has, %need
  br i1 %fits, label %use, label %replace
replace:
  call void @free_arena(ptr %old)
  br label %grow
grow:
  %new = call ptr @acquire_arena(i64 %need, ptr %launch)
  store ptr %new, ptr %slot
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %no_memory, label %use
no_memory:
  call void @stop_with(ptr %launch, i32 2)
  ret ptr null
use:
  %arena = phi ptr [ %old, %check ], [ %new, %grow ]
  %header = getelementptr i8, ptr %arena, i64 -$sizeof_ArenaHeader
  store ptr %launch, ptr %header
  ret ptr %arena
}

; Start workers until there are %wanted.
define internal void @start_workers(i32 %wanted) {
entry:
  %limit = call i32 @llvm.umin.i32(i32 %wanted, i32 256)
  br label %head
head:
  %have = load i32, ptr @worker_count
  %enough = icmp uge i32 %have, %limit
  br i1 %enough, label %end, label %start
start:
  %record = getelementptr [256 x %Worker], ptr @workers, i64 0, i32 %have
  store %Worker zeroinitializer, ptr %record
  %now = add i32 %have, 1
  %number_slot = getelementptr %Worker, ptr %record, i32 0, i32 3
  store i32 %now, ptr %number_slot
  %started = call i1 @start_thread(ptr @worker_main, ptr %record)
  br i1 %started, label %count, label %end
count:
  store i32 %now, ptr @worker_count
  br label %head
end:
  ret void
}

declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.umax.i32(i32, i32)

define internal void @wake_workers(i32 %count) {
entry:
  %asleep = load atomic i32, ptr @sleepers seq_cst, align 4
  %any = icmp ne i32 %asleep, 0
  br i1 %any, label %wake, label %end
wake:
  %known = load i32, ptr @worker_count
  call void @move_sleepers_away(ptr @workers, i32 %known)
  atomicrmw add ptr @wake_word, i32 1 seq_cst
  call void @wake_waiters(ptr @wake_word, i32 %count)
  br label %end
end:
  ret void
}

; ----------------------------------------------------------------------------------------------------------- launching

; Run all programs of %launch on at most %threads threads, beside those that stand in for programs that wait; %estimate,
; the first of the kernel's habits, is updated.
define internal void @run_grid(ptr %launch, i64 %total, i32 %threads, ptr %estimate) hot {
entry:
  %bytes_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_arena_bytes
  %bytes = load i64, ptr %bytes_slot
  %arena = call ptr @acquire_arena(i64 %bytes, ptr %launch)
  %failed = icmp eq ptr %arena, null
  br i1 %failed, label %no_memory, label %begin

no_memory:
  call void @stop_with(ptr %launch, i32 2)
  ret void

begin:
  %arena_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_own_arena
  store ptr %arena, ptr %arena_slot
  %threads_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_threads
  store i32 1, ptr %threads_slot
  %waits_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_may_wait
  %waits32 = load i32, ptr %waits_slot
  %waits = icmp ne i32 %waits32, 0
  %one_program = icmp ule i64 %total, 1
  br i1 %one_program, label %serial_all, label %several

several:
  br i1 %waits, label %own, label %count_threads

count_threads:
  %one_thread = icmp sle i32 %threads, 1
  br i1 %one_thread, label %serial_all, label %judge

judge:
  %known = load atomic i64, ptr %estimate monotonic, align 8
  %unknown = icmp eq i64 %known, 0
  %guess = call i64 @llvm.umul.fix.sat.i64(i64 %known, i64 %total, i32 0)
  %much = icmp ugt i64 %guess, 8000
  %parallel_now = or i1 %unknown, %much
  br i1 %parallel_now, label %own, label %probe

probe:                                       ; small by the last measurement: one program decides whether it still is
  %took = call i64 @run_range(ptr %launch, i64 0, i64 1, ptr %arena, i1 true)
  %rest = sub i64 %total, 1
  %rest_ns = call i64 @llvm.umul.fix.sat.i64(i64 %took, i64 %rest, i32 0)
  %grown = icmp ugt i64 %rest_ns, 16000
  br i1 %grown, label %own, label %serial_rest

serial_rest:
  %rest_took = call i64 @run_range(ptr %launch, i64 1, i64 %total, ptr %arena, i1 true)
  %together = add i64 %took, %rest_took
  br label %note

own:
  %from = phi i64 [ 0, %several ], [ 0, %judge ], [ 1, %probe ]
  %lock = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %locked = extractvalue { i32, i1 } %lock, 1
  br i1 %locked, label %parallel, label %without_pool

without_pool:                                ; another launch owns it
  br i1 %waits, label %waiting_from, label %serial_from

waiting_from:
  call void @run_jobs(ptr %launch, i64 %from, i64 %total, i32 0, i1 false, ptr %arena, ptr %estimate)
  br label %end

serial_from:
  %ignored = call i64 @run_range(ptr %launch, i64 %from, i64 %total, ptr %arena, i1 true)
  br label %end

serial_all:
  %all_took = call i64 @run_range(ptr %launch, i64 0, i64 %total, ptr %arena, i1 true)
  br label %note

note:
  %ns = phi i64 [ %together, %serial_rest ], [ %all_took, %serial_all ]
  %stopped = call i1 @is_stopped(ptr %launch)
  br i1 %stopped, label %end, label %note_all

note_all:
  call void @note_time(ptr %estimate, i64 %ns, i64 %total)
  br label %end

parallel:
  %at_least_one = call i32 @llvm.umax.i32(i32 %threads, i32 1)
  store i32 %at_least_one, ptr %threads_slot
  %helpers_wanted = sub i32 %at_least_one, 1
  %helpers = call i32 @llvm.umin.i32(i32 %helpers_wanted, i32 256)
  call void @start_workers(i32 %helpers)
  call void @run_jobs(ptr %launch, i64 %from, i64 %total, i32 %helpers, i1 true, ptr %arena, ptr %estimate)
  store atomic i32 0, ptr @busy release, align 4
  br label %end

end:
  call void @release_arena(ptr %arena)
  ret void
}

declare i64 @llvm.umul.fix.sat.i64(i64, i64, i32)

define internal void @note_time(ptr %estimate, i64 %ns, i64 %programs) hot {
  %each = udiv i64 %ns, %programs
  %positive = call i64 @llvm.umax.i64(i64 %each, i64 1)
  store atomic i64 %positive, ptr %estimate monotonic, align 8
  ret void
}

; Run [from, total) in jobs of at most 2^23 programs: on the pool, which is ours, with up to %helpers workers, else by
; this thread and those that stand in.
define internal void @run_jobs(ptr %launch, i64 %from, i64 %total, i32 %helpers, i1 %has_pool, ptr %arena, ptr %estimate) {
entry:
  %own_part = alloca %Part, align 64
  %parts = select i1 %has_pool, ptr @parts, ptr %own_part
  %parts_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_parts
  store ptr %parts, ptr %parts_slot
  br label %job

job:
  %base = phi i64 [ %from, %entry ], [ %next_base, %job_done ]
  %left = sub i64 %total, %base
  %count = call i64 @llvm.umin.i64(i64 %left, i64 8388608)
  %base_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_first_program
  store i64 %base, ptr %base_slot
  %total_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_job_programs
  store i64 %count, ptr %total_slot
  call void @run_job(ptr %launch, i64 %count, i32 %helpers, i1 %has_pool, ptr %arena, ptr %estimate)
  %next_base = add i64 %base, %count
  %stopped = call i1 @is_stopped(ptr %launch)
  %over = icmp uge i64 %next_base, %total
  %finished = or i1 %stopped, %over
  br i1 %finished, label %end, label %job_done

job_done:
  br label %job

end:
  ret void
}

; Lay out the parts of a job of %count programs for %threads threads; its generation. Programs that wait for others are
; handed out one by one, in order.
define internal i64 @prepare_job(ptr %launch, i64 %count, i64 %threads, i1 %has_pool) {
entry:
  %done = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_finished
  store atomic i64 0, ptr %done seq_cst, align 8
  %waits_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_may_wait
  %waits = load i32, ptr %waits_slot
  %single = zext i32 %waits to i64
  %is_single = icmp ne i64 %single, 0
  %split = call i64 @llvm.umin.i64(i64 %threads, i64 %count)
  %part_count = select i1 %is_single, i64 1, i64 %split
  %part_count_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_part_count
  store i64 %part_count, ptr %part_count_slot
  br i1 %has_pool, label %of_pool, label %fill

of_pool:
  %old_generation = load i64, ptr @generation
  %next_generation = add i64 %old_generation, 1
  %wrapped = and i64 %next_generation, 65535
  store i64 %wrapped, ptr @generation
  store ptr %launch, ptr @job
  store atomic i64 %part_count, ptr @part_count monotonic, align 8
  br label %fill

fill:
  %generation = phi i64 [ 0, %entry ], [ %wrapped, %of_pool ]
  %generation_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_generation
  store i64 %generation, ptr %generation_slot
  %parts_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_parts
  %parts = load ptr, ptr %parts_slot
  call void @fill_parts(ptr %parts, i64 %part_count, i64 %generation, i64 %count, i64 %single)
  ret i64 %generation
}

define internal void @run_job(ptr %launch, i64 %count, i32 %helpers, i1 %has_pool, ptr %arena, ptr %estimate) {
entry:
  %seats = zext i32 %helpers to i64
  %threads = add i64 %seats, 1
  %generation = call i64 @prepare_job(ptr %launch, i64 %count, i64 %threads, i1 %has_pool)
  %parts_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_parts
  %parts = load ptr, ptr %parts_slot
  %part_count_slot = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_part_count
  %part_count = load i64, ptr %part_count_slot
  br i1 %has_pool, label %publish, label %first_take

publish:
  %generation_bits = shl i64 %generation, 48
  %ticket = or i64 %generation_bits, %seats
  store atomic i64 %ticket, ptr @ticket seq_cst, align 8
  %known = load atomic i64, ptr %estimate monotonic, align 8
  %unknown = icmp eq i64 %known, 0
  %guess = call i64 @llvm.umul.fix.sat.i64(i64 %known, i64 %count, i32 0)
  %worth = icmp ugt i64 %guess, 30000
  %wake_early = or i1 %unknown, %worth
  br i1 %wake_early, label %wake_now, label %first_take

wake_now:
  call void @wake_for(i64 %count, i32 %helpers)
  br label %first_take

first_take:
  %all_know = phi i1 [ true, %entry ], [ false, %publish ], [ true, %wake_now ]
  %t0 = call i64 @now_ns()
  %chunk0 = call { i64, i64 } @take(ptr %parts, i64 %part_count, i64 %generation, i64 0)
  %first0 = extractvalue { i64, i64 } %chunk0, 0
  %count0 = extractvalue { i64, i64 } %chunk0, 1
  %got0 = icmp ne i64 %count0, 0
  br i1 %got0, label %run_first, label %nothing_left

run_first:
  call void @run_chunk(ptr %launch, i64 %first0, i64 %count0, ptr %arena, i1 true)
  %t1 = call i64 @now_ns()
  %took = sub i64 %t1, %t0
  call void @note_time(ptr %estimate, i64 %took, i64 %count0)
  br i1 %all_know, label %work, label %wake_check

wake_check:                                  ; it was thought too small to wake anybody: still so?
  %left = sub i64 %count, %count0
  %now_known = load atomic i64, ptr %estimate monotonic, align 8
  %left_ns = call i64 @llvm.umul.fix.sat.i64(i64 %now_known, i64 %left, i32 0)
  %worth_now = icmp ugt i64 %left_ns, 30000
  br i1 %worth_now, label %wake_late, label %work

wake_late:
  call void @wake_for(i64 %left, i32 %helpers)
  br label %work

work:
  %chunk = call { i64, i64 } @take(ptr %parts, i64 %part_count, i64 %generation, i64 0)
  %first = extractvalue { i64, i64 } %chunk, 0
  %taken = extractvalue { i64, i64 } %chunk, 1
  %more = icmp ne i64 %taken, 0
  br i1 %more, label %run, label %nothing_left

run:
  call void @run_chunk(ptr %launch, i64 %first, i64 %taken, ptr %arena, i1 true)
  br label %work

nothing_left:
  br i1 %has_pool, label %withdraw, label %wait_for_others

withdraw:
  store atomic i64 0, ptr @ticket seq_cst, align 8
  br label %wait_for_others

wait_for_others:
  call void @wait_until_done(ptr %launch, i64 %count)
  call void @wait_for_stand_ins(ptr %launch)
  ret void
}

; Chunks of other threads are in flight: spin, then sleep until they are done.
define internal void @wait_until_done(ptr %launch, i64 %count) {
entry:
  %done = getelementptr %Launch, ptr %launch, i32 0, i32 $Launch_finished
  %wait_since = call i64 @now_ns()
  br label %wait

wait:
  %finished = load atomic i64, ptr %done acquire, align 8
  %complete = icmp eq i64 %finished, %count
  br i1 %complete, label %end, label %still

still:
  call void @pause_a_little()
  %now = call i64 @now_ns()
  call void @poll_signals(ptr %launch, i64 %now)
  %waited = sub i64 %now, %wait_since
  %tired = icmp ugt i64 %waited, 50000
  br i1 %tired, label %doze, label %wait

doze:
  %others_before = atomicrmw add ptr @dozing_launchers, i32 1 seq_cst
  %seen = load atomic i64, ptr %done seq_cst, align 8
  %low = trunc i64 %seen to i32
  %complete_now = icmp eq i64 %seen, %count
  br i1 %complete_now, label %rise, label %doze_wait
doze_wait:
  call void @wait_on(ptr %done, i32 %low, i64 20000000)
  br label %rise
rise:
  %others_now = atomicrmw sub ptr @dozing_launchers, i32 1 seq_cst
  br label %wait

end:
  ret void
}

define internal void @wake_for(i64 %programs, i32 %helpers) {
  %useful = call i64 @llvm.umin.i64(i64 %programs, i64 256)
  %useful32 = trunc i64 %useful to i32
  %count = call i32 @llvm.umin.i32(i32 %useful32, i32 %helpers)
  call void @wake_workers(i32 %count)
  ret void
}

; In the child of a fork no worker exists and no launch runs.
define void @tilewright_pool_after_fork() {
  store i64 0, ptr @ticket
  store i32 0, ptr @dozing_launchers
  store i32 0, ptr @busy
  store i32 0, ptr @sleepers
  store i32 0, ptr @worker_count
  call void @forget_regions()
  ret void
}

; How many threads run a grid: as many as the launch says, else the function that is followed, if there is one.
define internal i32 @threads_for(i32 %given) alwaysinline {
entry:
  %says_so = icmp sgt i32 %given, 0
  br i1 %says_so, label %as_given, label %look

as_given:
  ret i32 %given

look:
  %followed = load ptr, ptr @followed_setting
  %own = icmp eq ptr %followed, null
  br i1 %own, label %default, label %ask

default:
  %threads = load i32, ptr @default_threads
  ret i32 %threads

ask:
  %said = call i32 %followed()
  ret i32 %said
}

define void @tilewright_follow_setting(ptr %setting) {
  store ptr %setting, ptr @followed_setting
  ret void
}

define void @tilewright_set_num_threads(i32 %threads) {
  store i32 %threads, ptr @default_threads
  ret void
}
