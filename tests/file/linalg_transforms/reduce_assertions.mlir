// RUN: tilewright-opt %s --linalg-reduce-assertions | filecheck %s

// CHECK-LABEL: @tile
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: %[[START:.*]] = linalg.fill ins(%[[TRUE]] : i1) outs(%{{.*}} : tensor<i1>) -> tensor<i1>
// CHECK: %[[ALL:.*]] = linalg.reduce ins(%{{.*}} : tensor<4x16xi1>) outs(%[[START]] : tensor<i1>) dimensions = [0, 1]
// CHECK: arith.andi
// CHECK: %[[HOLDS:.*]] = tensor.extract %[[ALL]][] : tensor<i1>
// CHECK-NEXT: cf.assert %[[HOLDS]], "bad"
// CHECK-NOT: cf.assert
func.func @tile(%m: tensor<4x16xi1>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<4x16xi1>) {
  ^bb0(%in: i1):
    cf.assert %in, "bad"
    linalg.yield
  }
  return
}

// Scalars, and assertions among other things that a body does, stay.
// CHECK-LABEL: @left_alone
// CHECK-NOT: linalg.reduce
// CHECK: cf.assert %{{.*}}, "scalar"
// CHECK: linalg.generic
// CHECK: cf.assert %{{.*}}, "first"
func.func @left_alone(%c: i1, %m: tensor<16xi1>, %o: memref<16xf32>, %x: f32) {
  cf.assert %c, "scalar"
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%m : tensor<16xi1>) {
  ^bb0(%in: i1):
    cf.assert %in, "first"
    %i = linalg.index 0 : index
    memref.store %x, %o[%i] : memref<16xf32>
    linalg.yield
  }
  return
}
