// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @tensor_indices_loop_iterarg_with_masks(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<4> : tensor<16xi32>
    %cst_0 = arith.constant dense<3> : tensor<16xi32>
    %cst_1 = arith.constant dense<-5.000000e+00> : tensor<16xf32>
    %c1_i32 = arith.constant 1 : i32
    %c2_i32 = arith.constant 2 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1:2 = scf.for %arg3 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg4 = %0, %arg5 = %0) -> (tensor<16xi32>, tensor<16xi32>)  : i32 {
      %2 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %3 = tt.addptr %2, %arg5 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %4 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %5 = tt.addptr %4, %arg4 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %6 = tt.splat %arg2 : i32 -> tensor<16xi32>
      %7 = arith.cmpi slt, %arg4, %6 : tensor<16xi32>
      %8 = tt.load %5, %7, %cst_1 : tensor<16x!tt.ptr<f32>>
      %9 = arith.addi %arg2, %c2_i32 : i32
      %10 = tt.splat %9 : i32 -> tensor<16xi32>
      %11 = arith.cmpi slt, %arg5, %10 : tensor<16xi32>
      tt.store %3, %8, %11 : tensor<16x!tt.ptr<f32>>
      %12 = arith.addi %arg4, %cst_0 : tensor<16xi32>
      %13 = arith.addi %arg5, %cst : tensor<16xi32>
      scf.yield %12, %13 : tensor<16xi32>, tensor<16xi32>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @tensor_indices_loop_iterarg_with_masks(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %c0_i32 = arith.constant 0 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %cst = arith.constant -5.000000e+00 : f32
//     %c4 = arith.constant 4 : index
//     %c3 = arith.constant 3 : index
//     %c0 = arith.constant 0 : index
//     %c16 = arith.constant 16 : index
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1:2 = scf.for %arg3 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg4 = %c0, %arg5 = %c0) -> (index, index)  : i32 {
//       %2 = tts.make_tptr %arg0 to sizes: [16], strides: [1], offsets: [%arg4], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//       %3 = arith.addi %arg4, %c16 : index
//       %4 = arith.minsi %3, %0 : index
//       %5 = arith.maxsi %4, %arg4 : index
//       %6 = arith.subi %5, %arg4 : index
//       %7 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [%arg5], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//       %8 = arith.addi %arg5, %c16 : index
//       %9 = arith.addi %arg4, %c3 : index
//       %10 = arith.addi %arg5, %c4 : index
//       %11 = "tts.load"(%2, %6, %cst) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<16x!tt.ptr<f32>>, index, f32) -> tensor<16xf32>
//       %12 = arith.addi %arg2, %c2_i32 : i32
//       %13 = arith.index_cast %12 : i32 to index
//       %14 = arith.minsi %8, %13 : index
//       %15 = arith.maxsi %14, %arg5 : index
//       %16 = arith.subi %15, %arg5 : index
//       "tts.store"(%7, %11, %16) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, index) -> ()
//       scf.yield %9, %10 : index, index
//     }
//     tt.return
//   }
// }
