// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @wraparound_stacked(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<8x4xi32>
    %cst_0 = arith.constant dense<4> : tensor<8x4xi32>
    %cst_1 = arith.constant dense<-9.900000e+01> : tensor<8x4xf32>
    %c4_i32 = arith.constant 4 : i32
    %c1_i32 = arith.constant 1 : i32
    %c2_i32 = arith.constant 2 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_2 = arith.constant dense<4> : tensor<8x1xi32>
    %cst_3 = arith.constant dense<64> : tensor<8x1xi32>
    %c8_i32 = arith.constant 8 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c8_i32 : i32
    %2 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %3 = tt.splat %1 : i32 -> tensor<8xi32>
    %4 = arith.addi %3, %2 : tensor<8xi32>
    %5 = tt.splat %arg2 : i32 -> tensor<8xi32>
    %6 = arith.remsi %4, %5 : tensor<8xi32>
    %7 = tt.expand_dims %6 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %8 = arith.muli %7, %cst_3 : tensor<8x1xi32>
    %9 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
    %10 = tt.addptr %9, %8 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
    %11 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %12 = tt.expand_dims %11 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %13 = tt.broadcast %10 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x4x!tt.ptr<f32>>
    %14 = tt.broadcast %12 : tensor<1x4xi32> -> tensor<8x4xi32>
    %15 = tt.addptr %13, %14 : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
    %16 = tt.expand_dims %2 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %17 = arith.muli %16, %cst_2 : tensor<8x1xi32>
    %18 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
    %19 = tt.addptr %18, %17 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
    %20 = tt.broadcast %19 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x4x!tt.ptr<f32>>
    %21 = tt.addptr %20, %14 : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
    %22:2 = scf.for %arg4 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg5 = %15, %arg6 = %21) -> (tensor<8x4x!tt.ptr<f32>>, tensor<8x4x!tt.ptr<f32>>)  : i32 {
      %23 = arith.muli %arg4, %c4_i32 : i32
      %24 = arith.subi %arg3, %23 : i32
      %25 = tt.splat %24 : i32 -> tensor<1x4xi32>
      %26 = arith.cmpi slt, %12, %25 : tensor<1x4xi32>
      %27 = tt.broadcast %26 : tensor<1x4xi1> -> tensor<8x4xi1>
      %28 = tt.load %arg5, %27, %cst_1 : tensor<8x4x!tt.ptr<f32>>
      tt.store %arg6, %28 : tensor<8x4x!tt.ptr<f32>>
      %29 = tt.addptr %arg5, %cst_0 : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
      %30 = tt.addptr %arg6, %cst : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
      scf.yield %29, %30 : tensor<8x4x!tt.ptr<f32>>, tensor<8x4x!tt.ptr<f32>>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @wraparound_stacked(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %c8_i32 = arith.constant 8 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c4_i32 = arith.constant 4 : i32
//     %cst = arith.constant -9.900000e+01 : f32
//     %c32 = arith.constant 32 : index
//     %c0 = arith.constant 0 : index
//     %c4 = arith.constant 4 : index
//     %c64 = arith.constant 64 : index
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1 = arith.muli %0, %c64 : index
//     %2 = tt.get_program_id x : i32
//     %3 = arith.muli %2, %c8_i32 : i32
//     %4 = arith.index_cast %3 : i32 to index
//     %5 = arith.muli %4, %c64 : index
//     %6:2 = scf.for %arg4 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg5 = %c0, %arg6 = %c0) -> (index, index)  : i32 {
//       %7 = tts.make_tptr %arg0 to sizes: [8, 4], strides: [64, 1], offsets: [%5, %arg5], shape: [%1, 0], order: [] : <f32> to tensor<8x4x!tt.ptr<f32>>
//       %8 = tts.make_tptr %arg1 to sizes: [8, 4], strides: [4, 1], offsets: [%arg6, 0], shape: [0, 0], order: [] : <f32> to tensor<8x4x!tt.ptr<f32>>
//       %9 = arith.addi %arg5, %c4 : index
//       %10 = arith.addi %arg6, %c32 : index
//       %11 = arith.muli %arg4, %c4_i32 : i32
//       %12 = arith.subi %arg3, %11 : i32
//       %13 = arith.index_cast %12 : i32 to index
//       %14 = arith.minsi %13, %c4 : index
//       %15 = arith.maxsi %14, %c0 : index
//       %16 = "tts.load"(%7, %15, %cst) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 8, -9223372036854775808>}> : (tensor<8x4x!tt.ptr<f32>>, index, f32) -> tensor<8x4xf32>
//       "tts.store"(%8, %16) <{static_mask_dims = array<i64>}> : (tensor<8x4x!tt.ptr<f32>>, tensor<8x4xf32>) -> ()
//       scf.yield %9, %10 : index, index
//     }
//     tt.return
//   }
// }
