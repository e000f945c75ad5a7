// Element-wise ops before broadcasts and splats.
// RUN: tilewright-opt %s --triton-reorder-broadcast --verify-each | exact %s

tt.func public @k(%x: f32, %y: f32, %v: tensor<32xf32>, %w: tensor<32x1xf32>, %p: !tt.ptr<f32>, %i: i32, %m: tensor<32x1xi1>) -> (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8x!tt.ptr<f32>>, tensor<32x8xf32>, tensor<32x8xf32>) {
  %cst = arith.constant dense<2.0> : tensor<32x8xf32>
  %0 = tt.splat %x : f32 -> tensor<32x8xf32>
  %1 = tt.splat %y : f32 -> tensor<32x8xf32>
  %2 = arith.addf %0, %1 : tensor<32x8xf32>
  %3 = arith.mulf %2, %cst : tensor<32x8xf32>
  %4 = tt.expand_dims %v {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
  %5 = tt.broadcast %4 : tensor<32x1xf32> -> tensor<32x8xf32>
  %6 = tt.broadcast %w : tensor<32x1xf32> -> tensor<32x8xf32>
  %7 = arith.addf %5, %6 : tensor<32x8xf32>
  %8 = arith.mulf %7, %cst : tensor<32x8xf32>
  %9 = tt.splat %p : !tt.ptr<f32> -> tensor<32x8x!tt.ptr<f32>>
  %10 = tt.splat %i : i32 -> tensor<32x8xi32>
  %11 = tt.addptr %9, %10 : tensor<32x8x!tt.ptr<f32>>, tensor<32x8xi32>
  // Broadcast from different shapes: stays.
  %row = tt.expand_dims %v {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
  %part = tt.reshape %row : tensor<1x32xf32> -> tensor<4x8xf32>
  %12 = tt.trans %part {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %13 = tt.reshape %12 : tensor<8x4xf32> -> tensor<32x1xf32>
  %14 = tt.broadcast %13 : tensor<32x1xf32> -> tensor<32x8xf32>
  %15 = tt.broadcast %m : tensor<32x1xi1> -> tensor<32x8xi1>
  %16 = arith.select %15, %14, %0 : tensor<32x8xi1>, tensor<32x8xf32>
  %17 = arith.subf %16, %7 : tensor<32x8xf32>
  tt.return %3, %8, %11, %16, %17 : tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8x!tt.ptr<f32>>, tensor<32x8xf32>, tensor<32x8xf32>
}

// EXACT:
// module {
//   tt.func public @k(%arg0: f32, %arg1: f32, %arg2: tensor<32xf32>, %arg3: tensor<32x1xf32>, %arg4: !tt.ptr<f32>, %arg5: i32, %arg6: tensor<32x1xi1>) -> (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8x!tt.ptr<f32>>, tensor<32x8xf32>, tensor<32x8xf32>) {
//     %cst = arith.constant dense<2.000000e+00> : tensor<32x1xf32>
//     %cst_0 = arith.constant 2.000000e+00 : f32
//     %0 = arith.addf %arg0, %arg1 : f32
//     %1 = arith.mulf %0, %cst_0 : f32
//     %2 = tt.splat %1 : f32 -> tensor<32x8xf32>
//     %3 = tt.expand_dims %arg2 {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
//     %4 = arith.addf %3, %arg3 : tensor<32x1xf32>
//     %5 = arith.mulf %4, %cst : tensor<32x1xf32>
//     %6 = tt.broadcast %5 : tensor<32x1xf32> -> tensor<32x8xf32>
//     %7 = tt.addptr %arg4, %arg5 : !tt.ptr<f32>, i32
//     %8 = tt.splat %7 : !tt.ptr<f32> -> tensor<32x8x!tt.ptr<f32>>
//     %9 = tt.expand_dims %arg2 {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
//     %10 = tt.reshape %9 : tensor<1x32xf32> -> tensor<4x8xf32>
//     %11 = tt.trans %10 {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
//     %12 = tt.reshape %11 : tensor<8x4xf32> -> tensor<32x1xf32>
//     %13 = tt.splat %arg0 : f32 -> tensor<32x1xf32>
//     %14 = arith.select %arg6, %12, %13 : tensor<32x1xi1>, tensor<32x1xf32>
//     %15 = tt.broadcast %14 : tensor<32x1xf32> -> tensor<32x8xf32>
//     %16 = arith.subf %14, %4 : tensor<32x1xf32>
//     %17 = tt.broadcast %16 : tensor<32x1xf32> -> tensor<32x8xf32>
//     tt.return %2, %6, %8, %15, %17 : tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8x!tt.ptr<f32>>, tensor<32x8xf32>, tensor<32x8xf32>
//   }
// }
