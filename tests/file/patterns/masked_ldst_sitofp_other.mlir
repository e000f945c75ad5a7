// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @masked_ldst_sitofp_other(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<64> : tensor<64xi32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %3 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %4 = tt.addptr %3, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %5 = tt.splat %arg2 : i32 -> tensor<64xi32>
    %6 = arith.cmpi slt, %0, %5 : tensor<64xi32>
    %7 = tt.splat %arg3 : i32 -> tensor<64xi32>
    %8 = arith.sitofp %7 : tensor<64xi32> to tensor<64xf32>
    %9 = tt.load %4, %6, %8 : tensor<64x!tt.ptr<f32>>
    %10 = arith.cmpi slt, %0, %cst : tensor<64xi32>
    tt.store %2, %9, %10 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @masked_ldst_sitofp_other(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %c0 = arith.constant 0 : index
//     %c64 = arith.constant 64 : index
//     %0 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//     %1 = arith.index_cast %arg2 : i32 to index
//     %2 = arith.minsi %1, %c64 : index
//     %3 = arith.maxsi %2, %c0 : index
//     %4 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//     %5 = arith.sitofp %arg3 : i32 to f32
//     %6 = "tts.load"(%0, %3, %5) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index, f32) -> tensor<64xf32>
//     "tts.store"(%4, %6) <{static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> ()
//     tt.return
//   }
// }
