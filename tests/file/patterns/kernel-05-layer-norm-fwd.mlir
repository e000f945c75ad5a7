// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @layer_norm_forward(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: !tt.ptr<f32>, %arg4: !tt.ptr<f32>, %arg5: !tt.ptr<f32>, %arg6: i32, %arg7: i32, %arg8: f32) attributes {noinline = false} {
    %cst = arith.constant 1.000000e+00 : f32
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %arg6 : i32
    %2 = tt.addptr %arg0, %1 : !tt.ptr<f32>, i32
    %3 = tt.addptr %arg1, %1 : !tt.ptr<f32>, i32
    %4 = scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32 iter_args(%arg10 = %cst_0) -> (tensor<64xf32>)  : i32 {
      %16 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %17 = tt.splat %arg9 : i32 -> tensor<64xi32>
      %18 = arith.addi %17, %16 : tensor<64xi32>
      %19 = tt.splat %2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %20 = tt.addptr %19, %18 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %21 = tt.splat %arg7 : i32 -> tensor<64xi32>
      %22 = arith.cmpi slt, %18, %21 : tensor<64xi32>
      %23 = tt.load %20, %22, %cst_0 : tensor<64x!tt.ptr<f32>>
      %24 = arith.addf %arg10, %23 : tensor<64xf32>
      scf.yield %24 : tensor<64xf32>
    }
    %5 = "tt.reduce"(%4) <{axis = 0 : i32}> ({
    ^bb0(%arg9: f32, %arg10: f32):
      %16 = arith.addf %arg9, %arg10 : f32
      tt.reduce.return %16 : f32
    }) : (tensor<64xf32>) -> f32
    %6 = arith.sitofp %arg7 : i32 to f32
    %7 = arith.divf %5, %6 : f32
    %8 = scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32 iter_args(%arg10 = %cst_0) -> (tensor<64xf32>)  : i32 {
      %16 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %17 = tt.splat %arg9 : i32 -> tensor<64xi32>
      %18 = arith.addi %17, %16 : tensor<64xi32>
      %19 = tt.splat %2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %20 = tt.addptr %19, %18 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %21 = tt.splat %arg7 : i32 -> tensor<64xi32>
      %22 = arith.cmpi slt, %18, %21 : tensor<64xi32>
      %23 = tt.load %20, %22, %cst_0 : tensor<64x!tt.ptr<f32>>
      %24 = tt.splat %7 : f32 -> tensor<64xf32>
      %25 = arith.subf %23, %24 : tensor<64xf32>
      %26 = arith.select %22, %25, %cst_0 : tensor<64xi1>, tensor<64xf32>
      %27 = arith.mulf %26, %26 : tensor<64xf32>
      %28 = arith.addf %arg10, %27 : tensor<64xf32>
      scf.yield %28 : tensor<64xf32>
    }
    %9 = "tt.reduce"(%8) <{axis = 0 : i32}> ({
    ^bb0(%arg9: f32, %arg10: f32):
      %16 = arith.addf %arg9, %arg10 : f32
      tt.reduce.return %16 : f32
    }) : (tensor<64xf32>) -> f32
    %10 = arith.divf %9, %6 : f32
    %11 = arith.addf %10, %arg8 : f32
    %12 = math.sqrt %11 : f32
    %13 = arith.divf %cst, %12 : f32
    %14 = tt.addptr %arg4, %0 : !tt.ptr<f32>, i32
    tt.store %14, %7 : !tt.ptr<f32>
    %15 = tt.addptr %arg5, %0 : !tt.ptr<f32>, i32
    tt.store %15, %13 : !tt.ptr<f32>
    scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32  : i32 {
      %16 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %17 = tt.splat %arg9 : i32 -> tensor<64xi32>
      %18 = arith.addi %17, %16 : tensor<64xi32>
      %19 = tt.splat %arg7 : i32 -> tensor<64xi32>
      %20 = arith.cmpi slt, %18, %19 : tensor<64xi32>
      %21 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %22 = tt.addptr %21, %18 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %23 = tt.load %22, %20 : tensor<64x!tt.ptr<f32>>
      %24 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %25 = tt.addptr %24, %18 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %26 = tt.load %25, %20 : tensor<64x!tt.ptr<f32>>
      %27 = tt.splat %2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %28 = tt.addptr %27, %18 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %29 = tt.load %28, %20, %cst_0 : tensor<64x!tt.ptr<f32>>
      %30 = tt.splat %3 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %31 = tt.addptr %30, %18 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %32 = tt.splat %7 : f32 -> tensor<64xf32>
      %33 = arith.subf %29, %32 : tensor<64xf32>
      %34 = tt.splat %13 : f32 -> tensor<64xf32>
      %35 = arith.mulf %33, %34 : tensor<64xf32>
      %36 = arith.mulf %35, %23 : tensor<64xf32>
      %37 = arith.addf %36, %26 : tensor<64xf32>
      tt.store %31, %37, %20 : tensor<64x!tt.ptr<f32>>
    }
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
//     %cst_1 = arith.constant 1.000000e+00 : f32
//     %c64 = arith.constant 64 : index
//     %0 = arith.index_cast %arg7 : i32 to index
//     %1 = tt.get_program_id x : i32
//     %2 = arith.muli %1, %arg6 : i32
//     %3 = arith.index_cast %2 : i32 to index
//     %4 = scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32 iter_args(%arg10 = %cst) -> (tensor<64xf32>)  : i32 {
//       %16 = arith.index_cast %arg9 : i32 to index
//       %17 = arith.addi %3, %16 : index
//       %18 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%17], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %19 = arith.addi %16, %c64 : index
//       %20 = arith.minsi %19, %0 : index
//       %21 = arith.maxsi %20, %16 : index
//       %22 = arith.subi %21, %16 : index
//       %23 = "tts.load"(%18, %22, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index, f32) -> tensor<64xf32>
//       %24 = arith.addf %arg10, %23 : tensor<64xf32>
//       scf.yield %24 : tensor<64xf32>
//     }
//     %5 = "tt.reduce"(%4) <{axis = 0 : i32}> ({
//     ^bb0(%arg9: f32, %arg10: f32):
//       %16 = arith.addf %arg9, %arg10 : f32
//       tt.reduce.return %16 : f32
//     }) : (tensor<64xf32>) -> f32
//     %6 = arith.sitofp %arg7 : i32 to f32
//     %7 = arith.divf %5, %6 : f32
//     %8 = scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32 iter_args(%arg10 = %cst) -> (tensor<64xf32>)  : i32 {
//       %16 = arith.index_cast %arg9 : i32 to index
//       %17 = arith.addi %3, %16 : index
//       %18 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%17], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %19 = arith.addi %16, %c64 : index
//       %20 = arith.minsi %19, %0 : index
//       %21 = arith.maxsi %20, %16 : index
//       %22 = arith.subi %21, %16 : index
//       %23 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//       %24 = tt.splat %arg9 : i32 -> tensor<64xi32>
//       %25 = arith.addi %24, %23 : tensor<64xi32>
//       %26 = tt.splat %arg7 : i32 -> tensor<64xi32>
//       %27 = arith.cmpi slt, %25, %26 : tensor<64xi32>
//       %28 = "tts.load"(%18, %22, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index, f32) -> tensor<64xf32>
//       %29 = tt.splat %7 : f32 -> tensor<64xf32>
//       %30 = arith.subf %28, %29 : tensor<64xf32>
//       %31 = arith.select %27, %30, %cst : tensor<64xi1>, tensor<64xf32>
//       %32 = arith.mulf %31, %31 : tensor<64xf32>
//       %33 = arith.addf %arg10, %32 : tensor<64xf32>
//       scf.yield %33 : tensor<64xf32>
//     }
//     %9 = "tt.reduce"(%8) <{axis = 0 : i32}> ({
//     ^bb0(%arg9: f32, %arg10: f32):
//       %16 = arith.addf %arg9, %arg10 : f32
//       tt.reduce.return %16 : f32
//     }) : (tensor<64xf32>) -> f32
//     %10 = arith.divf %9, %6 : f32
//     %11 = arith.addf %10, %arg8 : f32
//     %12 = math.sqrt %11 : f32
//     %13 = arith.divf %cst_1, %12 : f32
//     %14 = tt.addptr %arg4, %1 : !tt.ptr<f32>, i32
//     tt.store %14, %7 : !tt.ptr<f32>
//     %15 = tt.addptr %arg5, %1 : !tt.ptr<f32>, i32
//     tt.store %15, %13 : !tt.ptr<f32>
//     scf.for %arg9 = %c0_i32 to %arg7 step %c64_i32  : i32 {
//       %16 = arith.index_cast %arg9 : i32 to index
//       %17 = tts.make_tptr %arg2 to sizes: [64], strides: [1], offsets: [%16], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %18 = arith.addi %16, %c64 : index
//       %19 = arith.minsi %18, %0 : index
//       %20 = arith.maxsi %19, %16 : index
//       %21 = arith.subi %20, %16 : index
//       %22 = tts.make_tptr %arg3 to sizes: [64], strides: [1], offsets: [%16], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %23 = arith.addi %3, %16 : index
//       %24 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%23], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %25 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [%23], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %26 = "tts.load"(%17, %21) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index) -> tensor<64xf32>
//       %27 = "tts.load"(%22, %21) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index) -> tensor<64xf32>
//       %28 = "tts.load"(%24, %21, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, index, f32) -> tensor<64xf32>
//       %29 = tt.splat %7 : f32 -> tensor<64xf32>
//       %30 = arith.subf %28, %29 : tensor<64xf32>
//       %31 = tt.splat %13 : f32 -> tensor<64xf32>
//       %32 = arith.mulf %30, %31 : tensor<64xf32>
//       %33 = arith.mulf %32, %26 : tensor<64xf32>
//       %34 = arith.addf %33, %27 : tensor<64xf32>
//       "tts.store"(%25, %34, %21) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, index) -> ()
//     }
//     tt.return
//   }
// }
