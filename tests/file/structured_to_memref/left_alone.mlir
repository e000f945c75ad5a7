// RUN: tilewright-opt %s --structured-to-memref --remarks 2>&1 | filecheck %s

// CHECK: remark: [structured-to-memref] 'tts.load': the pointer does not come from a tts.make_tptr here
// CHECK: remark: [structured-to-memref] 'tts.load': memory that holds pointers has no memref type
// CHECK-LABEL: @k
// CHECK: "tts.load"(%arg0)
// CHECK: tts.make_tptr %arg1
func.func @k(%p: tensor<8x!tt.ptr<f32>>, %q: !tt.ptr<!tt.ptr<f32>>) -> (tensor<8xf32>, tensor<8x!tt.ptr<f32>>) {
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
  %t = tts.make_tptr %q to sizes: [8], strides: [1], offsets: [0], shape: [0], order: [] : <!tt.ptr<f32>> to tensor<8x!tt.ptr<!tt.ptr<f32>>>
  %w = "tts.load"(%t) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<!tt.ptr<f32>>>) -> tensor<8x!tt.ptr<f32>>
  return %v, %w : tensor<8xf32>, tensor<8x!tt.ptr<f32>>
}
