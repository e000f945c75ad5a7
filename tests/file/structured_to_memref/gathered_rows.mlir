// RUN: tilewright-opt %s --structured-to-memref --canonicalize --cse | filecheck %s

// CHECK-LABEL: @rows
// CHECK: %[[B:.*]] = memref.alloc() : memref<4x8xf32>
// CHECK: linalg.fill
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %c4{{.*}} step %c1{{.*}} {
// CHECK: %[[K:.*]] = tensor.extract %[[MASK:.*]][%[[I]]] : tensor<4xi1>
// CHECK: scf.if %[[K]] {
// CHECK: %[[R:.*]] = tensor.extract %{{.*}}[%[[I]]] : tensor<4xi64>
// CHECK: %[[X:.*]] = arith.index_cast %[[R]] : i64 to index
// CHECK: arith.muli %[[X]], %{{.*}} : index
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [1, 8], strides: [%{{.*}}, 1]
// CHECK: memref.subview %[[B]][%[[I]], 0] [1, %{{.*}}] [1, 1]
// CHECK: memref.copy
// CHECK: bufferization.to_tensor %[[B]] restrict writable
func.func @rows(%x: !tt.ptr<f32>, %rows: tensor<4xi64>, %keep: tensor<4xi1>, %ld: index, %n: index, %other: f32) -> tensor<4x8xf32> {
  %p = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 0 gather_scatter_offset: %rows gather_scatter_mask: %keep, strides: [%ld, 1], offsets: [0, 0] : tensor<4xi64> tensor<4xi1> <f32> to !tt.ptr<tensor<4x8xf32>>
  %v = "tts.load"(%p, %n, %other) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 0, -9223372036854775808>}> : (!tt.ptr<tensor<4x8xf32>>, index, f32) -> tensor<4x8xf32>
  return %v : tensor<4x8xf32>
}
