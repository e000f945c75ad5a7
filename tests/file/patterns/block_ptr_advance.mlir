// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @block_ptr_advance(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %c16_i64 = arith.constant 16 : i64
    %c8_i64 = arith.constant 8 : i64
    %c16_i32 = arith.constant 16 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<8x16xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i64 = arith.constant 1 : i64
    %0 = arith.extsi %arg2 : i32 to i64
    %1 = arith.extsi %arg3 : i32 to i64
    %2 = tt.make_tensor_ptr %arg0, [%0, %1], [%1, %c1_i64], [%c0_i32, %c0_i32] {order = array<i32: 1, 0>} : <tensor<8x16xf32>>
    %3:2 = scf.for %arg4 = %c0_i32 to %arg3 step %c16_i32 iter_args(%arg5 = %2, %arg6 = %cst) -> (!tt.ptr<tensor<8x16xf32>>, tensor<8x16xf32>)  : i32 {
      %5 = tt.load %arg5 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<8x16xf32>>
      %6 = arith.addf %arg6, %5 : tensor<8x16xf32>
      %7 = tt.advance %arg5, [%c0_i32, %c16_i32] : <tensor<8x16xf32>>
      scf.yield %7, %6 : !tt.ptr<tensor<8x16xf32>>, tensor<8x16xf32>
    }
    %4 = tt.make_tensor_ptr %arg1, [%c8_i64, %c16_i64], [%c16_i64, %c1_i64], [%c0_i32, %c0_i32] {order = array<i32: 1, 0>} : <tensor<8x16xf32>>
    tt.store %4, %3#1 : !tt.ptr<tensor<8x16xf32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @block_ptr_advance(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %c0_i32 = arith.constant 0 : i32
//     %cst = arith.constant dense<0.000000e+00> : tensor<8x16xf32>
//     %c16_i32 = arith.constant 16 : i32
//     %c16 = arith.constant 16 : index
//     %c8 = arith.constant 8 : index
//     %c0 = arith.constant 0 : index
//     %0 = arith.index_cast %arg3 : i32 to index
//     %1 = arith.index_cast %arg2 : i32 to index
//     %2 = arith.minsi %1, %c8 : index
//     %3 = arith.maxsi %2, %c0 : index
//     %4 = tts.make_tptr %arg1 to sizes: [8, 16], strides: [16, 1], offsets: [0, 0], shape: [8, 16], order: [1, 0] : <f32> to !tt.ptr<tensor<8x16xf32>>
//     %5:2 = scf.for %arg4 = %c0_i32 to %arg3 step %c16_i32 iter_args(%arg5 = %cst, %arg6 = %c0) -> (tensor<8x16xf32>, index)  : i32 {
//       %6 = tts.make_tptr %arg0 to sizes: [8, 16], strides: [%0, 1], offsets: [%c0, %arg6], shape: [%1, %0], order: [1, 0] : <f32> to !tt.ptr<tensor<8x16xf32>>
//       %7 = arith.addi %arg6, %c16 : index
//       %8 = arith.minsi %7, %0 : index
//       %9 = arith.maxsi %8, %arg6 : index
//       %10 = arith.subi %9, %arg6 : index
//       %11 = "tts.load"(%6, %3, %10) <{operandSegmentSizes = array<i32: 1, 2, 0>, static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}> : (!tt.ptr<tensor<8x16xf32>>, index, index) -> tensor<8x16xf32>
//       %12 = arith.addf %arg5, %11 : tensor<8x16xf32>
//       scf.yield %12, %7 : tensor<8x16xf32>, index
//     }
//     "tts.store"(%4, %5#0) <{static_mask_dims = array<i64>}> : (!tt.ptr<tensor<8x16xf32>>, tensor<8x16xf32>) -> ()
//     tt.return
//   }
// }
