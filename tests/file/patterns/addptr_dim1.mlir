// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_dim1(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<1x64xf32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %2 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %cst) -> (tensor<1x64xf32>)  : i32 {
      %5 = arith.muli %arg4, %arg3 : i32
      %6 = tt.addptr %arg0, %5 : !tt.ptr<f32>, i32
      %7 = tt.splat %6 : !tt.ptr<f32> -> tensor<1x64x!tt.ptr<f32>>
      %8 = tt.addptr %7, %1 : tensor<1x64x!tt.ptr<f32>>, tensor<1x64xi32>
      %9 = tt.load %8 : tensor<1x64x!tt.ptr<f32>>
      %10 = arith.addf %arg5, %9 : tensor<1x64xf32>
      scf.yield %10 : tensor<1x64xf32>
    }
    %3 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<1x64x!tt.ptr<f32>>
    %4 = tt.addptr %3, %1 : tensor<1x64x!tt.ptr<f32>>, tensor<1x64xi32>
    tt.store %4, %2 : tensor<1x64x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_dim1(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %cst = arith.constant dense<0.000000e+00> : tensor<1x64xf32>
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %0 = tts.make_tptr %arg1 to sizes: [1, 64], strides: [0, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<1x64x!tt.ptr<f32>>
//     %1 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %cst) -> (tensor<1x64xf32>)  : i32 {
//       %2 = arith.muli %arg4, %arg3 : i32
//       %3 = arith.index_cast %2 : i32 to index
//       %4 = tts.make_tptr %arg0 to sizes: [1, 64], strides: [0, 1], offsets: [0, %3], shape: [0, 0], order: [] : <f32> to tensor<1x64x!tt.ptr<f32>>
//       %5 = "tts.load"(%4) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<1x64x!tt.ptr<f32>>) -> tensor<1x64xf32>
//       %6 = arith.addf %arg5, %5 : tensor<1x64xf32>
//       scf.yield %6 : tensor<1x64xf32>
//     }
//     "tts.store"(%0, %1) <{static_mask_dims = array<i64>}> : (tensor<1x64x!tt.ptr<f32>>, tensor<1x64xf32>) -> ()
//     tt.return
//   }
// }
