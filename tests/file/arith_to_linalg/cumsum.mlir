// triton-shared's ttx.cumsum is read, printed and lowered as the scan that it is.
// RUN: tilewright-opt %s --verify-roundtrip | filecheck %s
// RUN: tilewright-opt %s --triton-arith-to-linalg --verify-each | filecheck %s --check-prefix=LINALG
// RUN: tilewright-opt %s --triton-to-linalg --check-stage=linalg | mlir-opt
// RUN: not tilewright-opt %s --tritongpu-coalesce 2>&1 | filecheck %s --check-prefix=STAGE

// STAGE: the pass takes modules of stage 'ttg', this is one of stage 'structured'
// CHECK: ttx.cumsum {axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1>} ins(%arg0 : tensor<4x64xf32>) outs(%{{.*}} : tensor<4x64xf32>) -> tensor<4x64xf32>
// LINALG-LABEL: @rows
// LINALG: scf.for
// LINALG: linalg.generic
// LINALG: arith.addf
func.func @rows(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %0 = ttx.cumsum {axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1>} ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

// LINALG-LABEL: @counts
// LINALG: scf.for
// LINALG: arith.addi
// LINALG-NOT: ttx
func.func @counts(%x: tensor<64xi32>) -> tensor<64xi32> {
  %e = tensor.empty() : tensor<64xi32>
  %0 = ttx.cumsum {axis = 0 : ui32, operandSegmentSizes = array<i32: 1, 1>} ins(%x : tensor<64xi32>) outs(%e : tensor<64xi32>) -> tensor<64xi32>
  return %0 : tensor<64xi32>
}

// LINALG-LABEL: @in_triton
// LINALG: arith.addf
tt.func @in_triton(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = ttx.cumsum {axis = 0 : ui32, operandSegmentSizes = array<i32: 1, 1>} ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  tt.return %0 : tensor<8xf32>
}
