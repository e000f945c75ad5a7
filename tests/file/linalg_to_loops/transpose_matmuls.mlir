// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-select-microkernels --linalg-transpose-matmuls | filecheck %s
// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-select-microkernels --linalg-transpose-matmuls --linalg-pack-operands --linalg-to-loops | filecheck %s --check-prefix=LOOPS
// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-select-microkernels --linalg-transpose-matmuls --remarks 2>&1 | filecheck %s --check-prefix=NOTE

// The columns of B adjoin, and the loop does not change A.
// CHECK-LABEL: @scores
// CHECK: %[[Q:.*]] = bufferization.to_tensor %{{.*}} to tensor<32x64xf32>
// CHECK-NEXT: tensor.empty() : tensor<64x32xf32>
// CHECK-NEXT: %[[QT:.*]] = linalg.transpose ins(%[[Q]] : tensor<32x64xf32>)
// CHECK: scf.for
// CHECK: %[[KT:.*]] = linalg.transpose ins(%{{.*}} : tensor<16x64xf32>)
// CHECK: %[[K:.*]] = linalg.transpose ins(%[[KT]] : tensor<64x16xf32>)
// CHECK: %[[Z:.*]] = linalg.transpose ins(%{{.*}} : tensor<32x16xf32>)
// CHECK: %[[ST:.*]] = linalg.matmul {microkernel.matmul = {accumulator = "f32", columns = 1024 : i64, element = "f32", rows = 1024 : i64}} ins(%[[K]], %[[QT]] : tensor<16x64xf32>, tensor<64x32xf32>) outs(%[[Z]] : tensor<16x32xf32>)
// CHECK: %[[S:.*]] = linalg.transpose ins(%[[ST]] : tensor<16x32xf32>)
// CHECK: linalg.reduce ins(%[[S]] :
// LOOPS-LABEL: @scores
// LOOPS: call @tw_mk_panels_f32_f32_
// LOOPS: scf.for
// LOOPS: call @tw_mk_f32_f32_{{.*}}_zero_panels
func.func @scores(%p: memref<*xf32>, %q: memref<*xf32>, %r: memref<*xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %e = tensor.empty() : tensor<32x16xf32>
  %t = tensor.empty() : tensor<64x16xf32>
  %m = tensor.empty() : tensor<32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%m : tensor<32xf32>) -> tensor<32xf32>
  %vq = memref.reinterpret_cast %p to offset: [0], sizes: [32, 64], strides: [64, 1] : memref<*xf32> to memref<32x64xf32, strided<[64, 1]>>
  %lhs = bufferization.to_tensor %vq restrict : memref<32x64xf32, strided<[64, 1]>> to tensor<32x64xf32>
  %sums = scf.for %i = %c0 to %n step %c16 iter_args(%acc = %start) -> (tensor<32xf32>) {
    %o = arith.muli %i, %c16 : index
    %vk = memref.reinterpret_cast %q to offset: [%o], sizes: [16, 64], strides: [64, 1] : memref<*xf32> to memref<16x64xf32, strided<[64, 1], offset: ?>>
    %k = bufferization.to_tensor %vk restrict : memref<16x64xf32, strided<[64, 1], offset: ?>> to tensor<16x64xf32>
    %kt = linalg.transpose ins(%k : tensor<16x64xf32>) outs(%t : tensor<64x16xf32>) permutation = [1, 0]
    %s = linalg.matmul ins(%lhs, %kt : tensor<32x64xf32>, tensor<64x16xf32>) outs(%z : tensor<32x16xf32>) -> tensor<32x16xf32>
    %next = linalg.reduce ins(%s : tensor<32x16xf32>) outs(%acc : tensor<32xf32>) dimensions = [1]
      (%in: f32, %init: f32) {
        %0 = arith.addf %in, %init : f32
        linalg.yield %0 : f32
      }
    scf.yield %next : tensor<32xf32>
  }
  %v = memref.reinterpret_cast %r to offset: [0], sizes: [32], strides: [1] : memref<*xf32> to memref<32xf32, strided<[1]>>
  bufferization.materialize_in_destination %sums in writable %v : (tensor<32xf32>, memref<32xf32, strided<[1]>>) -> ()
  return
}

// Not where the result is stored by rows; without a loop nothing is gained.
// NOTE: 'linalg.matmul': it is not computed as its transpose: something reads its result by rows
// NOTE-NOT: remark
// CHECK-LABEL: @stored
// CHECK: scf.for
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: bufferization.materialize_in_destination
// CHECK: linalg.matmul
// CHECK-NEXT: bufferization.materialize_in_destination
func.func @stored(%p: memref<*xf32>, %q: memref<*xf32>, %r: memref<*xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<32x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %va = memref.reinterpret_cast %p to offset: [0], sizes: [32, 64], strides: [64, 1] : memref<*xf32> to memref<32x64xf32, strided<[64, 1]>>
  %vb = memref.reinterpret_cast %q to offset: [0], sizes: [64, 16], strides: [1, 64] : memref<*xf32> to memref<64x16xf32, strided<[1, 64]>>
  %v = memref.reinterpret_cast %r to offset: [0], sizes: [32, 16], strides: [16, 1] : memref<*xf32> to memref<32x16xf32, strided<[16, 1]>>
  %a = bufferization.to_tensor %va restrict : memref<32x64xf32, strided<[64, 1]>> to tensor<32x64xf32>
  %b = bufferization.to_tensor %vb restrict : memref<64x16xf32, strided<[1, 64]>> to tensor<64x16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %s = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x16xf32>) outs(%z : tensor<32x16xf32>) -> tensor<32x16xf32>
    bufferization.materialize_in_destination %s in writable %v : (tensor<32x16xf32>, memref<32x16xf32, strided<[16, 1]>>) -> ()
  }
  %s = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x16xf32>) outs(%z : tensor<32x16xf32>) -> tensor<32x16xf32>
  bufferization.materialize_in_destination %s in writable %v : (tensor<32x16xf32>, memref<32x16xf32, strided<[16, 1]>>) -> ()
  return
}
