// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_for_expand_ptr(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<2> : tensor<16xi32>
    %cst_0 = arith.constant dense<4> : tensor<16x1xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<4> : tensor<16xi32>
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = arith.muli %0, %cst_1 : tensor<16xi32>
    %2 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %4 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %3) -> (tensor<16x!tt.ptr<f32>>)  : i32 {
      %5 = tt.expand_dims %arg4 {axis = 1 : i32} : tensor<16x!tt.ptr<f32>> -> tensor<16x1x!tt.ptr<f32>>
      %6 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
      %7 = tt.expand_dims %6 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
      %8 = tt.broadcast %5 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x4x!tt.ptr<f32>>
      %9 = tt.broadcast %7 : tensor<1x4xi32> -> tensor<16x4xi32>
      %10 = tt.addptr %8, %9 : tensor<16x4x!tt.ptr<f32>>, tensor<16x4xi32>
      %11 = tt.addptr %arg1, %arg3 : !tt.ptr<f32>, i32
      %12 = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %13 = arith.muli %12, %cst_0 : tensor<16x1xi32>
      %14 = tt.splat %11 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
      %15 = tt.addptr %14, %13 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
      %16 = tt.broadcast %15 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x4x!tt.ptr<f32>>
      %17 = tt.addptr %16, %9 : tensor<16x4x!tt.ptr<f32>>, tensor<16x4xi32>
      %18 = tt.load %10 : tensor<16x4x!tt.ptr<f32>>
      tt.store %17, %18 : tensor<16x4x!tt.ptr<f32>>
      %19 = tt.addptr %arg4, %cst : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      scf.yield %19 : tensor<16x!tt.ptr<f32>>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_for_expand_ptr(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %c0 = arith.constant 0 : index
//     %c2 = arith.constant 2 : index
//     %c1_i32 = arith.constant 1 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %0 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %c0) -> (index)  : i32 {
//       %1 = tts.make_tptr %arg0 to sizes: [16, 4], strides: [4, 1], offsets: [%arg4, 0], shape: [0, 0], order: [] : <f32> to tensor<16x4x!tt.ptr<f32>>
//       %2 = arith.index_cast %arg3 : i32 to index
//       %3 = tts.make_tptr %arg1 to sizes: [16, 4], strides: [4, 1], offsets: [%2, 0], shape: [0, 0], order: [] : <f32> to tensor<16x4x!tt.ptr<f32>>
//       %4 = arith.addi %arg4, %c2 : index
//       %5 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x4x!tt.ptr<f32>>) -> tensor<16x4xf32>
//       "tts.store"(%3, %5) <{static_mask_dims = array<i64>}> : (tensor<16x4x!tt.ptr<f32>>, tensor<16x4xf32>) -> ()
//       scf.yield %4 : index
//     }
//     tt.return
//   }
// }
