// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_loopback(%arg0: !tt.ptr<f32>) attributes {noinline = false} {
    %cst = arith.constant dense<1.000000e+00> : tensor<64xf32>
    %c5_i32 = arith.constant 5 : i32
    %0 = tt.addptr %arg0, %c5_i32 : !tt.ptr<f32>, i32
    %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %2 = tt.splat %0 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %4 = tt.load %3 : tensor<64x!tt.ptr<f32>>
    %5 = arith.addf %4, %cst : tensor<64xf32>
    tt.store %3, %5 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_loopback(%arg0: !tt.ptr<f32>) attributes {noinline = false} {
//     %cst = arith.constant dense<1.000000e+00> : tensor<64xf32>
//     %0 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [5], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//     %1 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<f32>>) -> tensor<64xf32>
//     %2 = arith.addf %1, %cst : tensor<64xf32>
//     "tts.store"(%0, %2) <{static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> ()
//     tt.return
//   }
// }
