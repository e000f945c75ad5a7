// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_mul_value_const(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<2> : tensor<64xi32>
    %c3_i32 = arith.constant 3 : i32
    %0 = arith.muli %arg2, %c3_i32 : i32
    %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %2 = arith.muli %1, %cst : tensor<64xi32>
    %3 = tt.splat %0 : i32 -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %6 = tt.addptr %5, %4 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %7 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %8 = tt.addptr %7, %4 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %9 = tt.load %8 : tensor<64x!tt.ptr<bf16>>
    tt.store %6, %9 : tensor<64x!tt.ptr<bf16>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_mul_value_const(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: i32) attributes {noinline = false} {
//     %c3_i32 = arith.constant 3 : i32
//     %0 = arith.muli %arg2, %c3_i32 : i32
//     %1 = arith.index_cast %0 : i32 to index
//     %2 = tts.make_tptr %arg0 to sizes: [64], strides: [2], offsets: [%1], shape: [0], order: [] : <bf16> to tensor<64x!tt.ptr<bf16>>
//     %3 = tts.make_tptr %arg1 to sizes: [64], strides: [2], offsets: [%1], shape: [0], order: [] : <bf16> to tensor<64x!tt.ptr<bf16>>
//     %4 = "tts.load"(%2) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<bf16>>) -> tensor<64xbf16>
//     "tts.store"(%3, %4) <{static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<bf16>>, tensor<64xbf16>) -> ()
//     tt.return
//   }
// }
