// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @block_ptr_complex_offset(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %c16_i64 = arith.constant 16 : i64
    %c8_i64 = arith.constant 8 : i64
    %c1_i64 = arith.constant 1 : i64
    %c64_i64 = arith.constant 64 : i64
    %0 = arith.muli %arg2, %arg3 : i32
    %1 = tt.addptr %arg0, %0 : !tt.ptr<f32>, i32
    %2 = tt.get_program_id x : i32
    %3 = arith.muli %2, %arg2 : i32
    %4 = tt.addptr %1, %3 : !tt.ptr<f32>, i32
    %5 = tt.make_tensor_ptr %4, [%c64_i64, %c64_i64], [%c64_i64, %c1_i64], [%arg2, %arg3] {order = array<i32: 1, 0>} : <tensor<8x16xf32>>
    %6 = tt.make_tensor_ptr %arg1, [%c8_i64, %c16_i64], [%c16_i64, %c1_i64], [%c0_i32, %c0_i32] {order = array<i32: 1, 0>} : <tensor<8x16xf32>>
    %7 = tt.load %5 : !tt.ptr<tensor<8x16xf32>>
    tt.store %6, %7 : !tt.ptr<tensor<8x16xf32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @block_ptr_complex_offset(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %c64 = arith.constant 64 : index
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1 = arith.muli %0, %c64 : index
//     %2 = arith.index_cast %arg3 : i32 to index
//     %3 = tts.make_tptr %arg1 to sizes: [8, 16], strides: [16, 1], offsets: [0, 0], shape: [8, 16], order: [1, 0] : <f32> to !tt.ptr<tensor<8x16xf32>>
//     %4 = arith.muli %arg2, %arg3 : i32
//     %5 = arith.index_cast %4 : i32 to index
//     %6 = arith.addi %1, %5 : index
//     %7 = tt.get_program_id x : i32
//     %8 = arith.muli %7, %arg2 : i32
//     %9 = arith.index_cast %8 : i32 to index
//     %10 = arith.addi %6, %9 : index
//     %11 = tts.make_tptr %arg0 to sizes: [8, 16], strides: [64, 1], offsets: [%10, %2], shape: [64, 64], order: [1, 0] : <f32> to !tt.ptr<tensor<8x16xf32>>
//     %12 = "tts.load"(%11) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<8x16xf32>>) -> tensor<8x16xf32>
//     "tts.store"(%3, %12) <{static_mask_dims = array<i64>}> : (!tt.ptr<tensor<8x16xf32>>, tensor<8x16xf32>) -> ()
//     tt.return
//   }
// }
