// RUN: tilewright-opt %s --linalg-expand-selects | filecheck %s

// CHECK-LABEL: @by_a_scalar
// CHECK: %[[R:.*]] = scf.if %[[C:.*]] -> (tensor<64xf32>) {
// CHECK-NEXT: scf.yield %[[A:.*]] : tensor<64xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[B:.*]] : tensor<64xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]
func.func @by_a_scalar(%c: i1, %a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  %r = arith.select %c, %a, %b : tensor<64xf32>
  return %r : tensor<64xf32>
}

// Lanes go different ways, and scalars are no tiles.
// CHECK-LABEL: @left_alone
// CHECK-NOT: scf.if
// CHECK: arith.select
// CHECK: arith.select
func.func @left_alone(%c: i1, %m: tensor<64xi1>, %a: tensor<64xf32>, %b: tensor<64xf32>, %x: f32, %y: f32) -> (tensor<64xf32>, f32) {
  %r = arith.select %m, %a, %b : tensor<64xi1>, tensor<64xf32>
  %s = arith.select %c, %x, %y : f32
  return %r, %s : tensor<64xf32>, f32
}
