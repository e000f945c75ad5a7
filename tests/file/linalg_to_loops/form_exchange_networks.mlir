// RUN: tilewright-opt %s --linalg-form-exchange-networks | filecheck %s
// RUN: tilewright-opt %s --linalg-form-exchange-networks | tilewright-opt - --mlir-print-op-generic | tilewright-opt - | filecheck %s
// RUN: tilewright-opt %s --linalg-form-exchange-networks --linalg-to-loops="vector-bits=128" | filecheck %s --check-prefix=LOOPS

#pair = affine_map<(d0, d1) -> (d0, d1)>
#left = affine_map<(d0, d1) -> (d0)>
#left1 = affine_map<(d0) -> (d0)>

// The sum of four neighbours, pair by pair. What others read of it is a reshape, which follows.
// CHECK-LABEL: @sums_of_four
// CHECK: %[[P:.*]] = tensor.expand_shape
// CHECK: %[[N:.*]] = linalg_ext.exchange_network {
// CHECK-NEXT: %[[A:.*]] = linalg.reduce { arith.addf } ins(%[[P]] : tensor<32x2xf32>)
// CHECK-NEXT: %[[Q:.*]] = tensor.expand_shape %[[A]]
// CHECK-NEXT: %[[B:.*]] = linalg.reduce { arith.addf } ins(%[[Q]] : tensor<16x2xf32>)
// CHECK-NEXT: linalg.yield %[[B]] : tensor<16xf32>
// CHECK-NEXT: } -> tensor<16xf32>
// CHECK-NEXT: %[[T:.*]] = tensor.expand_shape %[[N]] {{.*}} into tensor<4x4xf32>
// CHECK: bufferization.materialize_in_destination %[[T]]
// LOOPS-LABEL: @sums_of_four
// LOOPS-COUNT-2: vector.shuffle
// LOOPS-NOT: linalg_ext
func.func @sums_of_four(%p: memref<*xf32>, %q: memref<*xf32>) {
  %zero = arith.constant 0.000000e+00 : f32
  %from = memref.reinterpret_cast %p to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %to = memref.reinterpret_cast %q to offset: [0], sizes: [4, 4], strides: [4, 1] : memref<*xf32> to memref<4x4xf32, strided<[4, 1]>>
  %x = bufferization.to_tensor %from restrict : memref<64xf32, strided<[1]>> to tensor<64xf32>
  %e = tensor.empty() : tensor<32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %f = tensor.empty() : tensor<16xf32>
  %y = linalg.fill ins(%zero : f32) outs(%f : tensor<16xf32>) -> tensor<16xf32>
  %pairs = tensor.expand_shape %x [[0, 1]] output_shape [32, 2] : tensor<64xf32> into tensor<32x2xf32>
  %twos = linalg.reduce { arith.addf } ins(%pairs : tensor<32x2xf32>) outs(%z : tensor<32xf32>) dimensions = [1]
  %again = tensor.expand_shape %twos [[0, 1]] output_shape [16, 2] : tensor<32xf32> into tensor<16x2xf32>
  %fours = linalg.reduce { arith.addf } ins(%again : tensor<16x2xf32>) outs(%y : tensor<16xf32>) dimensions = [1]
  %tile = tensor.expand_shape %fours [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  bufferization.materialize_in_destination %tile in writable %to : (tensor<4x4xf32>, memref<4x4xf32, strided<[4, 1]>>) -> ()
  return
}

// One exchange is no chain, and three elements are no pair.
// CHECK-LABEL: @left_alone
// CHECK-NOT: exchange_network
func.func @left_alone(%p: memref<*xf32>, %q: memref<*xf32>) {
  %zero = arith.constant 0.000000e+00 : f32
  %from = memref.reinterpret_cast %p to offset: [0], sizes: [32, 2], strides: [2, 1] : memref<*xf32> to memref<32x2xf32, strided<[2, 1]>>
  %more = memref.reinterpret_cast %p to offset: [0], sizes: [32, 3], strides: [3, 1] : memref<*xf32> to memref<32x3xf32, strided<[3, 1]>>
  %to = memref.reinterpret_cast %q to offset: [0], sizes: [32], strides: [1] : memref<*xf32> to memref<32xf32, strided<[1]>>
  %x = bufferization.to_tensor %from restrict : memref<32x2xf32, strided<[2, 1]>> to tensor<32x2xf32>
  %v = bufferization.to_tensor %more restrict : memref<32x3xf32, strided<[3, 1]>> to tensor<32x3xf32>
  %e = tensor.empty() : tensor<32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %a = linalg.reduce { arith.addf } ins(%x : tensor<32x2xf32>) outs(%z : tensor<32xf32>) dimensions = [1]
  %b = linalg.reduce { arith.addf } ins(%v : tensor<32x3xf32>) outs(%a : tensor<32xf32>) dimensions = [1]
  bufferization.materialize_in_destination %b in writable %to : (tensor<32xf32>, memref<32xf32, strided<[1]>>) -> ()
  return
}

// Sums of pairs that do not read one another are no chain: each is a loop of its own, with lanes where both adjoin.
// CHECK-LABEL: @side_by_side
// CHECK-NOT: exchange_network
func.func @side_by_side(%p: memref<*xf32>, %q: memref<*xf32>) {
  %zero = arith.constant 0.000000e+00 : f32
  %from = memref.reinterpret_cast %p to offset: [0], sizes: [2, 32], strides: [32, 1] : memref<*xf32> to memref<2x32xf32, strided<[32, 1]>>
  %more = memref.reinterpret_cast %p to offset: [64], sizes: [2, 32], strides: [32, 1] : memref<*xf32> to memref<2x32xf32, strided<[32, 1], offset: 64>>
  %to = memref.reinterpret_cast %q to offset: [0], sizes: [32], strides: [1] : memref<*xf32> to memref<32xf32, strided<[1]>>
  %x = bufferization.to_tensor %from restrict : memref<2x32xf32, strided<[32, 1]>> to tensor<2x32xf32>
  %y = bufferization.to_tensor %more restrict : memref<2x32xf32, strided<[32, 1], offset: 64>> to tensor<2x32xf32>
  %e = tensor.empty() : tensor<32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %a = linalg.reduce { arith.addf } ins(%x : tensor<2x32xf32>) outs(%z : tensor<32xf32>) dimensions = [0]
  %b = linalg.reduce { arith.addf } ins(%y : tensor<2x32xf32>) outs(%z : tensor<32xf32>) dimensions = [0]
  %c = linalg.generic {indexing_maps = [#left1, #left1, #left1], iterator_types = ["parallel"]} ins(%a, %b : tensor<32xf32>, tensor<32xf32>) outs(%e : tensor<32xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %s = arith.mulf %l, %r : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>
  bufferization.materialize_in_destination %c in writable %to : (tensor<32xf32>, memref<32xf32, strided<[1]>>) -> ()
  return
}
