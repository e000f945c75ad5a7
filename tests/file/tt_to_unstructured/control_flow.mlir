// RUN: tilewright-opt %s --triton-to-unstructured | filecheck %s

// Pointers that control flow carries become offsets; a base that a branch chooses is carried along.

// CHECK-LABEL: tt.func public @loop
// CHECK:       scf.for {{.*}} iter_args(%[[OFF:.*]] = %c0_i64) -> (i64)
// CHECK:       tts.gather %arg0[%[[OFF]]] : (<f32>, i64) -> f32
// CHECK:       scf.yield %{{.*}} : i64
tt.func public @loop(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (!tt.ptr<f32>)  : i32 {
    %v = tt.load %p : !tt.ptr<f32>
    %next = tt.addptr %p, %n : !tt.ptr<f32>, i32
    tt.store %next, %v : !tt.ptr<f32>
    scf.yield %next : !tt.ptr<f32>
  }
  tt.return
}

// CHECK-LABEL: tt.func public @branch
// CHECK:       %[[IF:.*]]:2 = scf.if %arg2 -> (!tt.ptr<f32>, i32)
// CHECK:       scf.yield %arg0, %{{.*}} : !tt.ptr<f32>, i32
// CHECK:       scf.yield %arg1, %arg3 : !tt.ptr<f32>, i32
// CHECK:       tts.gather %[[IF]]#0[%[[IF]]#1]
tt.func public @branch(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1, %n: i32) {
  %p = scf.if %c -> (!tt.ptr<f32>) {
    scf.yield %x : !tt.ptr<f32>
  } else {
    %moved = tt.addptr %y, %n : !tt.ptr<f32>, i32
    scf.yield %moved : !tt.ptr<f32>
  }
  %v = tt.load %p : !tt.ptr<f32>
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
}

// A structured pointer on a moved base takes the offset into a dimension that does not wrap.

// CHECK-LABEL: tt.func public @rebase
// CHECK:       %[[STEP:.*]] = arith.index_cast %arg1 : i32 to index
// CHECK:       tts.make_tptr %arg0 to sizes: [4, 8], strides: [8, 1], offsets: [0, %[[STEP]]], shape: [24, 0], order: []
tt.func public @rebase(%x: !tt.ptr<f32>, %n: i32) {
  %b = tt.addptr %x, %n : !tt.ptr<f32>, i32
  %p = tts.make_tptr %b to sizes: [4, 8], strides: [8, 1], offsets: [0, 0], shape: [24, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>) -> tensor<4x8xf32>
  "tts.store"(%p, %v) <{static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
  tt.return
}
