// RUN: tilewright-opt %s --linalg-choose-unrolling | filecheck %s
// RUN: tilewright-opt %s --linalg-choose-unrolling --linalg-to-loops=vector_bits=256 | filecheck %s --check-prefix=LOOPS

#one = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>

// One sum waits for its accumulator: four of them hide the latency.
// CHECK-LABEL: @one_sum
// CHECK: linalg.generic {{.*}} attrs = {tilewright.unroll = 4 : index}
// LOOPS-LABEL: @one_sum
// LOOPS: step %c32 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// LOOPS-NOT: tilewright.unroll
// LOOPS: return
func.func @one_sum(%x: memref<*xf32>) -> f32 {
  %c0 = arith.constant 0.0 : f32
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<*xf32> to memref<256xf32, strided<[1]>>
  %t = bufferization.to_tensor %xs restrict : memref<256xf32, strided<[1]>> to tensor<256xf32>
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#one, #all], iterator_types = ["reduction"]} ins(%t : tensor<256xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %n = arith.addf %a, %acc : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %r = tensor.extract %s[] : tensor<f32>
  return %r : f32
}

// Two results are two accumulators already: two vectors of each.
// CHECK-LABEL: @two_sums
// CHECK: linalg.generic {{.*}} attrs = {tilewright.unroll = 2 : index}
// LOOPS-LABEL: @two_sums
// LOOPS: step %c16 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// LOOPS: return
func.func @two_sums(%x: memref<*xf32>) -> (f32, f32) {
  %c0 = arith.constant 0.0 : f32
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<*xf32> to memref<256xf32, strided<[1]>>
  %t = bufferization.to_tensor %xs restrict : memref<256xf32, strided<[1]>> to tensor<256xf32>
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s:2 = linalg.generic {indexing_maps = [#one, #all, #all], iterator_types = ["reduction"]} ins(%t : tensor<256xf32>) outs(%z, %z : tensor<f32>, tensor<f32>) {
  ^bb0(%a: f32, %acc: f32, %acc2: f32):
    %n = arith.addf %a, %acc : f32
    %q = arith.mulf %a, %a : f32
    %m = arith.addf %q, %acc2 : f32
    linalg.yield %n, %m : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  %r = tensor.extract %s#0[] : tensor<f32>
  %r2 = tensor.extract %s#1[] : tensor<f32>
  return %r, %r2 : f32, f32
}

// An exponential takes longer than an addition waits; a loop that does not reduce waits for nothing.
// CHECK-LABEL: @left_alone
// CHECK-NOT: tilewright.unroll
// CHECK: return
// LOOPS-LABEL: @left_alone
// LOOPS: step %c8 iter_args({{.*}}) -> (vector<8xf32>)
// LOOPS: return
func.func @left_alone(%x: memref<*xf32>, %o: memref<*xf32>) -> f32 {
  %c0 = arith.constant 0.0 : f32
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<*xf32> to memref<256xf32, strided<[1]>>
  %t = bufferization.to_tensor %xs restrict : memref<256xf32, strided<[1]>> to tensor<256xf32>
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#one, #all], iterator_types = ["reduction"]} ins(%t : tensor<256xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %p = math.exp %a : f32
    %n = arith.addf %p, %acc : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %f = tensor.empty() : tensor<256xf32>
  %u = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%t : tensor<256xf32>) outs(%f : tensor<256xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<256xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [256], strides: [1] : memref<*xf32> to memref<256xf32, strided<[1]>>
  bufferization.materialize_in_destination %u in restrict writable %os : (tensor<256xf32>, memref<256xf32, strided<[1]>>) -> ()
  %r = tensor.extract %s[] : tensor<f32>
  return %r : f32
}

// A choice that stands there already is left, and carried out as far as the loop has so many vectors.
// CHECK-LABEL: @by_hand
// CHECK: attrs = {tilewright.unroll = 2 : index}
// CHECK: attrs = {tilewright.unroll = 16 : index}
// LOOPS-LABEL: @by_hand
// LOOPS: step %c16 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>)
// LOOPS: scf.yield
// LOOPS-NOT: scf.for
// LOOPS-COUNT-4: vector.load {{.*}} vector<8xf32>
// LOOPS-NOT: vector.load
// LOOPS: return
func.func @by_hand(%x: memref<*xf32>) -> (f32, f32) {
  %c0 = arith.constant 0.0 : f32
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<*xf32> to memref<256xf32, strided<[1]>>
  %t = bufferization.to_tensor %xs restrict : memref<256xf32, strided<[1]>> to tensor<256xf32>
  %ys = memref.reinterpret_cast %x to offset: [0], sizes: [32], strides: [1] : memref<*xf32> to memref<32xf32, strided<[1]>>
  %y = bufferization.to_tensor %ys restrict : memref<32xf32, strided<[1]>> to tensor<32xf32>
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#one, #all], iterator_types = ["reduction"]} ins(%t : tensor<256xf32>) outs(%z : tensor<f32>) attrs = {tilewright.unroll = 2 : index} {
  ^bb0(%a: f32, %acc: f32):
    %n = arith.addf %a, %acc : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %s2 = linalg.generic {indexing_maps = [#one, #all], iterator_types = ["reduction"]} ins(%y : tensor<32xf32>) outs(%z : tensor<f32>) attrs = {tilewright.unroll = 16 : index} {
  ^bb0(%a: f32, %acc: f32):
    %n = arith.addf %a, %acc : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %r = tensor.extract %s[] : tensor<f32>
  %r2 = tensor.extract %s2[] : tensor<f32>
  return %r, %r2 : f32, f32
}
