// RUN: tilewright-opt %s --triton-to-unstructured | filecheck %s

// Scalar accesses keep their mask and the value of dead lanes; atomics count from the base.

// CHECK-LABEL: tt.func public @scalars
// CHECK:       %[[V:.*]] = tts.gather %arg0[%arg2] mask = %arg3 default = %cst : (<f32>, i32) -> f32
// CHECK:       tts.scatter %[[V]] into %arg1[%c0_i32] mask = %arg3 : f32 into
// CHECK:       "tts.atomic_rmw"(%arg0, %arg2, %[[V]], %arg3) <{atomic_rmw_op = 5 : i32, scope = 1 : i32, sem = 4 : i32}> : (!tt.ptr<f32>, i32, f32, i1) -> f32
// CHECK-NOT:   tt.addptr
tt.func public @scalars(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %i: i32, %live: i1) {
  %other = arith.constant 7.0 : f32
  %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
  %v = tt.load %p, %live, %other : !tt.ptr<f32>
  tt.store %y, %v, %live : !tt.ptr<f32>
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %live : (!tt.ptr<f32>, f32, i1) -> f32
  tt.return
}
