// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @masked_ldst_2d(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<-1.000000e+00> : tensor<16x32xbf16>
    %cst_0 = arith.constant dense<64> : tensor<16x1xi32>
    %cst_1 = arith.constant dense<3> : tensor<1x32xi32>
    %cst_2 = arith.constant dense<2> : tensor<16x1xi32>
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %2 = arith.addi %1, %cst_2 : tensor<16x1xi32>
    %3 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %5 = arith.addi %4, %cst_1 : tensor<1x32xi32>
    %6 = tt.splat %arg2 : i32 -> tensor<16x1xi32>
    %7 = arith.cmpi slt, %2, %6 : tensor<16x1xi32>
    %8 = tt.splat %arg3 : i32 -> tensor<1x32xi32>
    %9 = arith.cmpi slt, %5, %8 : tensor<1x32xi32>
    %10 = tt.broadcast %7 : tensor<16x1xi1> -> tensor<16x32xi1>
    %11 = tt.broadcast %9 : tensor<1x32xi1> -> tensor<16x32xi1>
    %12 = arith.andi %10, %11 : tensor<16x32xi1>
    %13 = arith.muli %2, %cst_0 : tensor<16x1xi32>
    %14 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<16x1x!tt.ptr<bf16>>
    %15 = tt.addptr %14, %13 : tensor<16x1x!tt.ptr<bf16>>, tensor<16x1xi32>
    %16 = tt.broadcast %15 : tensor<16x1x!tt.ptr<bf16>> -> tensor<16x32x!tt.ptr<bf16>>
    %17 = tt.broadcast %5 : tensor<1x32xi32> -> tensor<16x32xi32>
    %18 = tt.addptr %16, %17 : tensor<16x32x!tt.ptr<bf16>>, tensor<16x32xi32>
    %19 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<16x1x!tt.ptr<bf16>>
    %20 = tt.addptr %19, %13 : tensor<16x1x!tt.ptr<bf16>>, tensor<16x1xi32>
    %21 = tt.broadcast %20 : tensor<16x1x!tt.ptr<bf16>> -> tensor<16x32x!tt.ptr<bf16>>
    %22 = tt.addptr %21, %17 : tensor<16x32x!tt.ptr<bf16>>, tensor<16x32xi32>
    %23 = tt.load %22, %12, %cst : tensor<16x32x!tt.ptr<bf16>>
    tt.store %18, %23, %12 : tensor<16x32x!tt.ptr<bf16>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @masked_ldst_2d(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %cst = arith.constant -1.000000e+00 : bf16
//     %c3 = arith.constant 3 : index
//     %c35 = arith.constant 35 : index
//     %c2 = arith.constant 2 : index
//     %c18 = arith.constant 18 : index
//     %0 = tts.make_tptr %arg0 to sizes: [16, 32], strides: [64, 1], offsets: [128, 3], shape: [0, 0], order: [] : <bf16> to tensor<16x32x!tt.ptr<bf16>>
//     %1 = arith.index_cast %arg2 : i32 to index
//     %2 = arith.minsi %1, %c18 : index
//     %3 = arith.maxsi %2, %c2 : index
//     %4 = arith.subi %3, %c2 : index
//     %5 = arith.index_cast %arg3 : i32 to index
//     %6 = arith.minsi %5, %c35 : index
//     %7 = arith.maxsi %6, %c3 : index
//     %8 = arith.subi %7, %c3 : index
//     %9 = tts.make_tptr %arg1 to sizes: [16, 32], strides: [64, 1], offsets: [128, 3], shape: [0, 0], order: [] : <bf16> to tensor<16x32x!tt.ptr<bf16>>
//     %10 = "tts.load"(%0, %4, %8, %cst) <{operandSegmentSizes = array<i32: 1, 2, 1>, static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}> : (tensor<16x32x!tt.ptr<bf16>>, index, index, bf16) -> tensor<16x32xbf16>
//     "tts.store"(%9, %10, %4, %8) <{static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}> : (tensor<16x32x!tt.ptr<bf16>>, tensor<16x32xbf16>, index, index) -> ()
//     tt.return
//   }
// }
