// RUN: tilewright-opt %s --triton-to-structured | filecheck %s

// Index tensors that are reshaped and transposed keep their formula.

// CHECK-LABEL: tt.func public @reshape
// CHECK:       tts.make_tptr %arg0 to sizes: [4, 8], strides: [16, 2], offsets: [3, 0], shape: [0, 0], order: []
// CHECK:       tts.make_tptr %arg0 to sizes: [8, 4], strides: [2, 16], offsets: [0, 3], shape: [0, 0], order: []
// CHECK-NOT:   tt.reshape
tt.func public @reshape(%x: !tt.ptr<f32>) {
  %two = arith.constant dense<2> : tensor<32xi32>
  %three = arith.constant dense<3> : tensor<32xi32>
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %twice = arith.muli %r, %two : tensor<32xi32>
  %moved = arith.addi %twice, %three : tensor<32xi32>
  %o = tt.reshape %moved : tensor<32xi32> -> tensor<4x8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x8x!tt.ptr<f32>>
  %p = tt.addptr %xs, %o : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
  %v = tt.load %p : tensor<4x8x!tt.ptr<f32>>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %pt = tt.trans %p {order = array<i32: 1, 0>} : tensor<4x8x!tt.ptr<f32>> -> tensor<8x4x!tt.ptr<f32>>
  tt.store %pt, %t : tensor<8x4x!tt.ptr<f32>>
  tt.return
}
