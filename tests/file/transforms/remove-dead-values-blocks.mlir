// RUN: tilewright-opt %s --remove-dead-values | filecheck %s

// Blocks stay although they do nothing, and so does what chooses between them.
// CHECK-LABEL: func.func @nothing_to_choose
// CHECK: %[[C:.*]] = arith.cmpi slt, %arg0, %{{.*}} : i32
// CHECK: cf.cond_br %[[C]], ^bb1, ^bb2
func.func @nothing_to_choose(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c = arith.cmpi slt, %n, %c0 : i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return
^bb2:
  return
}
