// RUN: tilewright-opt %s --triton-to-structured | filecheck %s

// A block pointer that a loop advances: one carried lane number; the boundary check becomes a box, lower bounds only where
// the start may be negative.

// CHECK-LABEL: tt.func public @advance
// CHECK:       %[[M:.*]] = arith.index_cast %arg1 : i64 to index
// CHECK:       scf.for {{.*}} iter_args(%[[K:.*]] = %c0) -> (index)
// CHECK:       %[[OFF:.*]] = arith.muli %{{.*}}, %[[K]] : index
// CHECK:       %[[P:.*]] = tts.make_tptr %arg0 to sizes: [8, 16], strides: [1, %{{.*}}], offsets: [%{{.*}}, %[[OFF]]], shape: [%[[M]], %{{.*}}], order: [0, 1] : <f32> to !tt.ptr<tensor<8x16xf32>>
// CHECK:       "tts.masked_load"(%[[P]]
// CHECK-SAME:  static_mask_starts = array<i64: -9223372036854775808, 0>
// CHECK-SAME:  -> tensor<8x16xf32>
tt.func public @advance(%p: !tt.ptr<f32>, %m: i64, %n: i64, %ld: i64, %i: i32, %steps: i32, %out: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %one = arith.constant 1 : i64
  %first = tt.make_tensor_ptr %p, [%m, %n], [%one, %ld], [%i, %c0] {order = array<i32: 0, 1>} : <tensor<8x16xf32>>
  %to = tt.make_tensor_ptr %out, [%m, %n], [%one, %ld], [%c0, %c0] {order = array<i32: 0, 1>} : <tensor<8x16xf32>>
  %last = scf.for %k = %c0 to %steps step %c1 iter_args(%bp = %first) -> (!tt.ptr<tensor<8x16xf32>>)  : i32 {
    %v = tt.load %bp {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<8x16xf32>>
    tt.store %to, %v : !tt.ptr<tensor<8x16xf32>>
    %next = tt.advance %bp, [%c0, %c16] : <tensor<8x16xf32>>
    scf.yield %next : !tt.ptr<tensor<8x16xf32>>
  }
  tt.return
}
