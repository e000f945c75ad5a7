// Named linalg ops: read and printed as upstream's, and as generic ops.
// RUN: tilewright-opt %s --split-input-file | filecheck %s --check-prefix=NAMED
// RUN: tilewright-opt %s --split-input-file --mlir-print-op-generic | tilewright-opt - --split-input-file | filecheck %s --check-prefix=NAMED
// RUN: tilewright-opt %s --split-input-file --linalg-generalize-named-ops | filecheck %s
// RUN: tilewright-opt %s --split-input-file --one-shot-bufferize --convert-linalg-to-loops | filecheck %s --check-prefix=LOOPS

// LOOPS-NOT: linalg

// CHECK-LABEL: func.func @exp(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = math.exp %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.exp ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @exp(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.exp ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @log(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = math.log %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.log ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @log(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.log ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @abs(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = math.absf %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.abs ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @abs(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.abs ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @ceil(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = math.ceil %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.ceil ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @ceil(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.ceil ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @floor(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = math.floor %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.floor ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @floor(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.floor ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @negf(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = arith.negf %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.negf ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @negf(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.negf ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @reciprocal(
// CHECK: %cst = arith.constant 1.000000e+00 : f32
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = arith.divf %cst, %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.reciprocal ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @reciprocal(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.reciprocal ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @round(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = math.round %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.round ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @round(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.round ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @sqrt(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = math.sqrt %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.sqrt ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @sqrt(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.sqrt ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @rsqrt(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = math.rsqrt %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.rsqrt ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @rsqrt(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.rsqrt ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @square(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = arith.mulf %in, %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.square ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @square(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.square ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @tanh(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = math.tanh %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.tanh ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @tanh(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.tanh ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @erf(
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %out: f32):
// CHECK-NEXT: %1 = math.erf %in : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.erf ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @erf(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.erf ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @add(
// CHECK: linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %in_0: f32, %out: f32):
// CHECK-NEXT: %1 = arith.addf %in, %in_0 : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.add ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @add(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.add ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @sub(
// CHECK: linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %in_0: f32, %out: f32):
// CHECK-NEXT: %1 = arith.subf %in, %in_0 : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.sub ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @sub(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.sub ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @mul(
// CHECK: linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %in_0: f32, %out: f32):
// CHECK-NEXT: %1 = arith.mulf %in, %in_0 : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.mul ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @mul(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.mul ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @div(
// CHECK: linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %in_0: f32, %out: f32):
// CHECK-NEXT: %1 = arith.divf %in, %in_0 : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.div ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @div(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.div ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @max(
// CHECK: linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %in_0: f32, %out: f32):
// CHECK-NEXT: %1 = arith.maximumf %in, %in_0 : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.max ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @max(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.max ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @min(
// CHECK: linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %in_0: f32, %out: f32):
// CHECK-NEXT: %1 = arith.minimumf %in, %in_0 : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.min ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @min(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.min ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @powf(
// CHECK: linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%in: f32, %in_0: f32, %out: f32):
// CHECK-NEXT: %1 = math.powf %in, %in_0 : f32
// CHECK-NEXT: linalg.yield %1 : f32
// NAMED: linalg.powf ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @powf(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.powf ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

// CHECK-LABEL: func.func @integers(
// CHECK: arith.divui %in, %in_0 : i32
// CHECK: arith.maxsi %in, %in_0 : i32
// CHECK: arith.ori %in, %in_0 : i1
// NAMED: linalg.div_unsigned
func.func @integers(%a: tensor<4xi32>, %b: tensor<4xi1>) -> (tensor<4xi32>, tensor<4xi1>) {
  %0 = linalg.div_unsigned ins(%a, %a : tensor<4xi32>, tensor<4xi32>) outs(%a : tensor<4xi32>) -> tensor<4xi32>
  %1 = linalg.max ins(%0, %a : tensor<4xi32>, tensor<4xi32>) outs(%a : tensor<4xi32>) -> tensor<4xi32>
  %2 = linalg.add ins(%b, %b : tensor<4xi1>, tensor<4xi1>) outs(%b : tensor<4xi1>) -> tensor<4xi1>
  return %1, %2 : tensor<4xi32>, tensor<4xi1>
}
// -----

// CHECK-LABEL: func.func @select(
// CHECK: arith.select %in, %in_0, %in_1 : f32
// CHECK: arith.truncf %in : f32 to f16
// NAMED: linalg.select ins(%arg0, %arg1, %arg1 : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) outs(%arg1 : tensor<4xf32>) -> tensor<4xf32>
// NAMED: linalg.copy ins(%0 : tensor<4xf32>) outs(%arg2 : tensor<4xf16>) -> tensor<4xf16>
func.func @select(%c: tensor<4xi1>, %a: tensor<4xf32>, %h: tensor<4xf16>) -> tensor<4xf16> {
  %0 = linalg.select ins(%c, %a, %a : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.copy ins(%0 : tensor<4xf32>) outs(%h : tensor<4xf16>) -> tensor<4xf16>
  return %1 : tensor<4xf16>
}
// -----

// A row and a transposed tile.
// CHECK-LABEL: func.func @elementwise(
// CHECK: linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel"]}
// CHECK: arith.addf %in, %in_0 : f32
// NAMED: linalg.elementwise kind=#linalg.elementwise_kind<add> indexing_maps = [#map, #map1, #map2] ins(%arg0, %arg1 : tensor<8x4xf32>, tensor<4xf32>) outs(%arg2 : tensor<4x8xf32>) -> tensor<4x8xf32>
// NAMED: linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%0 : tensor<4x8xf32>)
func.func @elementwise(%a: tensor<8x4xf32>, %v: tensor<4xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.elementwise kind=#linalg.elementwise_kind<add>
      indexing_maps = [affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>]
      ins(%a, %v : tensor<8x4xf32>, tensor<4xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%0 : tensor<4x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
// -----

// CHECK-DAG: #[[KM:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[KN:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @transposed(
// CHECK: linalg.generic {indexing_maps = [#[[KM]], #[[KN]], #[[MN]]], iterator_types = ["parallel", "parallel", "reduction"]}
// NAMED: linalg.matmul indexing_maps = [#map, #map1, #map2] ins(
func.func @transposed(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// -----

// CHECK-LABEL: func.func @unsigned(
// CHECK: arith.extui %in : i8 to i32
// CHECK: arith.extui %in_0 : i8 to i32
// NAMED: linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(
func.func @unsigned(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %c: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<4x8xi8>, tensor<8x4xi8>) outs(%c : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}
// -----

// CHECK-LABEL: func.func @batches(
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: iterator_types = ["reduction", "parallel", "parallel", "reduction"]
// NAMED: linalg.batch_matmul indexing_maps = [#map, #map1, #map2] ins(
// NAMED: linalg.batch_reduce_matmul ins(
func.func @batches(%a: tensor<2x4x8xf32>, %b: tensor<2x4x8xf32>, %bt: tensor<2x8x4xf32>, %c: tensor<2x4x4xf32>, %s: tensor<4x4xf32>) -> (tensor<2x4x4xf32>, tensor<4x4xf32>) {
  %0 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%a, %b : tensor<2x4x8xf32>, tensor<2x4x8xf32>) outs(%c : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %1 = linalg.batch_reduce_matmul ins(%a, %bt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%s : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<2x4x4xf32>, tensor<4x4xf32>
}
// -----

// CHECK-LABEL: func.func @vectors(
// CHECK-COUNT-2: iterator_types = ["parallel", "reduction"]
// CHECK: iterator_types = ["reduction"]
// CHECK-COUNT-2: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// NAMED: linalg.matvec
// NAMED: linalg.vecmat
// NAMED: linalg.dot
// NAMED: linalg.batch_matvec
// NAMED: linalg.batch_vecmat
// NAMED: linalg.contract indexing_maps = [
func.func @vectors(%a: tensor<4x4xf32>, %x: tensor<4xf32>, %s: tensor<f32>, %b: tensor<2x4x4xf32>, %y: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<f32>, tensor<2x4xf32>, tensor<4x4xf32>) {
  %0 = linalg.matvec ins(%a, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.vecmat ins(%0, %a : tensor<4xf32>, tensor<4x4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.dot ins(%0, %1 : tensor<4xf32>, tensor<4xf32>) outs(%s : tensor<f32>) -> tensor<f32>
  %3 = linalg.batch_matvec ins(%b, %y : tensor<2x4x4xf32>, tensor<2x4xf32>) outs(%y : tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = linalg.batch_vecmat ins(%3, %b : tensor<2x4xf32>, tensor<2x4x4xf32>) outs(%y : tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2, %4, %5 : tensor<4xf32>, tensor<f32>, tensor<2x4xf32>, tensor<4x4xf32>
}
// -----

// CHECK-LABEL: func.func @blocks(
// CHECK: iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel", "reduction"]
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel", "parallel", "reduction"]
// NAMED: linalg.mmt4d
// NAMED: linalg.batch_mmt4d
func.func @blocks(%a: tensor<2x3x4x8xf32>, %b: tensor<5x3x6x8xf32>, %c: tensor<2x5x4x6xf32>, %d: tensor<7x2x3x4x8xf32>, %e: tensor<7x5x3x6x8xf32>, %f: tensor<7x2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<7x2x5x4x6xf32>) {
  %0 = linalg.mmt4d ins(%a, %b : tensor<2x3x4x8xf32>, tensor<5x3x6x8xf32>) outs(%c : tensor<2x5x4x6xf32>) -> tensor<2x5x4x6xf32>
  %1 = linalg.batch_mmt4d ins(%d, %e : tensor<7x2x3x4x8xf32>, tensor<7x5x3x6x8xf32>) outs(%f : tensor<7x2x5x4x6xf32>) -> tensor<7x2x5x4x6xf32>
  return %0, %1 : tensor<2x5x4x6xf32>, tensor<7x2x5x4x6xf32>
}
