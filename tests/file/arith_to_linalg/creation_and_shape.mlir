// RUN: tilewright-opt %s --triton-arith-to-linalg | filecheck %s
// RUN: tilewright-opt %s --triton-arith-to-linalg | mlir-opt --verify-each

// CHECK-LABEL: func.func @splat(%arg0: f32
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: %[[F:.*]] = linalg.fill ins(%arg0 : f32) outs(%[[E]] : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[F]]
tt.func public @splat(%x: f32) -> tensor<4x8xf32> {
  %0 = tt.splat %x : f32 -> tensor<4x8xf32>
  tt.return %0 : tensor<4x8xf32>
}

// A splat constant is a fill of a scalar constant; a table of values stays.
// CHECK-LABEL: func.func @constants
// CHECK: %[[C:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[C]] : f32)
// CHECK: arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
tt.func public @constants() -> (tensor<8xf32>, tensor<4xi32>) {
  %a = arith.constant dense<0xFF800000> : tensor<8xf32>
  %b = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  tt.return %a, %b : tensor<8xf32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @range
// CHECK: %[[C:.*]] = arith.constant 4 : i32
// CHECK: outs(%{{.*}} : tensor<8xi32>) {
// CHECK: %[[I:.*]] = linalg.index 0 : index
// CHECK-NEXT: %[[N:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK-NEXT: %[[S:.*]] = arith.addi %[[N]], %[[C]] : i32
// CHECK-NEXT: linalg.yield %[[S]] : i32
tt.func public @range() -> tensor<8xi32> {
  %0 = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>
  tt.return %0 : tensor<8xi32>
}

// CHECK-LABEL: func.func @expand_and_broadcast
// CHECK: tensor.expand_shape %arg0 {{\[}}[0, 1]] output_shape [16, 1] : tensor<16xf32> into tensor<16x1xf32>
// CHECK: linalg.generic {indexing_maps = [#map{{[0-9]*}}, #map{{[0-9]*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: attrs = {broadcastDims = array<i64: 1>}
// CHECK: linalg.yield %in : f32
tt.func public @expand_and_broadcast(%x: tensor<16xf32>) -> tensor<16x32xf32> {
  %0 = tt.expand_dims %x {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
  %1 = tt.broadcast %0 : tensor<16x1xf32> -> tensor<16x32xf32>
  tt.return %1 : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @transpose
// CHECK: linalg.transpose ins(%arg0 : tensor<2x4x8xf32>) outs(%{{.*}} : tensor<8x2x4xf32>) permutation = [2, 0, 1]
tt.func public @transpose(%x: tensor<2x4x8xf32>) -> tensor<8x2x4xf32> {
  %0 = tt.trans %x {order = array<i32: 2, 0, 1>} : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  tt.return %0 : tensor<8x2x4xf32>
}

// Up, down, and neither.
// CHECK-LABEL: func.func @reshape
// CHECK: tensor.expand_shape %arg0 {{\[}}[0, 1], [2]] output_shape [2, 4, 4]
// CHECK: tensor.collapse_shape %arg0 {{\[}}[0, 1]] : tensor<8x4xf32> into tensor<32xf32>
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %arg0
// CHECK: tensor.expand_shape %[[ROW]] {{\[}}[0, 1]] output_shape [4, 8]
tt.func public @reshape(%x: tensor<8x4xf32>) -> (tensor<2x4x4xf32>, tensor<32xf32>, tensor<4x8xf32>) {
  %0 = tt.reshape %x : tensor<8x4xf32> -> tensor<2x4x4xf32>
  %1 = tt.reshape %x allow_reorder : tensor<8x4xf32> -> tensor<32xf32>
  %2 = tt.reshape %x : tensor<8x4xf32> -> tensor<4x8xf32>
  tt.return %0, %1, %2 : tensor<2x4x4xf32>, tensor<32xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @join_split_cat
// CHECK: %[[L:.*]] = tensor.insert_slice %arg0 into %{{.*}}[0, 0] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
// CHECK: %[[J:.*]] = tensor.insert_slice %arg1 into %[[L]][0, 1] [8, 1] [1, 1]
// CHECK: %[[A:.*]] = tensor.extract_slice %[[J]][0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
// CHECK: %[[B:.*]] = tensor.extract_slice %[[J]][0, 1] [8, 1] [1, 1]
// CHECK: %[[C:.*]] = tensor.insert_slice %[[A]] into %{{.*}}[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
// CHECK: tensor.insert_slice %[[B]] into %[[C]][8] [8] [1]
tt.func public @join_split_cat(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<16xf32> {
  %0 = tt.join %x, %y : tensor<8xf32> -> tensor<8x2xf32>
  %a, %b = tt.split %0 : tensor<8x2xf32> -> tensor<8xf32>
  %1 = tt.cat %a, %b : tensor<8xf32> -> tensor<16xf32>
  tt.return %1 : tensor<16xf32>
}

// CHECK-LABEL: func.func @unsplat
// CHECK: tensor.extract %arg0[%c0, %c0] : tensor<1x1xf32>
tt.func public @unsplat(%x: tensor<1x1xf32>) -> f32 {
  %0 = tt.unsplat %x : tensor<1x1xf32>
  tt.return %0 : f32
}
