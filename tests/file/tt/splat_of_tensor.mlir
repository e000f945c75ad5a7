// A splat of what a tensor without dimensions holds: Triton's texts have it, no front end makes it.
// RUN: tilewright-opt %s --canonicalize | filecheck %s
// RUN: tilewright-opt %s --triton-arith-to-linalg | filecheck %s --check-prefix=LINALG

// CHECK-LABEL: @widens
// CHECK: tt.splat %{{.*}} : tensor<f32> -> tensor<1x8xf32>
// LINALG: %[[SCALAR:.*]] = tensor.extract %{{.*}}[] : tensor<f32>
// LINALG: linalg.fill ins(%[[SCALAR]] : f32)
tt.func @widens(%arg0: tensor<f32>) -> tensor<1x8xf32> {
  %0 = tt.splat %arg0 : tensor<f32> -> tensor<8xf32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  tt.return %1 : tensor<1x8xf32>
}
