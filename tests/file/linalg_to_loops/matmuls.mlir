// RUN: tilewright-opt %s --linalg-select-microkernels | filecheck %s
// RUN: tilewright-opt %s --linalg-select-microkernels --linalg-to-loops | filecheck %s --check-prefix=LOOPS
// RUN: tilewright-opt %s --linalg-to-loops | filecheck %s --check-prefix=PLAIN

// Whole blocks: as many rows and columns as there are. Unmarked, a matmul is a nest.
// CHECK-LABEL: @whole_blocks
// CHECK: linalg.matmul {microkernel.matmul = {accumulator = "f32", columns = 1024 : i64, element = "f32", rows = 1024 : i64}} ins(
// LOOPS-LABEL: @whole_blocks
// LOOPS: call @tw_mk_f32_f32_1024x1024(
// LOOPS: return
// LOOPS: func.func private @tw_mk_f32_f32_1024x1024({{.*}}) attributes {microkernel.matmul = {accumulator = "f32", columns = 1024 : i64, element = "f32", rows = 1024 : i64}}
// PLAIN-LABEL: @whole_blocks
// PLAIN-NOT: call
// PLAIN: scf.for
// PLAIN: scf.for
// PLAIN: return
func.func @whole_blocks(%p: memref<*xf32>, %q: memref<*xf32>) {
  %a = memref.reinterpret_cast %p to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<*xf32> to memref<32x32xf32, strided<[32, 1]>>
  %c = memref.reinterpret_cast %q to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<*xf32> to memref<32x32xf32, strided<[32, 1]>>
  %x = bufferization.to_tensor %a restrict : memref<32x32xf32, strided<[32, 1]>> to tensor<32x32xf32>
  %d = linalg.matmul ins(%x, %x : tensor<32x32xf32>, tensor<32x32xf32>) outs(%x : tensor<32x32xf32>) -> tensor<32x32xf32>
  bufferization.materialize_in_destination %d in writable %c : (tensor<32x32xf32>, memref<32x32xf32, strided<[32, 1]>>) -> ()
  return
}
