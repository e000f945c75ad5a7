; Locks of regions of memory (4 KiB each), under which kernels change floats: a locked instruction for many elements, in
; place of one for each. A thread holds at most one, which the header of its arena names; it waits for nothing while it
; holds it, so that whoever spins here goes on after a few instructions of another thread.

@region_locks = internal global [1024 x [16 x i32]] zeroinitializer, align 64

declare i32 @sched_yield()
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal ptr @lock_of_region(i64 %region) alwaysinline {
  %high = lshr i64 %region, 10
  %mixed = add i64 %region, %high
  %index = and i64 %mixed, 1023
  %lock = getelementptr [1024 x [16 x i32]], ptr @region_locks, i64 0, i64 %index
  ret ptr %lock
}

; Hold %region (an address / 4096) in place of the region that this thread holds, if any.
define void @tilewright_hold_region(ptr %arena, i64 %region) {
entry:
  call void @tilewright_release_region(ptr %arena)
  %header = getelementptr i8, ptr %arena, i64 -64
  %held_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 8
  store i64 %region, ptr %held_slot
  %lock = call ptr @lock_of_region(i64 %region)
  fence release
  br label %try

try:
  %before = atomicrmw xchg ptr %lock, i32 1 acq_rel
  %free = icmp eq i32 %before, 0
  br i1 %free, label %end, label %spin

spin:
  %tries = phi i32 [ 0, %try ], [ %next, %spin_on ]
  call void @pause_a_little()
  %seen = load atomic i32, ptr %lock monotonic, align 4
  %is_free = icmp eq i32 %seen, 0
  br i1 %is_free, label %try, label %again

again:                                       ; its holder may have lost its CPU
  %next = add i32 %tries, 1
  %often = and i32 %next, 255
  %yields = icmp eq i32 %often, 0
  br i1 %yields, label %yield, label %spin_on
yield:
  %ignored = call i32 @sched_yield()
  br label %spin_on
spin_on:
  br label %spin

end:
  ret void
}

; Hold no region any more.
define void @tilewright_release_region(ptr %arena) {
entry:
  %header = getelementptr i8, ptr %arena, i64 -64
  %held_slot = getelementptr %ArenaHeader, ptr %header, i32 0, i32 8
  %held = load i64, ptr %held_slot
  %none = icmp eq i64 %held, 0
  br i1 %none, label %end, label %release
release:
  store i64 0, ptr %held_slot
  %lock = call ptr @lock_of_region(i64 %held)
  store atomic i32 0, ptr %lock release, align 4
  br label %end
end:
  ret void
}

; In the child of a fork nobody holds anything.
define internal void @forget_regions() {
  call void @llvm.memset.p0.i64(ptr align 64 @region_locks, i8 0, i64 65536, i1 false)
  ret void
}
