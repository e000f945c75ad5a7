// RUN: tilewright-opt %s --linalg-to-loops="vector-bits=512" | filecheck %s

#id = affine_map<(d0) -> (d0)>

// Lanes 3 and on of rows of 24: segments of one quotient, each with whole vectors and a masked one. Where the first
// index is not negative, they are divided without signs.
// CHECK-LABEL: @rows_of_24
// CHECK: %[[POSITIVE:.*]] = arith.cmpi sge, %{{.*}}, %c0_i32 : i32
// CHECK: scf.if %[[POSITIVE]] {
// CHECK: arith.divui %{{.*}}, %c24_i32 : i32
// CHECK: } else {
// CHECK: scf.while (%[[I:.*]] = %c0)
// CHECK: scf.condition(%{{.*}}) %[[I]] : index
// CHECK: ^bb0(%[[START:.*]]: index):
// CHECK: %[[Q:.*]] = arith.divsi %{{.*}}, %c24_i32 : i32
// CHECK: %[[END:.*]] = arith.minsi %c128, %{{.*}} : index
// CHECK: scf.for %{{.*}} = %[[START]] to %[[FULL:.*]] step %c16 {
// CHECK-NOT: vector.gather
// CHECK: vector.load
// CHECK: scf.for %{{.*}} = %[[FULL]] to %[[END]] step %c16 {
// CHECK-NOT: vector.gather
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK: scf.yield %[[END]] : index
// CHECK: return
func.func @rows_of_24(%x: memref<*xf32>, %o: memref<*xf32>, %start: i32) {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : i32
  %c100 = arith.constant 100 : i32
  %e = tensor.empty() : tensor<128xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<128xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %lane = arith.index_cast %i : index to i32
    %at = arith.addi %lane, %start : i32
    %row = arith.divsi %at, %c24 : i32
    %col = arith.remsi %at, %c24 : i32
    %first = arith.muli %row, %c100 : i32
    %place = arith.addi %first, %col : i32
    %offset = arith.index_cast %place : i32 to index
    %p = memref.reinterpret_cast %x to offset: [%offset], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
    %v = memref.load %p[%c0] : memref<1xf32, strided<[1], offset: ?>>
    linalg.yield %v : f32
  } -> tensor<128xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [128], strides: [1] : memref<*xf32> to memref<128xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<128xf32>, memref<128xf32, strided<[1]>>) -> ()
  return
}

// Rows of three are too short: as many segments as there are rows would cost more than a gather.
// CHECK-LABEL: @rows_of_3
// CHECK-NOT: scf.while
// CHECK: vector.gather
// CHECK: return
func.func @rows_of_3(%x: memref<*xf32>, %o: memref<*xf32>, %start: i32) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : i32
  %e = tensor.empty() : tensor<128xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<128xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %lane = arith.index_cast %i : index to i32
    %row = arith.divsi %lane, %c3 : i32
    %offset = arith.index_cast %row : i32 to index
    %p = memref.reinterpret_cast %x to offset: [%offset], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
    %v = memref.load %p[%c0] : memref<1xf32, strided<[1], offset: ?>>
    linalg.yield %v : f32
  } -> tensor<128xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [128], strides: [1] : memref<*xf32> to memref<128xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<128xf32>, memref<128xf32, strided<[1]>>) -> ()
  return
}

// Columns of rows of 96, rows in images of 28: the quotient by 2688 is one of the first, and ends no segment of its own.
// CHECK-LABEL: @rows_of_images
// CHECK: %[[ROW:.*]] = arith.divui %{{.*}}, %c96_i32 : i32
// CHECK: arith.minsi
// CHECK-NOT: arith.minsi
// CHECK: arith.divui %[[ROW]], %c28_i32{{.*}} : i32
// CHECK: scf.for
// CHECK: return
func.func @rows_of_images(%x: memref<*xf32>, %o: memref<*xf32>, %start: i32) {
  %c0 = arith.constant 0 : index
  %c96 = arith.constant 96 : i32
  %c100 = arith.constant 100 : i32
  %c2688 = arith.constant 2688 : i32
  %c5000 = arith.constant 5000 : i32
  %e = tensor.empty() : tensor<128xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<128xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %lane = arith.index_cast %i : index to i32
    %at = arith.addi %lane, %start : i32
    %image = arith.divsi %at, %c2688 : i32
    %row = arith.divsi %at, %c96 : i32
    %col = arith.remsi %at, %c96 : i32
    %first = arith.muli %row, %c100 : i32
    %base = arith.muli %image, %c5000 : i32
    %some = arith.addi %first, %base : i32
    %place = arith.addi %some, %col : i32
    %offset = arith.index_cast %place : i32 to index
    %p = memref.reinterpret_cast %x to offset: [%offset], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
    %v = memref.load %p[%c0] : memref<1xf32, strided<[1], offset: ?>>
    linalg.yield %v : f32
  } -> tensor<128xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [128], strides: [1] : memref<*xf32> to memref<128xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<128xf32>, memref<128xf32, strided<[1]>>) -> ()
  return
}
