// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_add_value(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<64> : tensor<4x1xi32>
    %0 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %2 = arith.muli %1, %cst : tensor<4x1xi32>
    %3 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %5 = tt.broadcast %2 : tensor<4x1xi32> -> tensor<4x64xi32>
    %6 = tt.broadcast %4 : tensor<1x64xi32> -> tensor<4x64xi32>
    %7 = arith.addi %5, %6 : tensor<4x64xi32>
    %8 = tt.splat %arg2 : i32 -> tensor<4x64xi32>
    %9 = arith.addi %7, %8 : tensor<4x64xi32>
    %10 = tt.splat %arg3 : i32 -> tensor<4x64xi32>
    %11 = arith.addi %9, %10 : tensor<4x64xi32>
    %12 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<4x64x!tt.ptr<bf16>>
    %13 = tt.addptr %12, %11 : tensor<4x64x!tt.ptr<bf16>>, tensor<4x64xi32>
    %14 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<4x64x!tt.ptr<bf16>>
    %15 = tt.addptr %14, %11 : tensor<4x64x!tt.ptr<bf16>>, tensor<4x64xi32>
    %16 = tt.load %15 : tensor<4x64x!tt.ptr<bf16>>
    tt.store %13, %16 : tensor<4x64x!tt.ptr<bf16>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_add_value(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %0 = arith.index_cast %arg3 : i32 to index
//     %1 = arith.index_cast %arg2 : i32 to index
//     %2 = arith.addi %0, %1 : index
//     %3 = tts.make_tptr %arg0 to sizes: [4, 64], strides: [64, 1], offsets: [%2, 0], shape: [0, 0], order: [] : <bf16> to tensor<4x64x!tt.ptr<bf16>>
//     %4 = tts.make_tptr %arg1 to sizes: [4, 64], strides: [64, 1], offsets: [%2, 0], shape: [0, 0], order: [] : <bf16> to tensor<4x64x!tt.ptr<bf16>>
//     %5 = "tts.load"(%3) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<4x64x!tt.ptr<bf16>>) -> tensor<4x64xbf16>
//     "tts.store"(%4, %5) <{static_mask_dims = array<i64>}> : (tensor<4x64x!tt.ptr<bf16>>, tensor<4x64xbf16>) -> ()
//     tt.return
//   }
// }
