// RUN: tilewright-opt %s --linalg-to-loops | filecheck %s

// Division of affine maps rounds down and `mod` is never negative, below zero too.

// CHECK-LABEL: func.func @divided
// CHECK: arith.floordivsi
// CHECK-NOT: arith.divui
func.func @divided(%x: memref<*xf32>, %y: memref<*xf32>) {
  %a = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : memref<*xf32> to memref<16xf32>
  %b = memref.reinterpret_cast %y to offset: [0], sizes: [16], strides: [1] : memref<*xf32> to memref<16xf32>
  %v = bufferization.to_tensor %a restrict : memref<16xf32> to tensor<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> ((d0 - 3) floordiv 2 + 2)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]} ins(%v : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<16xf32>
  bufferization.materialize_in_destination %r in writable %b : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @rounded_up
// CHECK: arith.ceildivsi
func.func @rounded_up(%x: memref<*xf32>, %y: memref<*xf32>) {
  %a = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : memref<*xf32> to memref<16xf32>
  %b = memref.reinterpret_cast %y to offset: [0], sizes: [16], strides: [1] : memref<*xf32> to memref<16xf32>
  %v = bufferization.to_tensor %a restrict : memref<16xf32> to tensor<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 ceildiv 2)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]} ins(%v : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<16xf32>
  bufferization.materialize_in_destination %r in writable %b : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @remainders
// CHECK: %[[Q:.*]] = arith.floordivsi
// CHECK: %[[P:.*]] = arith.muli %[[Q]]
// CHECK: arith.subi {{.*}}, %[[P]]
func.func @remainders(%x: memref<*xf32>, %y: memref<*xf32>) {
  %a = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : memref<*xf32> to memref<16xf32>
  %b = memref.reinterpret_cast %y to offset: [0], sizes: [16], strides: [1] : memref<*xf32> to memref<16xf32>
  %v = bufferization.to_tensor %a restrict : memref<16xf32> to tensor<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> ((d0 - 5) mod 16)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]} ins(%v : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<16xf32>
  bufferization.materialize_in_destination %r in writable %b : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}
