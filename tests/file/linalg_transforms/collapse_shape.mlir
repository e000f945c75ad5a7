// RUN: tilewright-opt %s --collapse-shape | filecheck %s
// RUN: tilewright-opt %s --collapse-shape | mlir-opt

// CHECK-LABEL: func.func @fill
// CHECK: %[[E:.*]] = tensor.empty() : tensor<32xf32>
// CHECK: %[[F:.*]] = linalg.fill ins(%arg0 : f32) outs(%[[E]] : tensor<32xf32>) -> tensor<32xf32>
// CHECK: %[[X:.*]] = tensor.expand_shape %[[F]] {{\[\[}}0, 1{{\]\]}} output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>
// CHECK: return %[[X]]
func.func @fill(%x: f32) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%x : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %f : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @broadcast
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2, 3{{\]\]}} : tensor<1x1x4x8xf32> into tensor<1x32xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[C]] : tensor<1x32xf32>) outs(%{{.*}} : tensor<6x32xf32>) attrs = {broadcastDims = array<i64: 0>}
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2, 3{{\]\]}} output_shape [2, 3, 4, 8]
func.func @broadcast(%x: tensor<1x1x4x8xf32>) -> tensor<2x3x4x8xf32> {
  %e = tensor.empty() : tensor<2x3x4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (0, 0, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x1x4x8xf32>) outs(%e : tensor<2x3x4x8xf32>) attrs = {broadcastDims = array<i64: 0, 1>} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x3x4x8xf32>
  return %r : tensor<2x3x4x8xf32>
}

// CHECK-LABEL: func.func @transpose
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2], [3{{\]\]}} : tensor<2x3x4x5xf32> into tensor<2x12x5xf32>
// CHECK: linalg.transpose ins(%[[C]] : tensor<2x12x5xf32>) outs(%{{.*}} : tensor<5x12x2xf32>) permutation = [2, 1, 0]
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3{{\]\]}} output_shape [5, 3, 4, 2]
func.func @transpose(%x: tensor<2x3x4x5xf32>) -> tensor<5x3x4x2xf32> {
  %e = tensor.empty() : tensor<5x3x4x2xf32>
  %r = linalg.transpose ins(%x : tensor<2x3x4x5xf32>) outs(%e : tensor<5x3x4x2xf32>) permutation = [3, 1, 2, 0]
  return %r : tensor<5x3x4x2xf32>
}

// CHECK-LABEL: func.func @reduce
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2{{\]\]}} : tensor<4x2x8xf32> into tensor<4x16xf32>
// CHECK: linalg.reduce ins(%[[C]] : tensor<4x16xf32>) outs(%{{.*}} : tensor<16xf32>) dimensions = [0]
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1{{\]\]}} output_shape [2, 8]
func.func @reduce(%x: tensor<4x2x8xf32>, %init: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %r = linalg.reduce ins(%x : tensor<4x2x8xf32>) outs(%init : tensor<2x8xf32>) dimensions = [0]
    (%in: f32, %acc: f32) {
      %s = arith.addf %in, %acc : f32
      linalg.yield %s : f32
    }
  return %r : tensor<2x8xf32>
}

// What has nothing to join stays.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: collapse_shape
// CHECK: return
func.func @nothing(%x: tensor<4x8xf32>, %init: tensor<4xf32>, %d: tensor<?x8xf32>, %c: f32) -> (tensor<4xf32>, tensor<?x8xf32>) {
  %r = linalg.reduce ins(%x : tensor<4x8xf32>) outs(%init : tensor<4xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %s = arith.maximumf %in, %acc : f32
      linalg.yield %s : f32
    }
  %f = linalg.fill ins(%c : f32) outs(%d : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r, %f : tensor<4xf32>, tensor<?x8xf32>
}
