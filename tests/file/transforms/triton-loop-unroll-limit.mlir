// RUN: tilewright-opt %s --triton-loop-unroll --verify-diagnostics
// RUN: tilewright-opt %s --triton-loop-unroll | FileCheck %s

// CHECK-LABEL: @far_too_often
// CHECK: scf.for %{{.*}} = %c0_i32 to %arg1 step %c1_i32
// CHECK-NEXT: tt.store
// CHECK-NEXT: }
// CHECK-NOT: tt.loop_unroll_factor
tt.func @far_too_often(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark@+1 {{not unrolled: 100000000 copies of 2 ops are more than 16384 ops}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 100000000 : i32}
  tt.return
}
