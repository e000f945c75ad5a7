; Where the signals of wild accesses are the program's own business, or there are none: nothing is noted of who runs what.

define internal void @enter_kernel(ptr %launch, ptr %arena) alwaysinline {
  ret void
}

define internal void @leave_kernel() alwaysinline {
  ret void
}

; The arena of the kernel that this thread runs, and it runs it no longer, until `enter_kernel`.
define internal ptr @interrupt_kernel() {
  ret ptr null
}

define void @tilewright_watch_crashes() {
  ret void
}
