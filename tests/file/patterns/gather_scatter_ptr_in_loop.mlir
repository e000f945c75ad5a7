// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_scatter_ptr_in_loop(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<16> : tensor<8x1xi32>
    %c8_i32 = arith.constant 8 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    scf.for %arg4 = %c0_i32 to %arg3 step %c1_i32  : i32 {
      %2 = tt.addptr %arg1, %arg4 : !tt.ptr<i32>, i32
      %3 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
      %4 = tt.splat %2 : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
      %5 = tt.addptr %4, %3 : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
      %6 = tt.load %5 : tensor<8x!tt.ptr<i32>>
      %7 = tt.expand_dims %6 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
      %8 = arith.muli %arg4, %c8_i32 : i32
      %9 = tt.splat %8 : i32 -> tensor<8xi32>
      %10 = arith.addi %9, %3 : tensor<8xi32>
      %11 = tt.expand_dims %10 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
      %12 = arith.muli %11, %cst : tensor<8x1xi32>
      %13 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
      %14 = tt.addptr %13, %12 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
      %15 = tt.broadcast %14 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
      %16 = tt.broadcast %1 : tensor<1x16xi32> -> tensor<8x16xi32>
      %17 = tt.addptr %15, %16 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
      %18 = arith.muli %7, %cst : tensor<8x1xi32>
      %19 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
      %20 = tt.addptr %19, %18 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
      %21 = tt.broadcast %20 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
      %22 = tt.addptr %21, %16 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
      %23 = tt.load %22 : tensor<8x16x!tt.ptr<f32>>
      tt.store %17, %23 : tensor<8x16x!tt.ptr<f32>>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_scatter_ptr_in_loop(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
//     %c16 = arith.constant 16 : index
//     %c8_i32 = arith.constant 8 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c0_i32 = arith.constant 0 : i32
//     scf.for %arg4 = %c0_i32 to %arg3 step %c1_i32  : i32 {
//       %0 = arith.index_cast %arg4 : i32 to index
//       %1 = tts.make_tptr %arg1 to sizes: [8], strides: [1], offsets: [%0], shape: [0], order: [] : <i32> to tensor<8x!tt.ptr<i32>>
//       %2 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<i32>>) -> tensor<8xi32>
//       %3 = tts.make_gather_scatter_tptr %arg0 to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %2, strides: [16, 1], offsets: [0, 0] : tensor<8xi32> <f32> to !tt.ptr<tensor<8x16xf32>>
//       %4 = arith.muli %arg4, %c8_i32 : i32
//       %5 = arith.index_cast %4 : i32 to index
//       %6 = arith.muli %5, %c16 : index
//       %7 = tts.make_tptr %arg2 to sizes: [8, 16], strides: [16, 1], offsets: [%6, 0], shape: [0, 0], order: [] : <f32> to tensor<8x16x!tt.ptr<f32>>
//       %8 = "tts.load"(%3) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<8x16xf32>>) -> tensor<8x16xf32>
//       "tts.store"(%7, %8) <{static_mask_dims = array<i64>}> : (tensor<8x16x!tt.ptr<f32>>, tensor<8x16xf32>) -> ()
//     }
//     tt.return
//   }
// }
