// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_chain(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %arg0, %arg5 = %arg1) -> (!tt.ptr<f32>, !tt.ptr<f32>)  : i32 {
      %2 = tt.addptr %arg4, %arg3 : !tt.ptr<f32>, i32
      %3 = tt.addptr %arg5, %arg3 : !tt.ptr<f32>, i32
      %4 = tt.addptr %3, %c1_i32 : !tt.ptr<f32>, i32
      %5 = tt.splat %4 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %6 = tt.addptr %5, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %7 = tt.splat %2 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %8 = tt.addptr %7, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %9 = tt.load %8 : tensor<16x!tt.ptr<f32>>
      tt.store %6, %9 : tensor<16x!tt.ptr<f32>>
      scf.yield %2, %4 : !tt.ptr<f32>, !tt.ptr<f32>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_chain(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %c1 = arith.constant 1 : index
//     %c0 = arith.constant 0 : index
//     %c1_i32 = arith.constant 1 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %0:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %c0, %arg5 = %c0) -> (index, index)  : i32 {
//       %1 = arith.index_cast %arg3 : i32 to index
//       %2 = arith.addi %1, %arg4 : index
//       %3 = tts.make_tptr %arg0 to sizes: [16], strides: [1], offsets: [%2], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//       %4 = arith.addi %1, %c1 : index
//       %5 = arith.addi %4, %arg5 : index
//       %6 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [%5], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//       %7 = "tts.load"(%3) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>) -> tensor<16xf32>
//       "tts.store"(%6, %7) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//       scf.yield %2, %5 : index, index
//     }
//     tt.return
//   }
// }
