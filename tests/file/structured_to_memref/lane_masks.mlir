// RUN: tilewright-opt %s --structured-to-memref | filecheck %s

// A mask for each row: extent 1 along the columns, constant 0 in its map.
// CHECK-LABEL: @rows
// CHECK: linalg.generic {indexing_maps = [#[[ROW:.*]], #[[ID:.*]]], iterator_types = ["parallel", "parallel"]} ins(%{{.*}} : tensor<4x1xi1>) outs(%{{.*}} : tensor<4x8xf32>) {
// CHECK-NEXT: ^bb0(%[[LIVE:.*]]: i1, %out: f32):
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
// CHECK: memref.load
// CHECK: } else {
// CHECK: scf.yield %{{.*}} : f32
// CHECK: linalg.yield %[[R]] : f32
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROW]]], iterator_types = ["parallel", "parallel"]} ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x1xi1>) {
// CHECK: scf.if %{{.*}} {
// CHECK: memref.store
func.func @rows(%x: !tt.ptr<f32>, %ld: index, %m: tensor<4x1xi1>, %n: index) {
  %p = tts.make_tptr %x to sizes: [4, 8], strides: [%ld, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  %v = "tts.masked_load"(%p, %n, %m) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0>, static_mask_starts = array<i64: 0, 0>, static_mask_dims = array<i64: 4, -9223372036854775808>}> : (tensor<4x8x!tt.ptr<f32>>, index, tensor<4x1xi1>) -> tensor<4x8xf32>
  "tts.masked_store"(%p, %v, %m) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>, static_mask_starts = array<i64: 0, 0>, static_mask_dims = array<i64: 4, 8>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, tensor<4x1xi1>) -> ()
  return
}
