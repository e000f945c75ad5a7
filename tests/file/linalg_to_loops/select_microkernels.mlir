// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-select-microkernels | filecheck %s
// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-select-microkernels | tilewright-opt - --mlir-print-op-generic | tilewright-opt - | filecheck %s

// Up to four rows have kernels of their own; up to sixteen, one that turns to these.
// CHECK-LABEL: @few_rows
// CHECK: linalg.matmul {microkernel.matmul = {accumulator = "f32", columns = 1024 : i64, element = "bf16", for_few_rows = true, rows = 4 : i64}}
// CHECK: linalg.batch_matmul {microkernel.matmul = {accumulator = "f64", columns = 1024 : i64, element = "f64", rows = 16 : i64}}
// CHECK: linalg.matmul {microkernel.matmul = {accumulator = "i32", columns = 1024 : i64, element = "i8", rows = 1024 : i64}}
func.func @few_rows(%a: tensor<3x32xbf16>, %b: tensor<32x64xbf16>, %c: tensor<3x64xf32>,
                    %d: tensor<2x8x8xf64>, %e: tensor<2x32xi8>, %f: tensor<32x2xi8>, %g: tensor<2x2xi32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<3x32xbf16>, tensor<32x64xbf16>) outs(%c : tensor<3x64xf32>) -> tensor<3x64xf32>
  %1 = linalg.batch_matmul ins(%d, %d : tensor<2x8x8xf64>, tensor<2x8x8xf64>) outs(%d : tensor<2x8x8xf64>) -> tensor<2x8x8xf64>
  %2 = linalg.matmul ins(%e, %f : tensor<2x32xi8>, tensor<32x2xi8>) outs(%g : tensor<2x2xi32>) -> tensor<2x2xi32>
  return
}

// Types that no micro-kernel multiplies.
// CHECK-LABEL: @other_types
// CHECK-NOT: microkernel
func.func @other_types(%a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %c: tensor<32x32xf16>,
                       %d: tensor<8x8xi32>, %e: tensor<8x8xf32>, %f: tensor<8x8xbf16>) {
  %0 = linalg.matmul ins(%a, %b : tensor<32x32xf16>, tensor<32x32xf16>) outs(%c : tensor<32x32xf16>) -> tensor<32x32xf16>
  %1 = linalg.matmul ins(%d, %d : tensor<8x8xi32>, tensor<8x8xi32>) outs(%d : tensor<8x8xi32>) -> tensor<8x8xi32>
  %2 = linalg.matmul ins(%e, %f : tensor<8x8xf32>, tensor<8x8xbf16>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}
