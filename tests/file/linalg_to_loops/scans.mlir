// RUN: tilewright-opt %s --linalg-to-loops="vector-bits=128" | filecheck %s

// The first vector starts; the others add the last lane of the sums before, which waits for one addition a vector. Within
// a vector, the last lane of each half is added to the other half of 2, then of 4 lanes.
// CHECK-LABEL: @sums
// CHECK: %[[FIRST:.*]] = vector.load
// CHECK: vector.shuffle %[[FIRST]], %[[FIRST]] [0, 0, 2, 2]
// CHECK: %[[CARRY:.*]] = vector.shuffle %{{.*}} [3, 3, 3, 3]
// CHECK: vector.store
// CHECK: scf.for %{{.*}} iter_args(%[[C:.*]] = %[[CARRY]]) -> (vector<4xf32>)
// CHECK: vector.shuffle %{{.*}} [0, 0, 2, 2]
// CHECK: vector.shuffle %{{.*}} [0, 1, 1, 1]
// CHECK: %[[LAST:.*]] = vector.shuffle %{{.*}} [3, 3, 3, 3]
// CHECK: %[[S:.*]] = arith.addf %[[C]], %{{.*}} : vector<4xf32>
// CHECK: %[[NEXT:.*]] = arith.addf %[[C]], %[[LAST]] : vector<4xf32>
// CHECK: vector.store %[[S]]
// CHECK: scf.yield %[[NEXT]]
func.func @sums(%p: memref<*xf32>, %q: memref<*xf32>) {
  %from = memref.reinterpret_cast %p to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %to = memref.reinterpret_cast %q to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %x = bufferization.to_tensor %from restrict : memref<64xf32, strided<[1]>> to tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg_ext.scan dimension(0) ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%running: f32, %current: f32):
    %n = arith.addf %running, %current : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %s in writable %to : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  return
}
