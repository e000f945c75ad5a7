// Scratch depends on layouts; a module that has none is told what to do.
// RUN: not tilewright-opt %s --allocate-shared-memory 2>&1 | filecheck %s

// CHECK: pass allocate-shared-memory, 'tt.gather': its tensors need layouts, tensor<32xf32> has none: run convert-triton-to-tritongpu first
// CHECK-NOT: internal error
tt.func public @f(%x: tensor<32xf32>, %i: tensor<32xi32>) -> tensor<32xf32> {
  %y = tt.gather %x[%i] {axis = 0 : i32} : (tensor<32xf32>, tensor<32xi32>) -> tensor<32xf32>
  tt.return %y : tensor<32xf32>
}
