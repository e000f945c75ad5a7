// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @masked_ldst_1d(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0x7FC0> : tensor<64xbf16>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %3 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %4 = tt.addptr %3, %0 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %5 = tt.splat %arg2 : i32 -> tensor<64xi32>
    %6 = arith.cmpi slt, %0, %5 : tensor<64xi32>
    %7 = tt.load %4, %6, %cst : tensor<64x!tt.ptr<bf16>>
    tt.store %2, %7, %6 : tensor<64x!tt.ptr<bf16>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @masked_ldst_1d(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: i32) attributes {noinline = false} {
//     %cst = arith.constant 0x7FC0 : bf16
//     %c0 = arith.constant 0 : index
//     %c64 = arith.constant 64 : index
//     %0 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [0], shape: [0], order: [] : <bf16> to tensor<64x!tt.ptr<bf16>>
//     %1 = arith.index_cast %arg2 : i32 to index
//     %2 = arith.minsi %1, %c64 : index
//     %3 = arith.maxsi %2, %c0 : index
//     %4 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [0], shape: [0], order: [] : <bf16> to tensor<64x!tt.ptr<bf16>>
//     %5 = "tts.load"(%0, %3, %cst) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<bf16>>, index, bf16) -> tensor<64xbf16>
//     "tts.store"(%4, %5, %3) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<bf16>>, tensor<64xbf16>, index) -> ()
//     tt.return
//   }
// }
