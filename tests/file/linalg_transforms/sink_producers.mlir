// RUN: tilewright-opt %s --linalg-sink-producers | filecheck %s
// RUN: tilewright-opt %s --linalg-sink-producers --linalg-to-loops="vector-bits=128" | filecheck %s --check-prefix=LOOPS

#id = affine_map<(d0) -> (d0)>

// What is computed from computed tiles passes a store; the slice goes with it, the tile gets no buffer.
// CHECK-LABEL: @past_a_store
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<64xf32>)
// CHECK: bufferization.materialize_in_destination %[[X]]
// CHECK: %[[E:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<64xf32>)
// CHECK: %[[S:.*]] = tensor.extract_slice %[[E]]
// CHECK-NEXT: bufferization.materialize_in_destination %[[S]]
// LOOPS-LABEL: @past_a_store
// LOOPS-COUNT-1: memref.alloca
// LOOPS-NOT: memref.alloca
// LOOPS: return
func.func @past_a_store(%p: memref<*xf32>, %q: memref<*xf32>, %f: f32, %n: index) {
  %a = memref.reinterpret_cast %p to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %b = memref.reinterpret_cast %q to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %part = memref.subview %b[0] [%n] [1] : memref<64xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
  %empty = tensor.empty() : tensor<64xf32>
  %splat = linalg.fill ins(%f : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%splat : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.log %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %s = tensor.extract_slice %e[0] [%n] [1] : tensor<64xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %x in writable %a : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  bufferization.materialize_in_destination %s in writable %part : (tensor<?xf32>, memref<?xf32, strided<[1]>>) -> ()
  return
}

// A loaded tile may lie where is stored to: what reads it stays before the store, but moves past what writes nothing.
// CHECK-LABEL: @loaded
// CHECK: linalg.generic
// CHECK: linalg.yield
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %[[A:.*]] :
// CHECK: bufferization.materialize_in_destination
// CHECK: memref.reinterpret_cast
// CHECK-NEXT: linalg.generic
// CHECK: linalg.yield
// CHECK-NEXT: } -> tensor<64xf32>
// CHECK-NEXT: bufferization.materialize_in_destination
func.func @loaded(%p: memref<*xf32>, %q: memref<*xf32>, %r: memref<*xf32>) {
  %a = memref.reinterpret_cast %p to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %b = memref.reinterpret_cast %q to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %x = bufferization.to_tensor %a restrict : memref<64xf32, strided<[1]>> to tensor<64xf32>
  %empty = tensor.empty() : tensor<64xf32>
  %zero = arith.constant 0.000000e+00 : f32
  %z = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %z in writable %a : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  bufferization.materialize_in_destination %e in writable %b : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  %y = bufferization.to_tensor %b restrict : memref<64xf32, strided<[1]>> to tensor<64xf32>
  %l = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.log %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %c = memref.reinterpret_cast %r to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  bufferization.materialize_in_destination %l in writable %c : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  return
}
