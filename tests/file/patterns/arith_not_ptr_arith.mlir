// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @arith_not_ptr_arith(%arg0: !tt.ptr<i32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<i32>) attributes {noinline = false} {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg2 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %3 = tt.splat %arg0 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %4 = tt.addptr %3, %0 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %5 = tt.load %4 : tensor<64x!tt.ptr<i32>>
    %6 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %7 = tt.addptr %6, %0 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %8 = tt.load %7 : tensor<64x!tt.ptr<i32>>
    %9 = arith.muli %8, %0 : tensor<64xi32>
    %10 = arith.addi %5, %9 : tensor<64xi32>
    tt.store %2, %10 : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @arith_not_ptr_arith(%arg0: !tt.ptr<i32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<i32>) attributes {noinline = false} {
//     %0 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<64x!tt.ptr<i32>>
//     %1 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<64x!tt.ptr<i32>>
//     %2 = tts.make_tptr %arg2 to sizes: [64], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<64x!tt.ptr<i32>>
//     %3 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %4 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<i32>>) -> tensor<64xi32>
//     %5 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<i32>>) -> tensor<64xi32>
//     %6 = arith.muli %5, %3 : tensor<64xi32>
//     %7 = arith.addi %4, %6 : tensor<64xi32>
//     "tts.store"(%2, %7) <{static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>) -> ()
//     tt.return
//   }
// }
