// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_mul_const_const(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>) attributes {noinline = false} {
    %c12_i32 = arith.constant 12 : i32
    %cst = arith.constant dense<16> : tensor<64xi32>
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c12_i32 : i32
    %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %3 = tt.splat %1 : i32 -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = arith.addi %4, %cst : tensor<64xi32>
    %6 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %7 = tt.addptr %6, %5 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %8 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %9 = tt.addptr %8, %5 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %10 = tt.load %9 : tensor<64x!tt.ptr<bf16>>
    tt.store %7, %10 : tensor<64x!tt.ptr<bf16>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_mul_const_const(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>) attributes {noinline = false} {
//     %c16 = arith.constant 16 : index
//     %c12_i32 = arith.constant 12 : i32
//     %0 = tt.get_program_id x : i32
//     %1 = arith.muli %0, %c12_i32 : i32
//     %2 = arith.index_cast %1 : i32 to index
//     %3 = arith.addi %2, %c16 : index
//     %4 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%3], shape: [0], order: [] : <bf16> to tensor<64x!tt.ptr<bf16>>
//     %5 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [%3], shape: [0], order: [] : <bf16> to tensor<64x!tt.ptr<bf16>>
//     %6 = "tts.load"(%4) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<bf16>>) -> tensor<64xbf16>
//     "tts.store"(%5, %6) <{static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<bf16>>, tensor<64xbf16>) -> ()
//     tt.return
//   }
// }
