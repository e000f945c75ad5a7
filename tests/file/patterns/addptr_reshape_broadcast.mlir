// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_reshape_broadcast(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>) attributes {noinline = false} {
    %cst = arith.constant dense<8> : tensor<16x8xi32>
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %2 = tt.broadcast %1 : tensor<16x1xi32> -> tensor<16x8xi32>
    %3 = arith.muli %2, %cst : tensor<16x8xi32>
    %4 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %5 = tt.expand_dims %4 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %6 = tt.broadcast %5 : tensor<1x8xi32> -> tensor<16x8xi32>
    %7 = arith.addi %3, %6 : tensor<16x8xi32>
    %8 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<16x8x!tt.ptr<bf16>>
    %9 = tt.addptr %8, %7 : tensor<16x8x!tt.ptr<bf16>>, tensor<16x8xi32>
    %10 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<16x8x!tt.ptr<bf16>>
    %11 = tt.addptr %10, %2 : tensor<16x8x!tt.ptr<bf16>>, tensor<16x8xi32>
    %12 = tt.load %11 : tensor<16x8x!tt.ptr<bf16>>
    tt.store %9, %12 : tensor<16x8x!tt.ptr<bf16>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_reshape_broadcast(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>) attributes {noinline = false} {
//     %0 = tts.make_tptr %arg0 to sizes: [16, 8], strides: [1, 0], offsets: [0, 0], shape: [0, 0], order: [] : <bf16> to tensor<16x8x!tt.ptr<bf16>>
//     %1 = tts.make_tptr %arg1 to sizes: [16, 8], strides: [8, 1], offsets: [0, 0], shape: [0, 0], order: [] : <bf16> to tensor<16x8x!tt.ptr<bf16>>
//     %2 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x8x!tt.ptr<bf16>>) -> tensor<16x8xbf16>
//     "tts.store"(%1, %2) <{static_mask_dims = array<i64>}> : (tensor<16x8x!tt.ptr<bf16>>, tensor<16x8xbf16>) -> ()
//     tt.return
//   }
// }
