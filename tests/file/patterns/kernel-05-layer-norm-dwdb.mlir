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
    %5:2 = scf.for %arg6 = %c0_i32 to %arg4 step %c16_i32 iter_args(%arg7 = %cst, %arg8 = %cst) -> (tensor<16x32xf32>, tensor<16x32xf32>)  : i32 {
      %14 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
      %15 = tt.splat %arg6 : i32 -> tensor<16xi32>
      %16 = arith.addi %15, %14 : tensor<16xi32>
      %17 = tt.expand_dims %16 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %18 = tt.splat %arg4 : i32 -> tensor<16x1xi32>
      %19 = arith.cmpi slt, %17, %18 : tensor<16x1xi32>
      %20 = tt.expand_dims %4 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %21 = tt.splat %arg5 : i32 -> tensor<1x32xi32>
      %22 = arith.cmpi slt, %20, %21 : tensor<1x32xi32>
      %23 = tt.broadcast %19 : tensor<16x1xi1> -> tensor<16x32xi1>
      %24 = tt.broadcast %22 : tensor<1x32xi1> -> tensor<16x32xi1>
      %25 = arith.andi %23, %24 : tensor<16x32xi1>
      %26 = tt.splat %arg5 : i32 -> tensor<16x1xi32>
      %27 = arith.muli %17, %26 : tensor<16x1xi32>
      %28 = tt.broadcast %27 : tensor<16x1xi32> -> tensor<16x32xi32>
      %29 = tt.broadcast %20 : tensor<1x32xi32> -> tensor<16x32xi32>
      %30 = arith.addi %28, %29 : tensor<16x32xi32>
      %31 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
      %32 = tt.addptr %31, %30 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
      %33 = tt.load %32, %25, %cst : tensor<16x32x!tt.ptr<f32>>
      %34 = arith.addf %arg7, %33 : tensor<16x32xf32>
      %35 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
      %36 = tt.addptr %35, %30 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
      %37 = tt.load %36, %25, %cst : tensor<16x32x!tt.ptr<f32>>
      %38 = arith.addf %arg8, %37 : tensor<16x32xf32>
      scf.yield %34, %38 : tensor<16x32xf32>, tensor<16x32xf32>
    }
    %6 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %7 = tt.addptr %6, %4 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %8 = "tt.reduce"(%5#0) <{axis = 0 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      %14 = arith.addf %arg6, %arg7 : f32
      tt.reduce.return %14 : f32
    }) : (tensor<16x32xf32>) -> tensor<32xf32>
    %9 = tt.splat %arg5 : i32 -> tensor<32xi32>
    %10 = arith.cmpi slt, %4, %9 : tensor<32xi32>
    tt.store %7, %8, %10 : tensor<32x!tt.ptr<f32>>
    %11 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %12 = tt.addptr %11, %4 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %13 = "tt.reduce"(%5#1) <{axis = 0 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      %14 = arith.addf %arg6, %arg7 : f32
      tt.reduce.return %14 : f32
    }) : (tensor<16x32xf32>) -> tensor<32xf32>
    tt.store %12, %13, %10 : tensor<32x!tt.ptr<f32>>
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
//     %9 = tts.make_tptr %arg2 to sizes: [32], strides: [1], offsets: [%4], shape: [0], order: [] : <f32> to tensor<32x!tt.ptr<f32>>
//     %10 = tts.make_tptr %arg3 to sizes: [32], strides: [1], offsets: [%4], shape: [0], order: [] : <f32> to tensor<32x!tt.ptr<f32>>
//     %11:2 = scf.for %arg6 = %c0_i32 to %arg4 step %c16_i32 iter_args(%arg7 = %cst, %arg8 = %cst) -> (tensor<16x32xf32>, tensor<16x32xf32>)  : i32 {
//       %14 = arith.index_cast %arg6 : i32 to index
//       %15 = arith.muli %0, %14 : index
//       %16 = tts.make_tptr %arg0 to sizes: [16, 32], strides: [%0, 1], offsets: [%15, %4], shape: [0, 0], order: [] : <f32> to tensor<16x32x!tt.ptr<f32>>
//       %17 = arith.addi %14, %c16 : index
//       %18 = arith.minsi %17, %1 : index
//       %19 = arith.maxsi %18, %14 : index
//       %20 = arith.subi %19, %14 : index
//       %21 = tts.make_tptr %arg1 to sizes: [16, 32], strides: [%0, 1], offsets: [%15, %4], shape: [0, 0], order: [] : <f32> to tensor<16x32x!tt.ptr<f32>>
//       %22 = "tts.load"(%16, %20, %8, %cst_0) <{operandSegmentSizes = array<i32: 1, 2, 1>, static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}> : (tensor<16x32x!tt.ptr<f32>>, index, index, f32) -> tensor<16x32xf32>
//       %23 = arith.addf %arg7, %22 : tensor<16x32xf32>
//       %24 = "tts.load"(%21, %20, %8, %cst_0) <{operandSegmentSizes = array<i32: 1, 2, 1>, static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}> : (tensor<16x32x!tt.ptr<f32>>, index, index, f32) -> tensor<16x32xf32>
//       %25 = arith.addf %arg8, %24 : tensor<16x32xf32>
//       scf.yield %23, %25 : tensor<16x32xf32>, tensor<16x32xf32>
//     }
//     %12 = "tt.reduce"(%11#0) <{axis = 0 : i32}> ({
//     ^bb0(%arg6: f32, %arg7: f32):
//       %14 = arith.addf %arg6, %arg7 : f32
//       tt.reduce.return %14 : f32
//     }) : (tensor<16x32xf32>) -> tensor<32xf32>
//     "tts.store"(%9, %12, %8) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<32x!tt.ptr<f32>>, tensor<32xf32>, index) -> ()
//     %13 = "tt.reduce"(%11#1) <{axis = 0 : i32}> ({
//     ^bb0(%arg6: f32, %arg7: f32):
//       %14 = arith.addf %arg6, %arg7 : f32
//       tt.reduce.return %14 : f32
//     }) : (tensor<16x32xf32>) -> tensor<32xf32>
//     "tts.store"(%10, %13, %8) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<32x!tt.ptr<f32>>, tensor<32xf32>, index) -> ()
//     tt.return
//   }
// }
