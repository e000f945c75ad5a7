// RUN: tilewright-opt %s --forward-loads | filecheck %s

// A masked load reads in place: a box of memory, padded with `other`.
// CHECK-LABEL: @masked
// CHECK-NOT: memref.alloc
// CHECK: %[[S:.*]] = memref.subview %{{.*}}[0] [%{{.*}}] [1]
// CHECK-NOT: memref.copy
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[S]] restrict : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
// CHECK: %[[P:.*]] = tensor.pad %[[T]] low[0] high[%{{.*}}]
// CHECK: tensor.yield %{{.*}} : f32
// CHECK: linalg.generic
func.func @masked(%x: memref<*xf32>, %o: memref<*xf32>, %n: index, %other: f32) {
  %c64 = arith.constant 64 : index
  %rx = memref.reinterpret_cast %x to offset: [%n], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %b = memref.alloc() : memref<64xf32>
  %part = arith.cmpi slt, %n, %c64 : index
  scf.if %part {
    linalg.fill ins(%other : f32) outs(%b : memref<64xf32>)
  }
  %s = memref.subview %rx[0] [%n] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %d = memref.subview %b[0] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
  memref.copy %s, %d : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
  %t = bufferization.to_tensor %b restrict writable : memref<64xf32> to tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : tensor<64xf32>) outs(%t : tensor<64xf32>) {
  ^bb0(%a: f32, %c: f32):
    %z = arith.addf %a, %a : f32
    linalg.yield %z : f32
  } -> tensor<64xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  return
}

// A store that may alias lies between the load and its use: the copy stays.
// CHECK-LABEL: @disturbed
// CHECK: memref.alloc
// CHECK: memref.copy
func.func @disturbed(%x: memref<*xf32>, %o: memref<*xf32>, %v: tensor<64xf32>) {
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %b = memref.alloc() : memref<64xf32>
  memref.copy %rx, %b : memref<64xf32, strided<[1]>> to memref<64xf32>
  %t = bufferization.to_tensor %b restrict writable : memref<64xf32> to tensor<64xf32>
  bufferization.materialize_in_destination %v in writable %ro : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  bufferization.materialize_in_destination %t in writable %ro : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  return
}

// The same where the arguments are known to be disjoint: no copy.
// CHECK-LABEL: @disjoint
// CHECK-NOT: memref.copy
// CHECK: return
func.func @disjoint(%x: memref<*xf32>, %o: memref<*xf32>, %v: tensor<64xf32>) attributes {tilewright.noalias} {
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %b = memref.alloc() : memref<64xf32>
  memref.copy %rx, %b : memref<64xf32, strided<[1]>> to memref<64xf32>
  %t = bufferization.to_tensor %b restrict writable : memref<64xf32> to tensor<64xf32>
  bufferization.materialize_in_destination %v in writable %ro : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  bufferization.materialize_in_destination %t in writable %ro : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  return
}
