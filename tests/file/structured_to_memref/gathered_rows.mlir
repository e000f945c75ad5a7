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

// Rows that are replaced behind a bound follow one another if the last one is below it.

// CHECK-LABEL: @rows_up_to_a_bound
// CHECK: %[[F:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[O:.*]] = arith.muli %[[F]], %{{.*}} : index
// CHECK: %[[L:.*]] = arith.addi %[[F]], %c3{{.*}} : index
// CHECK: %[[N:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[T:.*]] = arith.cmpi slt, %[[L]], %[[N]] : index
// CHECK: scf.if %[[T]] {
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[O]]], sizes: [4, 8], strides: [%{{.*}}, 1]
// CHECK: } else {
// CHECK: scf.for
// CHECK: tensor.extract
func.func @rows_up_to_a_bound(%x: !tt.ptr<f32>, %first: i32, %bound: i32, %ld: index) -> tensor<4x8xf32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xi32>
  %lanes = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    linalg.yield %n : i32
  } -> tensor<4xi32>
  %firsts = linalg.fill ins(%first : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %rows = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%firsts, %lanes : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %sum = arith.addi %a, %b : i32
    linalg.yield %sum : i32
  } -> tensor<4xi32>
  %bounds = linalg.fill ins(%bound : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %b = tensor.empty() : tensor<4xi1>
  %inside = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%rows, %bounds : tensor<4xi32>, tensor<4xi32>) outs(%b : tensor<4xi1>) {
  ^bb0(%a: i32, %c: i32, %out: i1):
    %less = arith.cmpi slt, %a, %c : i32
    linalg.yield %less : i1
  } -> tensor<4xi1>
  %zeros = linalg.fill ins(%zero : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %kept = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%inside, %rows, %zeros : tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%c: i1, %a: i32, %d: i32, %out: i32):
    %chosen = arith.select %c, %a, %d : i32
    linalg.yield %chosen : i32
  } -> tensor<4xi32>
  %p = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 0 gather_scatter_offset: %kept, strides: [%ld, 1], offsets: [0, 0] : tensor<4xi32> <f32> to !tt.ptr<tensor<4x8xf32>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<4x8xf32>>) -> tensor<4x8xf32>
  return %v : tensor<4x8xf32>
}
