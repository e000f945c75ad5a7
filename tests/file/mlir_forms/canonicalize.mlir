// RUN: tilewright-opt %s --canonicalize | filecheck %s

// Folds of index arithmetic, views and extents meet in one pass.

// CHECK-LABEL: func.func @extents
// CHECK-SAME: (%[[N:.*]]: index)
// CHECK: return %[[N]], %{{.*}} : index, index
func.func @extents(%n: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %d = tensor.dim %e, %c0 : tensor<?x4xf32>
  %s = tensor.dim %e, %c1 : tensor<?x4xf32>
  %x = arith.addi %d, %c0 : index
  return %x, %s : index, index
}

// CHECK-LABEL: func.func @whole_slices
// CHECK-SAME: (%[[T:.*]]: tensor<4xf32>, %[[M:.*]]: memref<4xf32>)
// CHECK-NOT: extract_slice
// CHECK: return %[[T]], %[[M]]
func.func @whole_slices(%t: tensor<4xf32>, %m: memref<4xf32>) -> (tensor<4xf32>, memref<4xf32>) {
  %s = tensor.extract_slice %t[0] [4] [1] : tensor<4xf32> to tensor<4xf32>
  %c = memref.cast %m : memref<4xf32> to memref<?xf32>
  %d = memref.cast %c : memref<?xf32> to memref<4xf32>
  return %s, %d : tensor<4xf32>, memref<4xf32>
}

// CHECK-LABEL: func.func @constants_of_tensors
// CHECK: %[[R:.*]] = arith.constant dense<0xFF800000> : tensor<8xf32>
// CHECK: return %[[R]]
func.func @constants_of_tensors() -> tensor<8xf32> {
  %a = arith.constant dense<0xFF800000> : tensor<8xf32>
  %b = arith.constant dense<1.0> : tensor<8xf32>
  %r = arith.addf %a, %b : tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @division_stays
// CHECK: arith.divsi
func.func @division_stays() -> i32 {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %r = arith.divsi %c1, %c0 : i32
  return %r : i32
}
