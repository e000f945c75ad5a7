// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_scatter_ptr_1d_with_loop(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<4> : tensor<16xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<3> : tensor<16xi32>
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = arith.divsi %0, %cst_0 : tensor<16xi32>
    %2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %1) -> (tensor<16xi32>)  : i32 {
      %3 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %4 = tt.addptr %3, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %5 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %6 = tt.addptr %5, %arg4 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %7 = tt.load %6 : tensor<16x!tt.ptr<f32>>
      %8 = tt.load %4 : tensor<16x!tt.ptr<f32>>
      %9 = arith.addf %7, %8 : tensor<16xf32>
      tt.store %4, %9 : tensor<16x!tt.ptr<f32>>
      %10 = arith.divsi %0, %cst : tensor<16xi32>
      %11 = arith.addi %arg4, %10 : tensor<16xi32>
      scf.yield %11 : tensor<16xi32>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_scatter_ptr_1d_with_loop(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %cst = arith.constant dense<3> : tensor<16xi32>
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %cst_0 = arith.constant dense<4> : tensor<16xi32>
//     %0 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %2 = arith.divsi %1, %cst : tensor<16xi32>
//     %3 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %2) -> (tensor<16xi32>)  : i32 {
//       %4 = tts.make_gather_scatter_tptr %arg0 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %arg4, strides: [1], offsets: [0] : tensor<16xi32> <f32> to !tt.ptr<tensor<16xf32>>
//       %5 = "tts.load"(%4) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<16xf32>>) -> tensor<16xf32>
//       %6 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>) -> tensor<16xf32>
//       %7 = arith.addf %5, %6 : tensor<16xf32>
//       "tts.store"(%0, %7) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//       %8 = arith.divsi %1, %cst_0 : tensor<16xi32>
//       %9 = arith.addi %arg4, %8 : tensor<16xi32>
//       scf.yield %9 : tensor<16xi32>
//     }
//     tt.return
//   }
// }
