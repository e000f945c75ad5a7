// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @layer_norm_backward_weights(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: !tt.ptr<f32>, %arg4: i32, %arg5: i32) attributes {noinline = false} {
    %c16_i32 = arith.constant 16 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %c32_i32 = arith.constant 32 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c32_i32 : i32
    %2 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %3 = tt.splat %1 : i32 -> tensor<32xi32>
    %4 = arith.addi %3, %2 : tensor<32xi32>
    %5 = tt.splat %arg5 : i32 -> tensor<32xi32>
    %6 = arith.cmpi slt, %4, %5 : tensor<32xi32>
    %7:2 = scf.for %arg6 = %c0_i32 to %arg4 step %c16_i32 iter_args(%arg7 = %cst, %arg8 = %cst) -> (tensor<16x32xf32>, tensor<16x32xf32>)  : i32 {
      %14 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
      %15 = tt.splat %arg6 : i32 -> tensor<16xi32>
      %16 = arith.addi %15, %14 : tensor<16xi32>
      %17 = tt.expand_dims %16 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %18 = tt.splat %arg5 : i32 -> tensor<16x1xi32>
      %19 = arith.muli %17, %18 : tensor<16x1xi32>
      %20 = tt.expand_dims %4 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %21 = tt.broadcast %19 : tensor<16x1xi32> -> tensor<16x32xi32>
      %22 = tt.broadcast %20 : tensor<1x32xi32> -> tensor<16x32xi32>
      %23 = arith.addi %21, %22 : tensor<16x32xi32>
      %24 = tt.splat %arg4 : i32 -> tensor<16xi32>
      %25 = arith.cmpi slt, %16, %24 : tensor<16xi32>
      %26 = tt.expand_dims %25 {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
      %27 = tt.expand_dims %6 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
      %28 = tt.broadcast %26 : tensor<16x1xi1> -> tensor<16x32xi1>
      %29 = tt.broadcast %27 : tensor<1x32xi1> -> tensor<16x32xi1>
      %30 = arith.andi %28, %29 : tensor<16x32xi1>
      %31 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
      %32 = tt.addptr %31, %23 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
      %33 = tt.load %32, %30, %cst : tensor<16x32x!tt.ptr<f32>>
      %34 = arith.addf %arg8, %33 : tensor<16x32xf32>
      %35 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
      %36 = tt.addptr %35, %23 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
      %37 = tt.load %36, %30, %cst : tensor<16x32x!tt.ptr<f32>>
      %38 = arith.addf %arg7, %37 : tensor<16x32xf32>
      scf.yield %38, %34 : tensor<16x32xf32>, tensor<16x32xf32>
    }
    %8 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %9 = tt.addptr %8, %4 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %10 = "tt.reduce"(%7#1) <{axis = 0 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      %14 = arith.addf %arg6, %arg7 : f32
      tt.reduce.return %14 : f32
    }) : (tensor<16x32xf32>) -> tensor<32xf32>
    tt.store %9, %10, %6 : tensor<32x!tt.ptr<f32>>
    %11 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %12 = tt.addptr %11, %4 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %13 = "tt.reduce"(%7#0) <{axis = 0 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      %14 = arith.addf %arg6, %arg7 : f32
      tt.reduce.return %14 : f32
    }) : (tensor<16x32xf32>) -> tensor<32xf32>
    tt.store %12, %13, %6 : tensor<32x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @layer_norm_backward_weights(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: !tt.ptr<f32>, %arg4: i32, %arg5: i32) attributes {noinline = false} {
//     %c32_i32 = arith.constant 32 : i32
//     %cst = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
//     %cst_0 = arith.constant 0.000000e+00 : f32
//     %c0_i32 = arith.constant 0 : i32
//     %c16_i32 = arith.constant 16 : i32
//     %c32 = arith.constant 32 : index
//     %c16 = arith.constant 16 : index
//     %0 = arith.index_cast %arg5 : i32 to index
//     %1 = arith.index_cast %arg4 : i32 to index
//     %2 = tt.get_program_id x : i32
//     %3 = arith.muli %2, %c32_i32 : i32
//     %4 = arith.index_cast %3 : i32 to index
//     %5 = arith.addi %4, %c32 : index
//     %6 = arith.minsi %5, %0 : index
//     %7 = arith.maxsi %6, %4 : index
//     %8 = arith.subi %7, %4 : index
//     %9 = tts.make_tptr %arg3 to sizes: [32], strides: [1], offsets: [%4], shape: [0], order: [] : <f32> to tensor<32x!tt.ptr<f32>>
//     %10 = tts.make_tptr %arg2 to sizes: [32], strides: [1], offsets: [%4], shape: [0], order: [] : <f32> to tensor<32x!tt.ptr<f32>>
//     %11:2 = scf.for %arg6 = %c0_i32 to %arg4 step %c16_i32 iter_args(%arg7 = %cst, %arg8 = %cst) -> (tensor<16x32xf32>, tensor<16x32xf32>)  : i32 {
//       %14 = arith.index_cast %arg6 : i32 to index
//       %15 = arith.muli %0, %14 : index
//       %16 = tts.make_tptr %arg1 to sizes: [16, 32], strides: [%0, 1], offsets: [%15, %4], shape: [0, 0], order: [] : <f32> to tensor<16x32x!tt.ptr<f32>>
//       %17 = arith.addi %14, %c16 : index
//       %18 = arith.minsi %17, %1 : index
//       %19 = arith.maxsi %18, %14 : index
//       %20 = arith.subi %19, %14 : index
//       %21 = tts.make_tptr %arg0 to sizes: [16, 32], strides: [%0, 1], offsets: [%15, %4], shape: [0, 0], order: [] : <f32> to tensor<16x32x!tt.ptr<f32>>
//       %22 = "tts.load"(%16, %20, %8, %cst_0) <{operandSegmentSizes = array<i32: 1, 2, 1>, static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}> : (tensor<16x32x!tt.ptr<f32>>, index, index, f32) -> tensor<16x32xf32>
//       %23 = arith.addf %arg8, %22 : tensor<16x32xf32>
//       %24 = "tts.load"(%21, %20, %8, %cst_0) <{operandSegmentSizes = array<i32: 1, 2, 1>, static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}> : (tensor<16x32x!tt.ptr<f32>>, index, index, f32) -> tensor<16x32xf32>
//       %25 = arith.addf %arg7, %24 : tensor<16x32xf32>
//       scf.yield %25, %23 : tensor<16x32xf32>, tensor<16x32xf32>
//     }
//     %12 = "tt.reduce"(%11#1) <{axis = 0 : i32}> ({
//     ^bb0(%arg6: f32, %arg7: f32):
//       %14 = arith.addf %arg6, %arg7 : f32
//       tt.reduce.return %14 : f32
//     }) : (tensor<16x32xf32>) -> tensor<32xf32>
//     "tts.store"(%9, %12, %8) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<32x!tt.ptr<f32>>, tensor<32xf32>, index) -> ()
//     %13 = "tt.reduce"(%11#0) <{axis = 0 : i32}> ({
//     ^bb0(%arg6: f32, %arg7: f32):
//       %14 = arith.addf %arg6, %arg7 : f32
//       tt.reduce.return %14 : f32
//     }) : (tensor<16x32xf32>) -> tensor<32xf32>
//     "tts.store"(%10, %13, %8) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<32x!tt.ptr<f32>>, tensor<32xf32>, index) -> ()
//     tt.return
//   }
// }
