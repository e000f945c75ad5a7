// RUN: tilewright-opt %s --linalg-to-loops="vector-bits=512" | filecheck %s

#id = affine_map<(d0) -> (d0)>

// Lanes in front of the limit run in a loop without the comparison, the others in one with it.
// CHECK-LABEL: @where_before
// CHECK: arith.andi %{{.*}}, %c-16 : index
// CHECK: scf.for %{{.*}} = %c0 to %[[FRONT:.*]] step %c16 {
// CHECK-NOT: arith.cmpi
// CHECK: vector.store
// CHECK: scf.for %{{.*}} = %[[FRONT]] to %c128 step %c16 {
// CHECK: arith.cmpi slt
// CHECK: vector.store
// CHECK: return
func.func @where_before(%x: memref<*xf32>, %o: memref<*xf32>, %start: i32, %n: i32) {
  %low = arith.constant 0xFF800000 : f32
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [128], strides: [1] : memref<*xf32> to memref<128xf32, strided<[1]>>
  %t = bufferization.to_tensor %rx restrict : memref<128xf32, strided<[1]>> to tensor<128xf32>
  %e = tensor.empty() : tensor<128xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%t : tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %lane = arith.index_cast %i : index to i32
    %at = arith.addi %lane, %start : i32
    %before = arith.cmpi slt, %at, %n : i32
    %v = arith.select %before, %in, %low : f32
    linalg.yield %v : f32
  } -> tensor<128xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [128], strides: [1] : memref<*xf32> to memref<128xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<128xf32>, memref<128xf32, strided<[1]>>) -> ()
  return
}
