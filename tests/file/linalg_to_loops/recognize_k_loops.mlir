// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-select-microkernels --linalg-recognize-k-loops | filecheck %s
// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-select-microkernels --linalg-recognize-k-loops --linalg-bufferize-function-boundaries --linalg-to-loops | filecheck %s --check-prefix=LOOPS
// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-select-microkernels --linalg-recognize-k-loops --remarks 2>&1 | filecheck %s --check-prefix=NOTE

// The views of the steps must adjoin: each starts 32 columns of A, 32 rows of B after the one before.
// CHECK-LABEL: @whole_blocks
// CHECK-DAG: %[[A:.*]] = arith.cmpi eq, %[[DA:.*]], %c32
// CHECK-DAG: %[[ROWS:.*]] = arith.muli %[[SB:.*]], %c32
// CHECK-DAG: %[[B:.*]] = arith.cmpi eq, %[[DB:.*]], %[[ROWS]]
// CHECK: %[[ADJOIN:.*]] = arith.andi %[[A]], %[[B]] : i1
// CHECK: %[[K:.*]] = arith.muli %{{.*}}, %c32
// CHECK: %[[VA:.*]] = memref.reinterpret_cast %{{.*}} sizes: [8, %[[K]]], strides: [64, 1] : memref<*xf32> to memref<8x?xf32
// CHECK: %[[VB:.*]] = memref.reinterpret_cast %{{.*}} sizes: [%[[K]], 16], strides: [%[[SB]], 1] : memref<*xf32> to memref<?x16xf32
// CHECK: scf.if %[[ADJOIN]] -> (tensor<8x16xf32>)
// CHECK-NEXT: %[[D:.*]] = linalg_ext.view_matmul ins(%[[VA]], %[[VB]] : {{.*}}) outs(%{{.*}} : tensor<8x16xf32>) {microkernel.matmul = {{.*}}} -> tensor<8x16xf32>
// CHECK-NEXT: scf.yield %[[D]]
// CHECK: else
// CHECK: scf.for
// CHECK: linalg.matmul
// LOOPS-LABEL: @whole_blocks
// LOOPS: scf.if
// LOOPS: call @tw_mk_f32_f32_16x1024_zero(
// LOOPS: else
// LOOPS: scf.for
// LOOPS: call @tw_mk_f32_f32_16x1024(
func.func @whole_blocks(%p: memref<*xf32>, %q: memref<*xf32>, %r: memref<*xf32>, %trips: index, %da: index, %db: index, %sb: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %c = scf.for %i = %c0 to %trips step %c1 iter_args(%acc = %z) -> (tensor<8x16xf32>) {
    %oa = arith.muli %i, %da : index
    %ob = arith.muli %i, %db : index
    %va = memref.reinterpret_cast %p to offset: [%oa], sizes: [8, 32], strides: [64, 1] : memref<*xf32> to memref<8x32xf32, strided<[64, 1], offset: ?>>
    %vb = memref.reinterpret_cast %q to offset: [%ob], sizes: [32, 16], strides: [%sb, 1] : memref<*xf32> to memref<32x16xf32, strided<[?, 1], offset: ?>>
    %a = bufferization.to_tensor %va restrict : memref<8x32xf32, strided<[64, 1], offset: ?>> to tensor<8x32xf32>
    %b = bufferization.to_tensor %vb restrict : memref<32x16xf32, strided<[?, 1], offset: ?>> to tensor<32x16xf32>
    %next = linalg.matmul ins(%a, %b : tensor<8x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<8x16xf32>) -> tensor<8x16xf32>
    scf.yield %next : tensor<8x16xf32>
  }
  %v = memref.reinterpret_cast %r to offset: [0], sizes: [8, 16], strides: [16, 1] : memref<*xf32> to memref<8x16xf32, strided<[16, 1]>>
  bufferization.materialize_in_destination %c in writable %v : (tensor<8x16xf32>, memref<8x16xf32, strided<[16, 1]>>) -> ()
  return
}

// Both operands end at the same k, and the pointers are carried: the matmul has as many terms as are left at the start,
// but no more than the steps have. B is the transpose of its view.
// CHECK-LABEL: @padded
// CHECK: %[[LEFT:.*]] = arith.minsi %{{.*}}, %{{.*}} : index
// CHECK: %[[K:.*]] = arith.maxsi %[[LEFT]], %{{.*}} : index
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [8, %[[K]]], strides: [%{{.*}}, 1]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [%[[K]], 16], strides: [1, %{{.*}}]
// CHECK: linalg_ext.view_matmul {{.*}} {microkernel.matmul = {{{.*}}transposed_b = true}} -> tensor<8x16xf32>
// CHECK: tensor.pad
// CHECK: linalg.matmul
func.func @padded(%p: memref<*xf32>, %q: memref<*xf32>, %r: memref<*xf32>, %k: index, %lda: index, %ldb: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %e = tensor.empty() : tensor<8x16xf32>
  %t = tensor.empty() : tensor<32x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %c:3 = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %z, %oa = %c0, %ob = %c16) -> (tensor<8x16xf32>, index, index) {
    %rest = arith.subi %k, %i : index
    %low = arith.minsi %rest, %c32 : index
    %size = arith.maxsi %low, %c0 : index
    %fill = arith.subi %c32, %size : index
    %va = memref.reinterpret_cast %p to offset: [%oa], sizes: [8, %size], strides: [%lda, 1] : memref<*xf32> to memref<8x?xf32, strided<[?, 1], offset: ?>>
    %vb = memref.reinterpret_cast %q to offset: [%ob], sizes: [16, %size], strides: [%ldb, 1] : memref<*xf32> to memref<16x?xf32, strided<[?, 1], offset: ?>>
    %ta = bufferization.to_tensor %va restrict : memref<8x?xf32, strided<[?, 1], offset: ?>> to tensor<8x?xf32>
    %tb = bufferization.to_tensor %vb restrict : memref<16x?xf32, strided<[?, 1], offset: ?>> to tensor<16x?xf32>
    %a = tensor.pad %ta low[0, 0] high[0, %fill] {
    ^bb0(%x: index, %y: index):
      tensor.yield %zero : f32
    } : tensor<8x?xf32> to tensor<8x32xf32>
    %b = tensor.pad %tb low[0, 0] high[0, %fill] {
    ^bb0(%x: index, %y: index):
      tensor.yield %zero : f32
    } : tensor<16x?xf32> to tensor<16x32xf32>
    %bt = linalg.transpose ins(%b : tensor<16x32xf32>) outs(%t : tensor<32x16xf32>) permutation = [1, 0]
    %next = linalg.matmul ins(%a, %bt : tensor<8x32xf32>, tensor<32x16xf32>) outs(%acc : tensor<8x16xf32>) -> tensor<8x16xf32>
    %na = arith.addi %oa, %c32 : index
    %nb = arith.addi %ob, %c32 : index
    scf.yield %next, %na, %nb : tensor<8x16xf32>, index, index
  }
  %v = memref.reinterpret_cast %r to offset: [0], sizes: [8, 16], strides: [16, 1] : memref<*xf32> to memref<8x16xf32, strided<[16, 1]>>
  bufferization.materialize_in_destination %c#0 in writable %v : (tensor<8x16xf32>, memref<8x16xf32, strided<[16, 1]>>) -> ()
  return
}

// Others stay: an offset that is not linear, an operand that is computed, a tile that others read in the loop. What was
// looked at before that was known is gone.
// NOTE: 'scf.for': its matmuls are not one: an address in it is not linear in its steps
// NOTE: 'scf.for': its matmuls are not one: an operand is read by others, too
// CHECK-LABEL: @other_loops
// CHECK-NOT: view_matmul
// CHECK-NOT: arith.cmpi
// CHECK: return
func.func @other_loops(%p: memref<*xf32>, %q: memref<*xf32>, %z: tensor<8x8xf32>, %trips: index) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8x8xf32>
  %squares = scf.for %i = %c0 to %trips step %c1 iter_args(%acc = %z) -> (tensor<8x8xf32>) {
    %o = arith.muli %i, %i : index
    %va = memref.reinterpret_cast %p to offset: [%o], sizes: [8, 8], strides: [64, 1] : memref<*xf32> to memref<8x8xf32, strided<[64, 1], offset: ?>>
    %vb = memref.reinterpret_cast %q to offset: [%o], sizes: [8, 8], strides: [64, 1] : memref<*xf32> to memref<8x8xf32, strided<[64, 1], offset: ?>>
    %a = bufferization.to_tensor %va restrict : memref<8x8xf32, strided<[64, 1], offset: ?>> to tensor<8x8xf32>
    %b = bufferization.to_tensor %vb restrict : memref<8x8xf32, strided<[64, 1], offset: ?>> to tensor<8x8xf32>
    %next = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%acc : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  %computed = scf.for %i = %c0 to %trips step %c1 iter_args(%acc = %z) -> (tensor<8x8xf32>) {
    %o = arith.muli %i, %c8 : index
    %vb = memref.reinterpret_cast %q to offset: [%o], sizes: [8, 8], strides: [8, 1] : memref<*xf32> to memref<8x8xf32, strided<[8, 1], offset: ?>>
    %b = bufferization.to_tensor %vb restrict : memref<8x8xf32, strided<[8, 1], offset: ?>> to tensor<8x8xf32>
    %next = linalg.matmul ins(%z, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%acc : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  %read = scf.for %i = %c0 to %trips step %c1 iter_args(%acc = %z) -> (tensor<8x8xf32>) {
    %o = arith.muli %i, %c8 : index
    %va = memref.reinterpret_cast %p to offset: [%o], sizes: [8, 8], strides: [64, 1] : memref<*xf32> to memref<8x8xf32, strided<[64, 1], offset: ?>>
    %a = bufferization.to_tensor %va restrict : memref<8x8xf32, strided<[64, 1], offset: ?>> to tensor<8x8xf32>
    %next = linalg.matmul ins(%a, %acc : tensor<8x8xf32>, tensor<8x8xf32>) outs(%acc : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  return %squares, %computed, %read : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
