// Expected diagnostics are compared, and what has none is printed all the same, as upstream does.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @kept
tt.func @kept() {
  tt.return
}

// -----

tt.func @wrong(%a: tensor<8xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{number of src and dst elements}}
  %0 = tt.reshape %a : tensor<8xi32> -> tensor<4xi32>
  tt.return %0 : tensor<4xi32>
}
