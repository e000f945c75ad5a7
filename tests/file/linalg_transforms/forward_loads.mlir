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

// Rows from computed places, each contiguous along the first dimension: the buffer lies as they do.
// CHECK-LABEL: @gathered_columns
// CHECK: %[[M:.*]] = memref.alloc() : memref<8x32xf32>
// CHECK: %[[B:.*]] = memref.reinterpret_cast %[[M]] to offset: [0], sizes: [32, 8], strides: [1, 32]
// CHECK: memref.subview %[[B]][0, %{{.*}}] [32, 1] [1, 1] : memref<32x8xf32, strided<[1, 32]>> to
// CHECK: bufferization.to_tensor %[[B]]
func.func @gathered_columns(%x: memref<*xf32>, %o: memref<32x8xf32>, %places: tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c96 = arith.constant 96 : index
  %b = memref.alloc() : memref<32x8xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %e = tensor.extract %places[%i] : tensor<8xi32>
    %p = arith.index_cast %e : i32 to index
    %at = arith.muli %p, %c96 : index
    %row = memref.reinterpret_cast %x to offset: [%at], sizes: [32, 1], strides: [1, 96] : memref<*xf32> to memref<32x1xf32, strided<[1, 96], offset: ?>>
    %s = memref.subview %b[0, %i] [32, 1] [1, 1] : memref<32x8xf32> to memref<32x1xf32, strided<[8, 1], offset: ?>>
    memref.copy %row, %s : memref<32x1xf32, strided<[1, 96], offset: ?>> to memref<32x1xf32, strided<[8, 1], offset: ?>>
  }
  %t = bufferization.to_tensor %b restrict writable : memref<32x8xf32> to tensor<32x8xf32>
  bufferization.materialize_in_destination %t in writable %o : (tensor<32x8xf32>, memref<32x8xf32>) -> ()
  return
}

// Rows along the last dimension: nothing to change.
// CHECK-LABEL: @gathered_rows
// CHECK: memref.alloc() : memref<8x32xf32>
// CHECK-NOT: strides: [1, 8]
// CHECK: return
func.func @gathered_rows(%x: memref<*xf32>, %o: memref<8x32xf32>, %places: tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %b = memref.alloc() : memref<8x32xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %e = tensor.extract %places[%i] : tensor<8xi32>
    %at = arith.index_cast %e : i32 to index
    %row = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 32], strides: [96, 1] : memref<*xf32> to memref<1x32xf32, strided<[96, 1], offset: ?>>
    %s = memref.subview %b[%i, 0] [1, 32] [1, 1] : memref<8x32xf32> to memref<1x32xf32, strided<[32, 1], offset: ?>>
    memref.copy %row, %s : memref<1x32xf32, strided<[96, 1], offset: ?>> to memref<1x32xf32, strided<[32, 1], offset: ?>>
  }
  %t = bufferization.to_tensor %b restrict writable : memref<8x32xf32> to tensor<8x32xf32>
  bufferization.materialize_in_destination %t in writable %o : (tensor<8x32xf32>, memref<8x32xf32>) -> ()
  return
}
