; What is the same on all systems: the clock as kernels read it, and the pause of loops that spin.

; Monotonic time in nanoseconds.
define i64 @tilewright_nanoseconds() {
  %now = call i64 @now_ns()
  ret i64 %now
}

define internal void @pause_a_little() {
  $PAUSE
  $PAUSE
  $PAUSE
  $PAUSE
  ret void
}
