// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @matmul_kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %c2_i32 = arith.constant 2 : i32
    %c31_i32 = arith.constant 31 : i32
    %c32_i32 = arith.constant 32 : i32
    %c15_i32 = arith.constant 15 : i32
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.addi %arg3, %c15_i32 : i32
    %2 = arith.divsi %1, %c16_i32 : i32
    %3 = arith.addi %arg4, %c31_i32 : i32
    %4 = arith.divsi %3, %c32_i32 : i32
    %5 = arith.muli %4, %c2_i32 : i32
    %6 = arith.divsi %0, %5 : i32
    %7 = arith.muli %6, %c2_i32 : i32
    %8 = arith.subi %2, %7 : i32
    %9 = arith.minsi %8, %c2_i32 : i32
    %10 = arith.remsi %0, %5 : i32
    %11 = arith.remsi %10, %9 : i32
    %12 = arith.addi %7, %11 : i32
    %13 = arith.divsi %10, %9 : i32
    %14 = arith.muli %12, %c16_i32 : i32
    %15 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %16 = tt.splat %14 : i32 -> tensor<16xi32>
    %17 = arith.addi %16, %15 : tensor<16xi32>
    %18 = tt.splat %arg3 : i32 -> tensor<16xi32>
    %19 = arith.remsi %17, %18 : tensor<16xi32>
    %20 = arith.muli %13, %c32_i32 : i32
    %21 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %22 = tt.splat %20 : i32 -> tensor<32xi32>
    %23 = arith.addi %22, %21 : tensor<32xi32>
    %24 = tt.splat %arg4 : i32 -> tensor<32xi32>
    %25 = arith.remsi %23, %24 : tensor<32xi32>
    %26 = tt.expand_dims %19 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %27 = tt.splat %arg6 : i32 -> tensor<16x1xi32>
    %28 = arith.muli %26, %27 : tensor<16x1xi32>
    %29 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %30 = tt.addptr %29, %28 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %31 = tt.expand_dims %15 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %32 = tt.splat %arg7 : i32 -> tensor<1x16xi32>
    %33 = arith.muli %31, %32 : tensor<1x16xi32>
    %34 = tt.broadcast %30 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %35 = tt.broadcast %33 : tensor<1x16xi32> -> tensor<16x16xi32>
    %36 = tt.addptr %34, %35 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %37 = tt.expand_dims %15 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %38 = tt.splat %arg8 : i32 -> tensor<16x1xi32>
    %39 = arith.muli %37, %38 : tensor<16x1xi32>
    %40 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %41 = tt.addptr %40, %39 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %42 = tt.expand_dims %25 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %43 = tt.splat %arg9 : i32 -> tensor<1x32xi32>
    %44 = arith.muli %42, %43 : tensor<1x32xi32>
    %45 = tt.broadcast %41 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %46 = tt.broadcast %44 : tensor<1x32xi32> -> tensor<16x32xi32>
    %47 = tt.addptr %45, %46 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %48 = arith.addi %arg5, %c15_i32 : i32
    %49 = arith.divsi %48, %c16_i32 : i32
    %50:3 = scf.for %arg12 = %c0_i32 to %49 step %c1_i32 iter_args(%arg13 = %36, %arg14 = %47, %arg15 = %cst_0) -> (tensor<16x16x!tt.ptr<f32>>, tensor<16x32x!tt.ptr<f32>>, tensor<16x32xf32>)  : i32 {
      %69 = arith.muli %arg12, %c16_i32 : i32
      %70 = arith.subi %arg5, %69 : i32
      %71 = tt.splat %70 : i32 -> tensor<1x16xi32>
      %72 = arith.cmpi slt, %31, %71 : tensor<1x16xi32>
      %73 = tt.broadcast %72 : tensor<1x16xi1> -> tensor<16x16xi1>
      %74 = tt.load %arg13, %73, %cst : tensor<16x16x!tt.ptr<f32>>
      %75 = tt.splat %70 : i32 -> tensor<16x1xi32>
      %76 = arith.cmpi slt, %37, %75 : tensor<16x1xi32>
      %77 = tt.broadcast %76 : tensor<16x1xi1> -> tensor<16x32xi1>
      %78 = tt.load %arg14, %77, %cst_0 : tensor<16x32x!tt.ptr<f32>>
      %79 = tt.dot %74, %78, %arg15, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x32xf32> -> tensor<16x32xf32>
      %80 = arith.muli %arg7, %c16_i32 : i32
      %81 = tt.splat %80 : i32 -> tensor<16x16xi32>
      %82 = tt.addptr %arg13, %81 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      %83 = arith.muli %arg8, %c16_i32 : i32
      %84 = tt.splat %83 : i32 -> tensor<16x32xi32>
      %85 = tt.addptr %arg14, %84 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
      scf.yield %82, %85, %79 : tensor<16x16x!tt.ptr<f32>>, tensor<16x32x!tt.ptr<f32>>, tensor<16x32xf32>
    }
    %51 = tt.expand_dims %17 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %52 = tt.splat %arg10 : i32 -> tensor<16x1xi32>
    %53 = arith.muli %52, %51 : tensor<16x1xi32>
    %54 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %55 = tt.addptr %54, %53 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %56 = tt.expand_dims %23 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %57 = tt.splat %arg11 : i32 -> tensor<1x32xi32>
    %58 = arith.muli %57, %56 : tensor<1x32xi32>
    %59 = tt.broadcast %55 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %60 = tt.broadcast %58 : tensor<1x32xi32> -> tensor<16x32xi32>
    %61 = tt.addptr %59, %60 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %62 = tt.splat %arg3 : i32 -> tensor<16x1xi32>
    %63 = arith.cmpi slt, %51, %62 : tensor<16x1xi32>
    %64 = tt.splat %arg4 : i32 -> tensor<1x32xi32>
    %65 = arith.cmpi slt, %56, %64 : tensor<1x32xi32>
    %66 = tt.broadcast %63 : tensor<16x1xi1> -> tensor<16x32xi1>
    %67 = tt.broadcast %65 : tensor<1x32xi1> -> tensor<16x32xi1>
    %68 = arith.andi %66, %67 : tensor<16x32xi1>
    tt.store %61, %50#2, %68 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @matmul_kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {noinline = false} {
//     %c16_i32 = arith.constant 16 : i32
//     %c15_i32 = arith.constant 15 : i32
//     %c32_i32 = arith.constant 32 : i32
//     %c31_i32 = arith.constant 31 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %cst = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %cst_0 = arith.constant 0.000000e+00 : f32
//     %c32 = arith.constant 32 : index
//     %c0 = arith.constant 0 : index
//     %c16 = arith.constant 16 : index
//     %0 = arith.index_cast %arg6 : i32 to index
//     %1 = arith.index_cast %arg7 : i32 to index
//     %2 = arith.index_cast %arg3 : i32 to index
//     %3 = arith.muli %0, %2 : index
//     %4 = arith.index_cast %arg8 : i32 to index
//     %5 = arith.index_cast %arg9 : i32 to index
//     %6 = arith.index_cast %arg4 : i32 to index
//     %7 = arith.muli %5, %6 : index
//     %8 = arith.index_cast %arg10 : i32 to index
//     %9 = arith.index_cast %arg11 : i32 to index
//     %10 = tt.get_program_id x : i32
//     %11 = arith.addi %arg3, %c15_i32 : i32
//     %12 = arith.divsi %11, %c16_i32 : i32
//     %13 = arith.addi %arg4, %c31_i32 : i32
//     %14 = arith.divsi %13, %c32_i32 : i32
//     %15 = arith.muli %14, %c2_i32 : i32
//     %16 = arith.divsi %10, %15 : i32
//     %17 = arith.muli %16, %c2_i32 : i32
//     %18 = arith.subi %12, %17 : i32
//     %19 = arith.minsi %18, %c2_i32 : i32
//     %20 = arith.remsi %10, %15 : i32
//     %21 = arith.remsi %20, %19 : i32
//     %22 = arith.addi %17, %21 : i32
//     %23 = arith.divsi %20, %19 : i32
//     %24 = arith.muli %22, %c16_i32 : i32
//     %25 = arith.index_cast %24 : i32 to index
//     %26 = arith.muli %0, %25 : index
//     %27 = arith.muli %25, %8 : index
//     %28 = arith.addi %25, %c16 : index
//     %29 = arith.minsi %28, %2 : index
//     %30 = arith.maxsi %29, %25 : index
//     %31 = arith.subi %30, %25 : index
//     %32 = arith.muli %23, %c32_i32 : i32
//     %33 = arith.index_cast %32 : i32 to index
//     %34 = arith.muli %5, %33 : index
//     %35 = arith.muli %33, %9 : index
//     %36 = tts.make_tptr %arg2 to sizes: [16, 32], strides: [%8, %9], offsets: [%27, %35], shape: [0, 0], order: [] : <f32> to tensor<16x32x!tt.ptr<f32>>
//     %37 = arith.addi %33, %c32 : index
//     %38 = arith.minsi %37, %6 : index
//     %39 = arith.maxsi %38, %33 : index
//     %40 = arith.subi %39, %33 : index
//     %41 = arith.addi %arg5, %c15_i32 : i32
//     %42 = arith.divsi %41, %c16_i32 : i32
//     %43:3 = scf.for %arg12 = %c0_i32 to %42 step %c1_i32 iter_args(%arg13 = %cst, %arg14 = %c0, %arg15 = %c0) -> (tensor<16x32xf32>, index, index)  : i32 {
//       %44 = tts.make_tptr %arg0 to sizes: [16, 16], strides: [%0, %1], offsets: [%26, %arg14], shape: [%3, 0], order: [] : <f32> to tensor<16x16x!tt.ptr<f32>>
//       %45 = tts.make_tptr %arg1 to sizes: [16, 32], strides: [%4, %5], offsets: [%arg15, %34], shape: [0, %7], order: [] : <f32> to tensor<16x32x!tt.ptr<f32>>
//       %46 = arith.muli %arg12, %c16_i32 : i32
//       %47 = arith.subi %arg5, %46 : i32
//       %48 = arith.index_cast %47 : i32 to index
//       %49 = arith.minsi %48, %c16 : index
//       %50 = arith.maxsi %49, %c0 : index
//       %51 = "tts.load"(%44, %50, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 16, -9223372036854775808>}> : (tensor<16x16x!tt.ptr<f32>>, index, f32) -> tensor<16x16xf32>
//       %52 = "tts.load"(%45, %50, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 32>}> : (tensor<16x32x!tt.ptr<f32>>, index, f32) -> tensor<16x32xf32>
//       %53 = tt.dot %51, %52, %arg13, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x32xf32> -> tensor<16x32xf32>
//       %54 = arith.muli %arg7, %c16_i32 : i32
//       %55 = arith.index_cast %54 : i32 to index
//       %56 = arith.addi %arg14, %55 : index
//       %57 = arith.muli %arg8, %c16_i32 : i32
//       %58 = arith.index_cast %57 : i32 to index
//       %59 = arith.addi %arg15, %58 : index
//       scf.yield %53, %56, %59 : tensor<16x32xf32>, index, index
//     }
//     "tts.store"(%36, %43#0, %31, %40) <{static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}> : (tensor<16x32x!tt.ptr<f32>>, tensor<16x32xf32>, index, index) -> ()
//     tt.return
//   }
// }
