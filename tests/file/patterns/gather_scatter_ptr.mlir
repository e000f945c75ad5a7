// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_scatter_ptr(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<-1.000000e+00> : tensor<8x16xf32>
    %cst_0 = arith.constant dense<16> : tensor<8x1xi32>
    %cst_1 = arith.constant dense<3> : tensor<8xi32>
    %cst_2 = arith.constant dense<2> : tensor<8xi32>
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %1 = arith.divsi %0, %cst_2 : tensor<8xi32>
    %2 = arith.remsi %0, %cst_2 : tensor<8xi32>
    %3 = arith.muli %2, %cst_1 : tensor<8xi32>
    %4 = arith.addi %1, %3 : tensor<8xi32>
    %5 = tt.expand_dims %4 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %6 = arith.muli %5, %cst_0 : tensor<8x1xi32>
    %7 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %8 = tt.expand_dims %7 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %9 = tt.broadcast %6 : tensor<8x1xi32> -> tensor<8x16xi32>
    %10 = tt.broadcast %8 : tensor<1x16xi32> -> tensor<8x16xi32>
    %11 = arith.addi %9, %10 : tensor<8x16xi32>
    %12 = tt.splat %arg2 : i32 -> tensor<8xi32>
    %13 = arith.cmpi slt, %0, %12 : tensor<8xi32>
    %14 = tt.expand_dims %13 {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
    %15 = tt.splat %arg2 : i32 -> tensor<16xi32>
    %16 = arith.cmpi slt, %7, %15 : tensor<16xi32>
    %17 = tt.expand_dims %16 {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
    %18 = tt.broadcast %14 : tensor<8x1xi1> -> tensor<8x16xi1>
    %19 = tt.broadcast %17 : tensor<1x16xi1> -> tensor<8x16xi1>
    %20 = arith.andi %18, %19 : tensor<8x16xi1>
    %21 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
    %22 = tt.addptr %21, %11 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %23 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
    %24 = tt.addptr %23, %11 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %25 = tt.load %24, %20, %cst : tensor<8x16x!tt.ptr<f32>>
    tt.store %22, %25, %20 : tensor<8x16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_scatter_ptr(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %cst = arith.constant dense<2> : tensor<8xi32>
//     %cst_0 = arith.constant dense<3> : tensor<8xi32>
//     %cst_1 = arith.constant -1.000000e+00 : f32
//     %c16 = arith.constant 16 : index
//     %c0 = arith.constant 0 : index
//     %c8 = arith.constant 8 : index
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1 = arith.minsi %0, %c8 : index
//     %2 = arith.maxsi %1, %c0 : index
//     %3 = arith.minsi %0, %c16 : index
//     %4 = arith.maxsi %3, %c0 : index
//     %5 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %6 = arith.divsi %5, %cst : tensor<8xi32>
//     %7 = arith.remsi %5, %cst : tensor<8xi32>
//     %8 = arith.muli %7, %cst_0 : tensor<8xi32>
//     %9 = arith.addi %6, %8 : tensor<8xi32>
//     %10 = tts.make_gather_scatter_tptr %arg0 to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %9, strides: [16, 1], offsets: [0, 0] : tensor<8xi32> <f32> to !tt.ptr<tensor<8x16xf32>>
//     %11 = tts.make_gather_scatter_tptr %arg1 to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %9, strides: [16, 1], offsets: [0, 0] : tensor<8xi32> <f32> to !tt.ptr<tensor<8x16xf32>>
//     %12 = "tts.load"(%10, %2, %4, %cst_1) <{operandSegmentSizes = array<i32: 1, 2, 1>, static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}> : (!tt.ptr<tensor<8x16xf32>>, index, index, f32) -> tensor<8x16xf32>
//     "tts.store"(%11, %12, %2, %4) <{static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}> : (!tt.ptr<tensor<8x16xf32>>, tensor<8x16xf32>, index, index) -> ()
//     tt.return
//   }
// }
