// RUN: not tilewright-opt %s --convert-triton-to-tritongpu="target=cuda:90" 2>&1 | filecheck %s
// RUN: tilewright-opt %s --triton-to-linalg | filecheck %s --check-prefix=CPU

// Official Triton's conversion fails here, too; the CPU has scalars.
// CHECK: 'tt.splat': tensors without dimensions have no layout: use scalars
// CPU-LABEL: func.func @k
// CPU: arith.addf
module {
  tt.func public @k(%p: !tt.ptr<f32>, %x: f32) {
    %0 = tt.splat %x : f32 -> tensor<f32>
    %1 = arith.addf %0, %0 : tensor<f32>
    %2 = tt.unsplat %1 : tensor<f32>
    tt.store %p, %2 : !tt.ptr<f32>
    tt.return
  }
}
