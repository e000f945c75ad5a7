// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @wraparound_side_by_side(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<4x8xi32>
    %cst_0 = arith.constant dense<-9.900000e+01> : tensor<4x8xf32>
    %c4_i32 = arith.constant 4 : i32
    %c1_i32 = arith.constant 1 : i32
    %c2_i32 = arith.constant 2 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<8> : tensor<4x1xi32>
    %c8_i32 = arith.constant 8 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c8_i32 : i32
    %2 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %3 = tt.splat %1 : i32 -> tensor<8xi32>
    %4 = arith.addi %3, %2 : tensor<8xi32>
    %5 = tt.splat %arg2 : i32 -> tensor<8xi32>
    %6 = arith.remsi %4, %5 : tensor<8xi32>
    %7 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %8 = tt.expand_dims %7 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %9 = tt.splat %arg2 : i32 -> tensor<4x1xi32>
    %10 = arith.muli %8, %9 : tensor<4x1xi32>
    %11 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<4x1x!tt.ptr<f32>>
    %12 = tt.addptr %11, %10 : tensor<4x1x!tt.ptr<f32>>, tensor<4x1xi32>
    %13 = tt.expand_dims %6 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %14 = tt.broadcast %12 : tensor<4x1x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
    %15 = tt.broadcast %13 : tensor<1x8xi32> -> tensor<4x8xi32>
    %16 = tt.addptr %14, %15 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
    %17 = arith.muli %8, %cst_1 : tensor<4x1xi32>
    %18 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<4x1x!tt.ptr<f32>>
    %19 = tt.addptr %18, %17 : tensor<4x1x!tt.ptr<f32>>, tensor<4x1xi32>
    %20 = tt.expand_dims %2 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %21 = tt.broadcast %19 : tensor<4x1x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
    %22 = tt.broadcast %20 : tensor<1x8xi32> -> tensor<4x8xi32>
    %23 = tt.addptr %21, %22 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
    %24:2 = scf.for %arg4 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg5 = %16, %arg6 = %23) -> (tensor<4x8x!tt.ptr<f32>>, tensor<4x8x!tt.ptr<f32>>)  : i32 {
      %25 = arith.muli %arg4, %c4_i32 : i32
      %26 = arith.subi %arg3, %25 : i32
      %27 = tt.splat %26 : i32 -> tensor<4x1xi32>
      %28 = arith.cmpi slt, %8, %27 : tensor<4x1xi32>
      %29 = tt.broadcast %28 : tensor<4x1xi1> -> tensor<4x8xi1>
      %30 = tt.load %arg5, %29, %cst_0 : tensor<4x8x!tt.ptr<f32>>
      tt.store %arg6, %30 : tensor<4x8x!tt.ptr<f32>>
      %31 = arith.muli %arg2, %c4_i32 : i32
      %32 = tt.splat %31 : i32 -> tensor<4x8xi32>
      %33 = tt.addptr %arg5, %32 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
      %34 = tt.addptr %arg6, %cst : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
      scf.yield %33, %34 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8x!tt.ptr<f32>>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @wraparound_side_by_side(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %c8_i32 = arith.constant 8 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c4_i32 = arith.constant 4 : i32
//     %cst = arith.constant -9.900000e+01 : f32
//     %c32 = arith.constant 32 : index
//     %c0 = arith.constant 0 : index
//     %c4 = arith.constant 4 : index
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1 = tt.get_program_id x : i32
//     %2 = arith.muli %1, %c8_i32 : i32
//     %3 = arith.index_cast %2 : i32 to index
//     %4:2 = scf.for %arg4 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg5 = %c0, %arg6 = %c0) -> (index, index)  : i32 {
//       %5 = tts.make_tptr %arg0 to sizes: [4, 8], strides: [%0, 1], offsets: [%arg5, %3], shape: [0, %0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
//       %6 = tts.make_tptr %arg1 to sizes: [4, 8], strides: [8, 1], offsets: [%arg6, 0], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
//       %7 = arith.addi %arg6, %c32 : index
//       %8 = arith.muli %arg4, %c4_i32 : i32
//       %9 = arith.subi %arg3, %8 : i32
//       %10 = arith.index_cast %9 : i32 to index
//       %11 = arith.minsi %10, %c4 : index
//       %12 = arith.maxsi %11, %c0 : index
//       %13 = "tts.load"(%5, %12, %cst) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 8>}> : (tensor<4x8x!tt.ptr<f32>>, index, f32) -> tensor<4x8xf32>
//       "tts.store"(%6, %13) <{static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
//       %14 = arith.muli %arg2, %c4_i32 : i32
//       %15 = arith.index_cast %14 : i32 to index
//       %16 = arith.addi %arg5, %15 : index
//       scf.yield %16, %7 : index, index
//     }
//     tt.return
//   }
// }
