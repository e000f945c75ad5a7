// A dead value that one loop carries starts the dead value that a loop inside carries: both go.
// RUN: tilewright-opt %s --remove-dead-values | filecheck %s

// CHECK: scf.for
// CHECK-SAME: iter_args(%{{[a-z0-9]+}} = %arg1) -> (f32)
// CHECK-NOT: i32, i32
// CHECK: scf.while
// CHECK-NOT: arith.muli
// CHECK: scf.yield
func.func @nested(%n: index, %x: f32, %y: i32, %flag: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (f32, i32) {
    %w:2 = scf.while (%p = %a, %q = %b) : (f32, i32) -> (f32, i32) {
      scf.condition(%flag) %p, %q : f32, i32
    } do {
    ^bb0(%p: f32, %q: i32):
      %p1 = arith.addf %p, %p : f32
      %q1 = arith.muli %q, %q : i32
      scf.yield %p1, %q1 : f32, i32
    }
    scf.yield %w#0, %w#1 : f32, i32
  }
  return %r#0 : f32
}
