// RUN: tilewright-opt %s --linalg-to-loops="vector-bits=512" | filecheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>

// Rows of a few vectors: whether the front is all of a row is asked once, in front of the loop over them.
// CHECK-LABEL: @where_before
// CHECK: arith.andi %{{.*}}, %c-16 : index
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c16 {
// CHECK-NOT: arith.cmpi
// CHECK: vector.store
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c16 {
// CHECK: arith.cmpi slt
// CHECK: vector.store
// CHECK: return
func.func @where_before(%x: memref<*xf32>, %o: memref<*xf32>, %start: i32, %n: i32) {
  %low = arith.constant 0xFF800000 : f32
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [32, 64], strides: [64, 1] : memref<*xf32> to memref<32x64xf32, strided<[64, 1]>>
  %t = bufferization.to_tensor %rx restrict : memref<32x64xf32, strided<[64, 1]>> to tensor<32x64xf32>
  %e = tensor.empty() : tensor<32x64xf32>
  %r = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %lane = arith.index_cast %i : index to i32
    %at = arith.addi %lane, %start : i32
    %before = arith.cmpi slt, %at, %n : i32
    %v = arith.select %before, %in, %low : f32
    linalg.yield %v : f32
  } -> tensor<32x64xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [32, 64], strides: [64, 1] : memref<*xf32> to memref<32x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<32x64xf32>, memref<32x64xf32, strided<[64, 1]>>) -> ()
  return
}

// A limit on the rows, whose vectors lie across them: one test, too.
// CHECK-LABEL: @rows_before
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %{{.*}}, %c32 : index
// CHECK: scf.if %[[WHOLE]] {
// CHECK-NOT: arith.cmpi
// CHECK: vector.store
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1 {
// CHECK: arith.cmpi slt
// CHECK: vector.store
// CHECK: return
func.func @rows_before(%x: memref<*xf32>, %o: memref<*xf32>, %start: i32, %n: i32) {
  %low = arith.constant 0xFF800000 : f32
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [32, 64], strides: [64, 1] : memref<*xf32> to memref<32x64xf32, strided<[64, 1]>>
  %t = bufferization.to_tensor %rx restrict : memref<32x64xf32, strided<[64, 1]>> to tensor<32x64xf32>
  %e = tensor.empty() : tensor<32x64xf32>
  %r = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %row = arith.index_cast %i : index to i32
    %at = arith.addi %row, %start : i32
    %before = arith.cmpi slt, %at, %n : i32
    %v = arith.select %before, %in, %low : f32
    linalg.yield %v : f32
  } -> tensor<32x64xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [32, 64], strides: [64, 1] : memref<*xf32> to memref<32x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<32x64xf32>, memref<32x64xf32, strided<[64, 1]>>) -> ()
  return
}
