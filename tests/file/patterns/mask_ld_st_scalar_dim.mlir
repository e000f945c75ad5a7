// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @mask_ld_st_scalar_dim(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<-2.000000e+00> : tensor<16xf32>
    %c10_i32 = arith.constant 10 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.splat %arg2 : i32 -> tensor<16xi32>
    %2 = arith.cmpi slt, %0, %1 : tensor<16xi32>
    %3 = arith.cmpi slt, %arg3, %c10_i32 : i32
    %4 = tt.splat %3 : i1 -> tensor<16xi1>
    %5 = arith.andi %2, %4 : tensor<16xi1>
    %6 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %7 = tt.addptr %6, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %8 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %9 = tt.addptr %8, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %10 = tt.load %9, %5, %cst : tensor<16x!tt.ptr<f32>>
    tt.store %7, %10, %5 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @mask_ld_st_scalar_dim(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %c10_i32 = arith.constant 10 : i32
//     %cst = arith.constant -2.000000e+00 : f32
//     %c0 = arith.constant 0 : index
//     %c16 = arith.constant 16 : index
//     %0 = tts.make_tptr %arg0 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %1 = arith.index_cast %arg2 : i32 to index
//     %2 = arith.minsi %1, %c16 : index
//     %3 = arith.maxsi %2, %c0 : index
//     %4 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %5 = arith.cmpi slt, %arg3, %c10_i32 : i32
//     %6 = arith.select %5, %3, %c0 : index
//     %7 = "tts.load"(%0, %6, %cst) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<16x!tt.ptr<f32>>, index, f32) -> tensor<16xf32>
//     "tts.store"(%4, %7, %6) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, index) -> ()
//     tt.return
//   }
// }
