// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @index_select_row_with_mod_plus_offset(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<16> : tensor<8x1xi32>
    %cst_0 = arith.constant dense<1> : tensor<8xi32>
    %c8_i32 = arith.constant 8 : i32
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %2 = tt.expand_dims %1 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %3 = tt.get_program_id x : i32
    %4 = arith.muli %3, %c8_i32 : i32
    %5 = tt.splat %4 : i32 -> tensor<8xi32>
    %6 = arith.addi %5, %0 : tensor<8xi32>
    %7 = tt.splat %arg2 : i32 -> tensor<8xi32>
    %8 = arith.remsi %6, %7 : tensor<8xi32>
    %9 = arith.addi %8, %cst_0 : tensor<8xi32>
    %10 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %11 = arith.muli %10, %cst : tensor<8x1xi32>
    %12 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
    %13 = tt.addptr %12, %11 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
    %14 = tt.broadcast %13 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
    %15 = tt.broadcast %2 : tensor<1x16xi32> -> tensor<8x16xi32>
    %16 = tt.addptr %14, %15 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %17 = tt.expand_dims %9 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %18 = arith.muli %17, %cst : tensor<8x1xi32>
    %19 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
    %20 = tt.addptr %19, %18 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
    %21 = tt.broadcast %20 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
    %22 = tt.addptr %21, %15 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %23 = tt.load %22 : tensor<8x16x!tt.ptr<f32>>
    tt.store %16, %23 : tensor<8x16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @index_select_row_with_mod_plus_offset(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %c8_i32 = arith.constant 8 : i32
//     %c16 = arith.constant 16 : index
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1 = arith.muli %0, %c16 : index
//     %2 = tts.make_tptr %arg1 to sizes: [8, 16], strides: [16, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<8x16x!tt.ptr<f32>>
//     %3 = tt.get_program_id x : i32
//     %4 = arith.muli %3, %c8_i32 : i32
//     %5 = arith.index_cast %4 : i32 to index
//     %6 = arith.muli %5, %c16 : index
//     %7 = tts.make_tptr %arg0 to sizes: [8, 16], strides: [16, 1], offsets: [%6, 16], shape: [%1, 0], order: [] : <f32> to tensor<8x16x!tt.ptr<f32>>
//     %8 = "tts.load"(%7) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x16x!tt.ptr<f32>>) -> tensor<8x16xf32>
//     "tts.store"(%2, %8) <{static_mask_dims = array<i64>}> : (tensor<8x16x!tt.ptr<f32>>, tensor<8x16xf32>) -> ()
//     tt.return
//   }
// }
