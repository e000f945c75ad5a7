// RUN: tilewright-opt %s --linalg-to-loops="vector-bits=256" | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Eight vectors along the rows, 3 rounds of 8 shuffles, no gather.
// CHECK-LABEL: @add_one
// CHECK-NOT: vector.gather
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c8
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c8
// CHECK-COUNT-8: vector.load
// CHECK-COUNT-24: vector.shuffle
// CHECK-COUNT-8: vector.store
// CHECK-NOT: vector.gather
func.func @add_one(%x: memref<*xf32>, %o: memref<*xf32>) attributes {tilewright.noalias} {
  %one = arith.constant 1.0 : f32
  %xv = memref.reinterpret_cast %x to offset: [0], sizes: [32, 32], strides: [1, 512] : memref<*xf32> to memref<32x32xf32, strided<[1, 512]>>
  %ov = memref.reinterpret_cast %o to offset: [0], sizes: [32, 32], strides: [512, 1] : memref<*xf32> to memref<32x32xf32, strided<[512, 1]>>
  %a = memref.alloc() : memref<32x32xf32>
  memref.copy %xv, %a : memref<32x32xf32, strided<[1, 512]>> to memref<32x32xf32>
  %t = bufferization.to_tensor %a restrict writable : memref<32x32xf32> to tensor<32x32xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<32x32xf32>) outs(%t : tensor<32x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %one : f32
    linalg.yield %s : f32
  } -> tensor<32x32xf32>
  bufferization.materialize_in_destination %r in writable %ov : (tensor<32x32xf32>, memref<32x32xf32, strided<[512, 1]>>) -> ()
  return
}

// Four rows make no block.
// CHECK-LABEL: @few_rows
// CHECK-NOT: vector.shuffle
// CHECK: vector.gather
// CHECK-NOT: vector.shuffle
func.func @few_rows(%x: memref<*xf32>, %o: memref<*xf32>) attributes {tilewright.noalias} {
  %one = arith.constant 1.0 : f32
  %xv = memref.reinterpret_cast %x to offset: [0], sizes: [4, 32], strides: [1, 512] : memref<*xf32> to memref<4x32xf32, strided<[1, 512]>>
  %ov = memref.reinterpret_cast %o to offset: [0], sizes: [4, 32], strides: [512, 1] : memref<*xf32> to memref<4x32xf32, strided<[512, 1]>>
  %a = memref.alloc() : memref<4x32xf32>
  memref.copy %xv, %a : memref<4x32xf32, strided<[1, 512]>> to memref<4x32xf32>
  %t = bufferization.to_tensor %a restrict writable : memref<4x32xf32> to tensor<4x32xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<4x32xf32>) outs(%t : tensor<4x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %one : f32
    linalg.yield %s : f32
  } -> tensor<4x32xf32>
  bufferization.materialize_in_destination %r in writable %ov : (tensor<4x32xf32>, memref<4x32xf32, strided<[512, 1]>>) -> ()
  return
}
