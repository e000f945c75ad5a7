// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_2d_example(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: !tt.ptr<bf16>, %arg3: i32) attributes {noinline = false} {
    %0 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %2 = tt.expand_dims %0 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %3 = tt.splat %arg3 : i32 -> tensor<4x1xi32>
    %4 = arith.muli %2, %3 : tensor<4x1xi32>
    %5 = tt.expand_dims %1 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %6 = tt.broadcast %4 : tensor<4x1xi32> -> tensor<4x64xi32>
    %7 = tt.broadcast %5 : tensor<1x64xi32> -> tensor<4x64xi32>
    %8 = arith.addi %6, %7 : tensor<4x64xi32>
    %9 = tt.splat %arg2 : !tt.ptr<bf16> -> tensor<4x64x!tt.ptr<bf16>>
    %10 = tt.addptr %9, %8 : tensor<4x64x!tt.ptr<bf16>>, tensor<4x64xi32>
    %11 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<4x64x!tt.ptr<bf16>>
    %12 = tt.addptr %11, %8 : tensor<4x64x!tt.ptr<bf16>>, tensor<4x64xi32>
    %13 = tt.load %12 : tensor<4x64x!tt.ptr<bf16>>
    %14 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<4x64x!tt.ptr<bf16>>
    %15 = tt.addptr %14, %8 : tensor<4x64x!tt.ptr<bf16>>, tensor<4x64xi32>
    %16 = tt.load %15 : tensor<4x64x!tt.ptr<bf16>>
    %17 = arith.addf %13, %16 : tensor<4x64xbf16>
    tt.store %10, %17 : tensor<4x64x!tt.ptr<bf16>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_2d_example(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: !tt.ptr<bf16>, %arg3: i32) attributes {noinline = false} {
//     %0 = arith.index_cast %arg3 : i32 to index
//     %1 = tts.make_tptr %arg0 to sizes: [4, 64], strides: [%0, 1], offsets: [0, 0], shape: [0, 0], order: [] : <bf16> to tensor<4x64x!tt.ptr<bf16>>
//     %2 = tts.make_tptr %arg1 to sizes: [4, 64], strides: [%0, 1], offsets: [0, 0], shape: [0, 0], order: [] : <bf16> to tensor<4x64x!tt.ptr<bf16>>
//     %3 = tts.make_tptr %arg2 to sizes: [4, 64], strides: [%0, 1], offsets: [0, 0], shape: [0, 0], order: [] : <bf16> to tensor<4x64x!tt.ptr<bf16>>
//     %4 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<4x64x!tt.ptr<bf16>>) -> tensor<4x64xbf16>
//     %5 = "tts.load"(%2) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<4x64x!tt.ptr<bf16>>) -> tensor<4x64xbf16>
//     %6 = arith.addf %4, %5 : tensor<4x64xbf16>
//     "tts.store"(%3, %6) <{static_mask_dims = array<i64>}> : (tensor<4x64x!tt.ptr<bf16>>, tensor<4x64xbf16>) -> ()
//     tt.return
//   }
// }
