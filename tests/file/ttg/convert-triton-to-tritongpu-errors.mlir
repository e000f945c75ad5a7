// RUN: not tilewright-opt %s --convert-triton-to-tritongpu 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not tilewright-opt %s --convert-triton-to-tritongpu="target=tpu" 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not tilewright-opt %s --convert-triton-to-tritongpu="target=cuda:80 num-warps=3" 2>&1 | filecheck %s --check-prefix=WARPS
// RUN: not tilewright-opt %s --convert-triton-to-tritongpu="target=cuda:80 num-warps=8" 2>&1 | filecheck %s --check-prefix=STATED
// RUN: not tilewright-opt %s --convert-triton-to-tritongpu="target=cuda:80" 2>&1 | filecheck %s --check-prefix=BLOCK
// RUN: not tilewright-opt %s --relayout-tritongpu --convert-triton-to-tritongpu="target=cuda:80 num-ctas=32" 2>&1 | filecheck %s --check-prefix=CTAS

// NONE: error: pass convert-triton-to-tritongpu{{.*}}requires 'target' option to be specified
// UNKNOWN: convert-triton-to-tritongpu-errors.mlir:{{.*}}unknown target 'tpu'; expected cuda:CAPABILITY
// WARPS: num-warps must be a power of two up to 32, got 3
// STATED: the module states ttg.num-warps = 4, the options 8
// BLOCK: convert-triton-to-tritongpu-errors.mlir:{{.*}}'tt.make_tensor_ptr': block pointers are rewritten before
// CTAS: num-ctas must be a power of two up to 16, got 32

module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @k(%p: !tt.ptr<f32>, %n: i64, %s: i32) {
    %c1 = arith.constant 1 : i64
    %b = tt.make_tensor_ptr %p, [%n], [%c1], [%s] {order = array<i32: 0>} : <tensor<64xf32>>
    %x = tt.load %b : !tt.ptr<tensor<64xf32>>
    tt.return
  }
}
