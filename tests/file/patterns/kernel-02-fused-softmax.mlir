// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @softmax_kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32, %arg4: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0xFF800000> : tensor<64xf32>
    %0 = tt.get_program_id x : i32
    %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %2 = tt.splat %arg4 : i32 -> tensor<64xi32>
    %3 = arith.cmpi slt, %1, %2 : tensor<64xi32>
    %4 = arith.muli %0, %arg2 : i32
    %5 = tt.addptr %arg1, %4 : !tt.ptr<f32>, i32
    %6 = tt.splat %5 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %7 = tt.addptr %6, %1 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %8 = tt.load %7, %3, %cst : tensor<64x!tt.ptr<f32>>
    %9 = "tt.reduce"(%8) <{axis = 0 : i32}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      %20 = arith.maxnumf %arg5, %arg6 : f32
      tt.reduce.return %20 : f32
    }) : (tensor<64xf32>) -> f32
    %10 = tt.splat %9 : f32 -> tensor<64xf32>
    %11 = arith.subf %8, %10 : tensor<64xf32>
    %12 = math.exp %11 : tensor<64xf32>
    %13 = "tt.reduce"(%12) <{axis = 0 : i32}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      %20 = arith.addf %arg5, %arg6 : f32
      tt.reduce.return %20 : f32
    }) : (tensor<64xf32>) -> f32
    %14 = arith.muli %0, %arg3 : i32
    %15 = tt.addptr %arg0, %14 : !tt.ptr<f32>, i32
    %16 = tt.splat %15 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %17 = tt.addptr %16, %1 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %18 = tt.splat %13 : f32 -> tensor<64xf32>
    %19 = arith.divf %12, %18 : tensor<64xf32>
    tt.store %17, %19, %3 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @softmax_kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32, %arg4: i32) attributes {noinline = false} {
//     %cst = arith.constant 0xFF800000 : f32
//     %c0 = arith.constant 0 : index
//     %c64 = arith.constant 64 : index
//     %0 = arith.index_cast %arg4 : i32 to index
//     %1 = arith.minsi %0, %c64 : index
//     %2 = arith.maxsi %1, %c0 : index
//     %3 = tt.get_program_id x : i32
//     %4 = arith.muli %3, %arg2 : i32
//     %5 = arith.index_cast %4 : i32 to index
//     %6 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [%5], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//     %7 = "tts.load"(%6, %2, %cst) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index, f32) -> tensor<64xf32>
//     %8 = "tt.reduce"(%7) <{axis = 0 : i32}> ({
//     ^bb0(%arg5: f32, %arg6: f32):
//       %18 = arith.maxnumf %arg5, %arg6 : f32
//       tt.reduce.return %18 : f32
//     }) : (tensor<64xf32>) -> f32
//     %9 = tt.splat %8 : f32 -> tensor<64xf32>
//     %10 = arith.subf %7, %9 : tensor<64xf32>
//     %11 = math.exp %10 : tensor<64xf32>
//     %12 = "tt.reduce"(%11) <{axis = 0 : i32}> ({
//     ^bb0(%arg5: f32, %arg6: f32):
//       %18 = arith.addf %arg5, %arg6 : f32
//       tt.reduce.return %18 : f32
//     }) : (tensor<64xf32>) -> f32
//     %13 = arith.muli %3, %arg3 : i32
//     %14 = arith.index_cast %13 : i32 to index
//     %15 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%14], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//     %16 = tt.splat %12 : f32 -> tensor<64xf32>
//     %17 = arith.divf %11, %16 : tensor<64xf32>
//     "tts.store"(%15, %17, %2) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, index) -> ()
//     tt.return
//   }
// }
