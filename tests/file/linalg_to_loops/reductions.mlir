// RUN: tilewright-opt %s --linalg-choose-unrolling --linalg-to-loops="vector-bits=512" | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Along the contiguous dimension: four vectors of accumulators per row, one horizontal sum.
// CHECK-LABEL: @rows
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c256 step %c64 iter_args
// CHECK-COUNT-4: arith.addf %{{.*}} : vector<16xf32>
// CHECK: vector.reduction <add>, %{{.*}} fastmath<reassoc> : vector<16xf32> into f32
func.func @rows(%x: memref<*xf32>, %o: memref<*xf32>) {
  %zero = arith.constant 0.0 : f32
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [8, 256], strides: [256, 1] : memref<*xf32> to memref<8x256xf32, strided<[256, 1]>>
  %t = bufferization.to_tensor %rx restrict : memref<8x256xf32, strided<[256, 1]>> to tensor<8x256xf32>
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.reduce ins(%t : tensor<8x256xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    (%in: f32, %init: f32) {
      %0 = arith.addf %in, %init : f32
      linalg.yield %0 : f32
    }
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [8], strides: [1] : memref<*xf32> to memref<8xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<8xf32>, memref<8xf32, strided<[1]>>) -> ()
  return
}

// Along the other dimension: accumulators lie side by side, nothing is horizontal.
// CHECK-LABEL: @columns
// CHECK: scf.for %{{.*}} = %c0 to %c256 step %c64 {
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1 iter_args
// CHECK-COUNT-4: arith.maximumf %{{.*}} : vector<16xf32>
// CHECK-NOT: vector.reduction
// CHECK: return
func.func @columns(%x: memref<*xf32>, %o: memref<*xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [8, 256], strides: [256, 1] : memref<*xf32> to memref<8x256xf32, strided<[256, 1]>>
  %t = bufferization.to_tensor %rx restrict : memref<8x256xf32, strided<[256, 1]>> to tensor<8x256xf32>
  %e = tensor.empty() : tensor<256xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<256xf32>) -> tensor<256xf32>
  %r = linalg.reduce ins(%t : tensor<8x256xf32>) outs(%f : tensor<256xf32>) dimensions = [0]
    (%in: f32, %init: f32) {
      %0 = arith.maximumf %in, %init : f32
      linalg.yield %0 : f32
    }
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [256], strides: [1] : memref<*xf32> to memref<256xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<256xf32>, memref<256xf32, strided<[1]>>) -> ()
  return
}
