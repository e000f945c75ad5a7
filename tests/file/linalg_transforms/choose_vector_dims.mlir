// RUN: tilewright-opt %s --linalg-choose-vector-dims | filecheck %s
// RUN: tilewright-opt %s --linalg-choose-vector-dims --linalg-choose-unrolling --linalg-to-loops=vector_bits=256 | filecheck %s --check-prefix=LOOPS

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// Rows are contiguous: lanes go along the reduction, whose loop is the inner one.
// CHECK-LABEL: @sums_of_rows
// CHECK: linalg.generic {{.*}} attrs = {tilewright.vector_dim = 1 : index}
// LOOPS-LABEL: @sums_of_rows
// LOOPS: scf.for %{{.*}} = %c0 to %c8 step %c1
// LOOPS: scf.for %{{.*}} = %c0 to %c64 step %c32
// LOOPS: vector.load %{{.*}} : memref<?xf32>, vector<8xf32>
// LOOPS-NOT: vector_dim
// LOOPS: return
func.func @sums_of_rows(%x: memref<*xf32>, %o: memref<*xf32>) {
  %c0 = arith.constant 0.0 : f32
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [8, 64], strides: [64, 1] : memref<*xf32> to memref<8x64xf32, strided<[64, 1]>>
  %t = bufferization.to_tensor %xs restrict : memref<8x64xf32, strided<[64, 1]>> to tensor<8x64xf32>
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<8x64xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %n = arith.addf %a, %acc : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [8], strides: [1] : memref<*xf32> to memref<8xf32, strided<[1]>>
  bufferization.materialize_in_destination %s in restrict writable %os : (tensor<8xf32>, memref<8xf32, strided<[1]>>) -> ()
  return
}

// Columns are: lanes go along the results, and the reduction is inside.
// CHECK-LABEL: @sums_of_columns
// CHECK: linalg.generic {{.*}} attrs = {tilewright.vector_dim = 0 : index}
// LOOPS-LABEL: @sums_of_columns
// LOOPS: scf.for %{{.*}} = %c0 to %c64 step %c1 iter_args({{.*}}) -> (vector<8xf32>)
// LOOPS: return
func.func @sums_of_columns(%x: memref<*xf32>, %o: memref<*xf32>) {
  %c0 = arith.constant 0.0 : f32
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [8, 64], strides: [1, 8] : memref<*xf32> to memref<8x64xf32, strided<[1, 8]>>
  %t = bufferization.to_tensor %xs restrict : memref<8x64xf32, strided<[1, 8]>> to tensor<8x64xf32>
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<8x64xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %n = arith.addf %a, %acc : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [8], strides: [1] : memref<*xf32> to memref<8xf32, strided<[1]>>
  bufferization.materialize_in_destination %s in restrict writable %os : (tensor<8xf32>, memref<8xf32, strided<[1]>>) -> ()
  return
}

// A choice that stands there already is left, and carried out: lanes along the first dimension.
// CHECK-LABEL: @by_hand
// CHECK: linalg.generic {{.*}} attrs = {tilewright.vector_dim = 0 : index}
// LOOPS-LABEL: @by_hand
// LOOPS: scf.for %{{.*}} = %c0 to %c8 step
// LOOPS: scf.for %{{.*}} = %c0 to %c16 step %c8
// LOOPS-NOT: vector_dim
// LOOPS: return
func.func @by_hand(%x: memref<*xf32>, %o: memref<*xf32>) {
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [16, 8], strides: [8, 1] : memref<*xf32> to memref<16x8xf32, strided<[8, 1]>>
  %t = bufferization.to_tensor %xs restrict : memref<16x8xf32, strided<[8, 1]>> to tensor<16x8xf32>
  %e = tensor.empty() : tensor<16x8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<16x8xf32>) outs(%e : tensor<16x8xf32>) attrs = {tilewright.vector_dim = 0 : index} {
  ^bb0(%a: f32, %old: f32):
    %n = math.exp %a : f32
    linalg.yield %n : f32
  } -> tensor<16x8xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [16, 8], strides: [8, 1] : memref<*xf32> to memref<16x8xf32, strided<[8, 1]>>
  bufferization.materialize_in_destination %s in restrict writable %os : (tensor<16x8xf32>, memref<16x8xf32, strided<[8, 1]>>) -> ()
  return
}

// Nothing to choose in one loop; nothing known of a slice, whose memory is assigned later.
// CHECK-LABEL: @no_choice
// CHECK-NOT: vector_dim
// CHECK: return
// LOOPS-LABEL: @no_choice
func.func @no_choice(%x: memref<*xf32>, %o: memref<*xf32>) {
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [32, 64], strides: [64, 1] : memref<*xf32> to memref<32x64xf32, strided<[64, 1]>>
  %big = bufferization.to_tensor %xs restrict : memref<32x64xf32, strided<[64, 1]>> to tensor<32x64xf32>
  %part = tensor.extract_slice %big[0, 0] [16, 64] [1, 1] : tensor<32x64xf32> to tensor<16x64xf32>
  %f = tensor.empty() : tensor<16x64xf32>
  %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%part : tensor<16x64xf32>) outs(%f : tensor<16x64xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = math.exp %a : f32
    linalg.yield %n : f32
  } -> tensor<16x64xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [16, 64], strides: [64, 1] : memref<*xf32> to memref<16x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %u in restrict writable %os : (tensor<16x64xf32>, memref<16x64xf32, strided<[64, 1]>>) -> ()
  %rs = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %row = bufferization.to_tensor %rs restrict : memref<64xf32, strided<[1]>> to tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%row : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = math.exp %a : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  %ps = memref.reinterpret_cast %o to offset: [1024], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: 1024>>
  bufferization.materialize_in_destination %s in restrict writable %ps : (tensor<64xf32>, memref<64xf32, strided<[1], offset: 1024>>) -> ()
  return
}

// Lanes cannot be combined by a difference, whatever is asked for: they go along the results.
// CHECK-LABEL: @not_associative
// CHECK: attrs = {tilewright.vector_dim = 1 : index}
// LOOPS-LABEL: @not_associative
// LOOPS: scf.for %{{.*}} = %c0 to %c64 step %c1 iter_args({{.*}}) -> (vector<8xf32>)
// LOOPS: return
func.func @not_associative(%x: memref<*xf32>, %o: memref<*xf32>) {
  %c0 = arith.constant 0.0 : f32
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [8, 64], strides: [64, 1] : memref<*xf32> to memref<8x64xf32, strided<[64, 1]>>
  %t = bufferization.to_tensor %xs restrict : memref<8x64xf32, strided<[64, 1]>> to tensor<8x64xf32>
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<8x64xf32>) outs(%z : tensor<8xf32>) attrs = {tilewright.vector_dim = 1 : index} {
  ^bb0(%a: f32, %acc: f32):
    %n = arith.subf %a, %acc : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [8], strides: [1] : memref<*xf32> to memref<8xf32, strided<[1]>>
  bufferization.materialize_in_destination %s in restrict writable %os : (tensor<8xf32>, memref<8xf32, strided<[1]>>) -> ()
  return
}
