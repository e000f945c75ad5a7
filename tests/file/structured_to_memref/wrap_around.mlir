// RUN: tilewright-opt %s --structured-to-memref | filecheck %s

// Rows wrap: one copy where no row does, else row by row.
// CHECK-LABEL: @rows
// CHECK: %[[REM:.*]] = arith.remsi %[[OFF:.*]], %{{.*}} : index
// CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi slt, %[[LAST]], %{{.*}} : index
// CHECK: arith.andi
// CHECK: scf.if %{{[0-9]+}} {
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [4, 8], strides: [%{{.*}}, 1]
// CHECK: memref.copy
// CHECK: } else {
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c1 {
// CHECK: %[[A:.*]] = arith.muli %[[I]], %{{.*}} : index
// CHECK: arith.remsi
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [1, 8], strides: [%{{.*}}, 1]
// CHECK: memref.subview %{{.*}}[%[[I]], 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
// CHECK: memref.copy
func.func @rows(%x: !tt.ptr<f32>, %ld: index, %o: index, %w: index) -> tensor<4x8xf32> {
  %p = tts.make_tptr %x to sizes: [4, 8], strides: [%ld, 1], offsets: [%o, 0], shape: [%w, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>) -> tensor<4x8xf32>
  return %v : tensor<4x8xf32>
}

// Known not to wrap: one copy and nothing else. The offset is reduced: 40 mod 36.
// CHECK-LABEL: @known_inside
// CHECK-NOT: scf
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [4], sizes: [8], strides: [4]
func.func @known_inside(%x: !tt.ptr<f32>) -> tensor<8xf32> {
  %p = tts.make_tptr %x to sizes: [8], strides: [4], offsets: [40], shape: [36], order: [] : <f32> to tensor<8x!tt.ptr<f32>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
  return %v : tensor<8xf32>
}

// Both dimensions wrap, and the store is masked: the loops run over the live box only.
// CHECK-LABEL: @both(
// CHECK: } else {
// CHECK: scf.for %[[I:.*]] = %c0 to %[[N:.*]] step %c1 {
// CHECK: scf.for %[[J:.*]] = %c0 to %c8 step %c1 {
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], %[[J]]] [1, 1] [1, 1] : tensor<4x8xf32> to tensor<1x1xf32>
// CHECK: bufferization.materialize_in_destination
func.func @both(%x: !tt.ptr<f32>, %v: tensor<4x8xf32>, %ld: index, %o: index, %w0: index, %w1: index, %n: index) {
  %p = tts.make_tptr %x to sizes: [4, 8], strides: [%ld, 1], offsets: [%o, %o], shape: [%w0, %w1], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  "tts.store"(%p, %v, %n) <{static_mask_dims = array<i64: -9223372036854775808, 8>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, index) -> ()
  return
}
