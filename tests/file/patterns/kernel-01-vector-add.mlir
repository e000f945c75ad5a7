// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @add_kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c64_i32 : i32
    %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %3 = tt.splat %1 : i32 -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = tt.splat %arg3 : i32 -> tensor<64xi32>
    %6 = arith.cmpi slt, %4, %5 : tensor<64xi32>
    %7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %8 = tt.addptr %7, %4 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %9 = tt.load %8, %6 : tensor<64x!tt.ptr<f32>>
    %10 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %11 = tt.addptr %10, %4 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %12 = tt.load %11, %6 : tensor<64x!tt.ptr<f32>>
    %13 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %14 = tt.addptr %13, %4 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %15 = arith.addf %9, %12 : tensor<64xf32>
    tt.store %14, %15, %6 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @add_kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
//     %c64_i32 = arith.constant 64 : i32
//     %c64 = arith.constant 64 : index
//     %0 = arith.index_cast %arg3 : i32 to index
//     %1 = tt.get_program_id x : i32
//     %2 = arith.muli %1, %c64_i32 : i32
//     %3 = arith.index_cast %2 : i32 to index
//     %4 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%3], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//     %5 = arith.addi %3, %c64 : index
//     %6 = arith.minsi %5, %0 : index
//     %7 = arith.maxsi %6, %3 : index
//     %8 = arith.subi %7, %3 : index
//     %9 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [%3], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//     %10 = tts.make_tptr %arg2 to sizes: [64], strides: [1], offsets: [%3], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//     %11 = "tts.load"(%4, %8) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index) -> tensor<64xf32>
//     %12 = "tts.load"(%9, %8) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index) -> tensor<64xf32>
//     %13 = arith.addf %11, %12 : tensor<64xf32>
//     "tts.store"(%10, %13, %8) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, index) -> ()
//     tt.return
//   }
// }
