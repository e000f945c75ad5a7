// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @layer_norm_forward(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: !tt.ptr<f32>, %arg4: !tt.ptr<f32>, %arg5: !tt.ptr<f32>, %arg6: i32, %arg7: i32, %arg8: f32) attributes {noinline = false} {
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %arg6 : i32
    %2 = tt.addptr %arg0, %1 : !tt.ptr<f32>, i32
    %3 = tt.addptr %arg1, %1 : !tt.ptr<f32>, i32
    %4 = scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32 iter_args(%arg10 = %cst) -> (tensor<64xf32>)  : i32 {
      %15 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %16 = tt.splat %arg9 : i32 -> tensor<64xi32>
      %17 = arith.addi %16, %15 : tensor<64xi32>
      %18 = tt.splat %arg7 : i32 -> tensor<64xi32>
      %19 = arith.cmpi slt, %17, %18 : tensor<64xi32>
      %20 = tt.splat %2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %21 = tt.addptr %20, %17 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %22 = tt.load %21, %19, %cst : tensor<64x!tt.ptr<f32>>
      %23 = arith.addf %arg10, %22 : tensor<64xf32>
      scf.yield %23 : tensor<64xf32>
    }
    %5 = "tt.reduce"(%4) <{axis = 0 : i32}> ({
    ^bb0(%arg9: f32, %arg10: f32):
      %15 = arith.addf %arg9, %arg10 : f32
      tt.reduce.return %15 : f32
    }) : (tensor<64xf32>) -> f32
    %6 = arith.sitofp %arg7 : i32 to f32
    %7 = arith.divf %5, %6 : f32
    %8 = scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32 iter_args(%arg10 = %cst) -> (tensor<64xf32>)  : i32 {
      %15 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %16 = tt.splat %arg9 : i32 -> tensor<64xi32>
      %17 = arith.addi %16, %15 : tensor<64xi32>
      %18 = tt.splat %arg7 : i32 -> tensor<64xi32>
      %19 = arith.cmpi slt, %17, %18 : tensor<64xi32>
      %20 = tt.splat %2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %21 = tt.addptr %20, %17 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %22 = tt.load %21, %19, %cst : tensor<64x!tt.ptr<f32>>
      %23 = tt.splat %7 : f32 -> tensor<64xf32>
      %24 = arith.subf %22, %23 : tensor<64xf32>
      %25 = arith.mulf %24, %24 : tensor<64xf32>
      %26 = arith.select %19, %25, %cst : tensor<64xi1>, tensor<64xf32>
      %27 = arith.addf %arg10, %26 : tensor<64xf32>
      scf.yield %27 : tensor<64xf32>
    }
    %9 = "tt.reduce"(%8) <{axis = 0 : i32}> ({
    ^bb0(%arg9: f32, %arg10: f32):
      %15 = arith.addf %arg9, %arg10 : f32
      tt.reduce.return %15 : f32
    }) : (tensor<64xf32>) -> f32
    %10 = arith.divf %9, %6 : f32
    %11 = arith.addf %10, %arg8 : f32
    %12 = math.rsqrt %11 : f32
    scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32  : i32 {
      %15 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %16 = tt.splat %arg9 : i32 -> tensor<64xi32>
      %17 = arith.addi %16, %15 : tensor<64xi32>
      %18 = tt.splat %arg7 : i32 -> tensor<64xi32>
      %19 = arith.cmpi slt, %17, %18 : tensor<64xi32>
      %20 = tt.splat %2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %21 = tt.addptr %20, %17 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %22 = tt.load %21, %19, %cst : tensor<64x!tt.ptr<f32>>
      %23 = tt.splat %7 : f32 -> tensor<64xf32>
      %24 = arith.subf %22, %23 : tensor<64xf32>
      %25 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %26 = tt.addptr %25, %17 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %27 = tt.load %26, %19 : tensor<64x!tt.ptr<f32>>
      %28 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %29 = tt.addptr %28, %17 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %30 = tt.load %29, %19 : tensor<64x!tt.ptr<f32>>
      %31 = tt.splat %3 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %32 = tt.addptr %31, %17 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %33 = tt.splat %12 : f32 -> tensor<64xf32>
      %34 = arith.mulf %24, %33 : tensor<64xf32>
      %35 = arith.mulf %34, %27 : tensor<64xf32>
      %36 = arith.addf %35, %30 : tensor<64xf32>
      tt.store %32, %36, %19 : tensor<64x!tt.ptr<f32>>
    }
    %13 = tt.addptr %arg5, %0 : !tt.ptr<f32>, i32
    tt.store %13, %12 : !tt.ptr<f32>
    %14 = tt.addptr %arg4, %0 : !tt.ptr<f32>, i32
    tt.store %14, %7 : !tt.ptr<f32>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @layer_norm_forward(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: !tt.ptr<f32>, %arg4: !tt.ptr<f32>, %arg5: !tt.ptr<f32>, %arg6: i32, %arg7: i32, %arg8: f32) attributes {noinline = false} {
//     %cst = arith.constant dense<0.000000e+00> : tensor<64xf32>
//     %cst_0 = arith.constant 0.000000e+00 : f32
//     %c0_i32 = arith.constant 0 : i32
//     %c64_i32 = arith.constant 64 : i32
//     %c64 = arith.constant 64 : index
//     %0 = arith.index_cast %arg7 : i32 to index
//     %1 = tt.get_program_id x : i32
//     %2 = arith.muli %1, %arg6 : i32
//     %3 = arith.index_cast %2 : i32 to index
//     %4 = scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32 iter_args(%arg10 = %cst) -> (tensor<64xf32>)  : i32 {
//       %15 = arith.index_cast %arg9 : i32 to index
//       %16 = arith.addi %3, %15 : index
//       %17 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%16], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %18 = arith.addi %15, %c64 : index
//       %19 = arith.minsi %18, %0 : index
//       %20 = arith.maxsi %19, %15 : index
//       %21 = arith.subi %20, %15 : index
//       %22 = "tts.load"(%17, %21, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index, f32) -> tensor<64xf32>
//       %23 = arith.addf %arg10, %22 : tensor<64xf32>
//       scf.yield %23 : tensor<64xf32>
//     }
//     %5 = "tt.reduce"(%4) <{axis = 0 : i32}> ({
//     ^bb0(%arg9: f32, %arg10: f32):
//       %15 = arith.addf %arg9, %arg10 : f32
//       tt.reduce.return %15 : f32
//     }) : (tensor<64xf32>) -> f32
//     %6 = arith.sitofp %arg7 : i32 to f32
//     %7 = arith.divf %5, %6 : f32
//     %8 = scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32 iter_args(%arg10 = %cst) -> (tensor<64xf32>)  : i32 {
//       %15 = arith.index_cast %arg9 : i32 to index
//       %16 = arith.addi %3, %15 : index
//       %17 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%16], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %18 = arith.addi %15, %c64 : index
//       %19 = arith.minsi %18, %0 : index
//       %20 = arith.maxsi %19, %15 : index
//       %21 = arith.subi %20, %15 : index
//       %22 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//       %23 = tt.splat %arg9 : i32 -> tensor<64xi32>
//       %24 = arith.addi %23, %22 : tensor<64xi32>
//       %25 = tt.splat %arg7 : i32 -> tensor<64xi32>
//       %26 = arith.cmpi slt, %24, %25 : tensor<64xi32>
//       %27 = "tts.load"(%17, %21, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index, f32) -> tensor<64xf32>
//       %28 = tt.splat %7 : f32 -> tensor<64xf32>
//       %29 = arith.subf %27, %28 : tensor<64xf32>
//       %30 = arith.mulf %29, %29 : tensor<64xf32>
//       %31 = arith.select %26, %30, %cst : tensor<64xi1>, tensor<64xf32>
//       %32 = arith.addf %arg10, %31 : tensor<64xf32>
//       scf.yield %32 : tensor<64xf32>
//     }
//     %9 = "tt.reduce"(%8) <{axis = 0 : i32}> ({
//     ^bb0(%arg9: f32, %arg10: f32):
//       %15 = arith.addf %arg9, %arg10 : f32
//       tt.reduce.return %15 : f32
//     }) : (tensor<64xf32>) -> f32
//     %10 = arith.divf %9, %6 : f32
//     %11 = arith.addf %10, %arg8 : f32
//     %12 = math.rsqrt %11 : f32
//     scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32  : i32 {
//       %15 = arith.index_cast %arg9 : i32 to index
//       %16 = arith.addi %3, %15 : index
//       %17 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%16], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %18 = arith.addi %15, %c64 : index
//       %19 = arith.minsi %18, %0 : index
//       %20 = arith.maxsi %19, %15 : index
//       %21 = arith.subi %20, %15 : index
//       %22 = tts.make_tptr %arg2 to sizes: [64], strides: [1], offsets: [%15], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %23 = tts.make_tptr %arg3 to sizes: [64], strides: [1], offsets: [%15], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %24 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [%16], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %25 = "tts.load"(%17, %21, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index, f32) -> tensor<64xf32>
//       %26 = tt.splat %7 : f32 -> tensor<64xf32>
//       %27 = arith.subf %25, %26 : tensor<64xf32>
//       %28 = "tts.load"(%22, %21) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index) -> tensor<64xf32>
//       %29 = "tts.load"(%23, %21) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index) -> tensor<64xf32>
//       %30 = tt.splat %12 : f32 -> tensor<64xf32>
//       %31 = arith.mulf %27, %30 : tensor<64xf32>
//       %32 = arith.mulf %31, %28 : tensor<64xf32>
//       %33 = arith.addf %32, %29 : tensor<64xf32>
//       "tts.store"(%24, %33, %21) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, index) -> ()
//     }
//     %13 = tt.addptr %arg5, %1 : !tt.ptr<f32>, i32
//     tt.store %13, %12 : !tt.ptr<f32>
//     %14 = tt.addptr %arg4, %1 : !tt.ptr<f32>, i32
//     tt.store %14, %7 : !tt.ptr<f32>
//     tt.return
//   }
// }
