// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @matmul_kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %c2_i32 = arith.constant 2 : i32
    %c31_i32 = arith.constant 31 : i32
    %c32_i32 = arith.constant 32 : i32
    %c16_i32 = arith.constant 16 : i32
    %c15_i32 = arith.constant 15 : i32
    %0 = arith.addi %arg3, %c15_i32 : i32
    %1 = arith.divsi %0, %c16_i32 : i32
    %2 = arith.addi %arg4, %c31_i32 : i32
    %3 = arith.divsi %2, %c32_i32 : i32
    %4 = tt.get_program_id x : i32
    %5 = arith.divsi %4, %3 : i32
    %6 = arith.remsi %4, %3 : i32
    %7 = arith.muli %5, %3 : i32
    %8 = arith.addi %7, %6 : i32
    %9 = arith.muli %3, %c2_i32 : i32
    %10 = arith.divsi %8, %9 : i32
    %11 = arith.muli %10, %c2_i32 : i32
    %12 = arith.subi %1, %11 : i32
    %13 = arith.minsi %12, %c2_i32 : i32
    %14 = arith.remsi %8, %9 : i32
    %15 = arith.remsi %14, %13 : i32
    %16 = arith.addi %11, %15 : i32
    %17 = arith.divsi %14, %13 : i32
    %18 = arith.muli %16, %c16_i32 : i32
    %19 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %20 = tt.splat %18 : i32 -> tensor<16xi32>
    %21 = arith.addi %20, %19 : tensor<16xi32>
    %22 = arith.muli %17, %c32_i32 : i32
    %23 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %24 = tt.splat %22 : i32 -> tensor<32xi32>
    %25 = arith.addi %24, %23 : tensor<32xi32>
    %26 = tt.splat %arg3 : i32 -> tensor<16xi32>
    %27 = arith.remsi %21, %26 : tensor<16xi32>
    %28 = tt.expand_dims %27 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %29 = tt.splat %arg6 : i32 -> tensor<16x1xi32>
    %30 = arith.muli %28, %29 : tensor<16x1xi32>
    %31 = tt.expand_dims %19 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %32 = tt.splat %arg7 : i32 -> tensor<1x16xi32>
    %33 = arith.muli %31, %32 : tensor<1x16xi32>
    %34 = tt.broadcast %30 : tensor<16x1xi32> -> tensor<16x16xi32>
    %35 = tt.broadcast %33 : tensor<1x16xi32> -> tensor<16x16xi32>
    %36 = arith.addi %34, %35 : tensor<16x16xi32>
    %37 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %38 = tt.addptr %37, %36 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %39 = tt.splat %arg4 : i32 -> tensor<32xi32>
    %40 = arith.remsi %25, %39 : tensor<32xi32>
    %41 = tt.expand_dims %40 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %42 = tt.splat %arg9 : i32 -> tensor<1x32xi32>
    %43 = arith.muli %41, %42 : tensor<1x32xi32>
    %44 = tt.expand_dims %19 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %45 = tt.splat %arg8 : i32 -> tensor<16x1xi32>
    %46 = arith.muli %44, %45 : tensor<16x1xi32>
    %47 = tt.broadcast %43 : tensor<1x32xi32> -> tensor<16x32xi32>
    %48 = tt.broadcast %46 : tensor<16x1xi32> -> tensor<16x32xi32>
    %49 = arith.addi %47, %48 : tensor<16x32xi32>
    %50 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
    %51 = tt.addptr %50, %49 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %52:3 = scf.for %arg12 = %c0_i32 to %arg5 step %c16_i32 iter_args(%arg13 = %38, %arg14 = %51, %arg15 = %cst_0) -> (tensor<16x16x!tt.ptr<f32>>, tensor<16x32x!tt.ptr<f32>>, tensor<16x32xf32>)  : i32 {
      %71 = arith.subi %arg5, %arg12 : i32
      %72 = tt.splat %71 : i32 -> tensor<16xi32>
      %73 = arith.cmpi slt, %19, %72 : tensor<16xi32>
      %74 = tt.expand_dims %73 {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
      %75 = tt.broadcast %74 : tensor<1x16xi1> -> tensor<16x16xi1>
      %76 = tt.load %arg13, %75, %cst : tensor<16x16x!tt.ptr<f32>>
      %77 = tt.expand_dims %73 {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
      %78 = tt.broadcast %77 : tensor<16x1xi1> -> tensor<16x32xi1>
      %79 = tt.load %arg14, %78, %cst_0 : tensor<16x32x!tt.ptr<f32>>
      %80 = tt.dot %76, %79, %arg15, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x32xf32> -> tensor<16x32xf32>
      %81 = arith.muli %arg7, %c16_i32 : i32
      %82 = tt.splat %81 : i32 -> tensor<16x16xi32>
      %83 = tt.addptr %arg13, %82 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      %84 = arith.muli %arg8, %c16_i32 : i32
      %85 = tt.splat %84 : i32 -> tensor<16x32xi32>
      %86 = tt.addptr %arg14, %85 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
      scf.yield %83, %86, %80 : tensor<16x16x!tt.ptr<f32>>, tensor<16x32x!tt.ptr<f32>>, tensor<16x32xf32>
    }
    %53 = arith.cmpi slt, %21, %26 : tensor<16xi32>
    %54 = tt.expand_dims %53 {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
    %55 = arith.cmpi slt, %25, %39 : tensor<32xi32>
    %56 = tt.expand_dims %55 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
    %57 = tt.broadcast %54 : tensor<16x1xi1> -> tensor<16x32xi1>
    %58 = tt.broadcast %56 : tensor<1x32xi1> -> tensor<16x32xi1>
    %59 = arith.andi %57, %58 : tensor<16x32xi1>
    %60 = tt.expand_dims %21 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %61 = tt.splat %arg10 : i32 -> tensor<16x1xi32>
    %62 = arith.muli %60, %61 : tensor<16x1xi32>
    %63 = tt.expand_dims %25 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %64 = tt.splat %arg11 : i32 -> tensor<1x32xi32>
    %65 = arith.muli %63, %64 : tensor<1x32xi32>
    %66 = tt.broadcast %62 : tensor<16x1xi32> -> tensor<16x32xi32>
    %67 = tt.broadcast %65 : tensor<1x32xi32> -> tensor<16x32xi32>
    %68 = arith.addi %66, %67 : tensor<16x32xi32>
    %69 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
    %70 = tt.addptr %69, %68 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    tt.store %70, %52#2, %59 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @matmul_kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {noinline = false} {
//     %c15_i32 = arith.constant 15 : i32
//     %c16_i32 = arith.constant 16 : i32
//     %c32_i32 = arith.constant 32 : i32
//     %c31_i32 = arith.constant 31 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %cst = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
//     %c0_i32 = arith.constant 0 : i32
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
//     %10 = arith.addi %arg3, %c15_i32 : i32
//     %11 = arith.divsi %10, %c16_i32 : i32
//     %12 = arith.addi %arg4, %c31_i32 : i32
//     %13 = arith.divsi %12, %c32_i32 : i32
//     %14 = tt.get_program_id x : i32
//     %15 = arith.divsi %14, %13 : i32
//     %16 = arith.remsi %14, %13 : i32
//     %17 = arith.muli %15, %13 : i32
//     %18 = arith.addi %17, %16 : i32
//     %19 = arith.muli %13, %c2_i32 : i32
//     %20 = arith.divsi %18, %19 : i32
//     %21 = arith.muli %20, %c2_i32 : i32
//     %22 = arith.subi %11, %21 : i32
//     %23 = arith.minsi %22, %c2_i32 : i32
//     %24 = arith.remsi %18, %19 : i32
//     %25 = arith.remsi %24, %23 : i32
//     %26 = arith.addi %21, %25 : i32
//     %27 = arith.divsi %24, %23 : i32
//     %28 = arith.muli %26, %c16_i32 : i32
//     %29 = arith.index_cast %28 : i32 to index
//     %30 = arith.muli %0, %29 : index
//     %31 = arith.muli %29, %8 : index
//     %32 = arith.addi %29, %c16 : index
//     %33 = arith.minsi %32, %2 : index
//     %34 = arith.maxsi %33, %29 : index
//     %35 = arith.subi %34, %29 : index
//     %36 = arith.muli %27, %c32_i32 : i32
//     %37 = arith.index_cast %36 : i32 to index
//     %38 = arith.muli %5, %37 : index
//     %39 = arith.muli %37, %9 : index
//     %40 = tts.make_tptr %arg2 to sizes: [16, 32], strides: [%8, %9], offsets: [%31, %39], shape: [0, 0], order: [] : <f32> to tensor<16x32x!tt.ptr<f32>>
//     %41 = arith.addi %37, %c32 : index
//     %42 = arith.minsi %41, %6 : index
//     %43 = arith.maxsi %42, %37 : index
//     %44 = arith.subi %43, %37 : index
//     %45:3 = scf.for %arg12 = %c0_i32 to %arg5 step %c16_i32 iter_args(%arg13 = %cst, %arg14 = %c0, %arg15 = %c0) -> (tensor<16x32xf32>, index, index)  : i32 {
//       %46 = tts.make_tptr %arg0 to sizes: [16, 16], strides: [%0, %1], offsets: [%30, %arg14], shape: [%3, 0], order: [] : <f32> to tensor<16x16x!tt.ptr<f32>>
//       %47 = tts.make_tptr %arg1 to sizes: [16, 32], strides: [%4, %5], offsets: [%arg15, %38], shape: [0, %7], order: [] : <f32> to tensor<16x32x!tt.ptr<f32>>
//       %48 = arith.subi %arg5, %arg12 : i32
//       %49 = arith.index_cast %48 : i32 to index
//       %50 = arith.minsi %49, %c16 : index
//       %51 = arith.maxsi %50, %c0 : index
//       %52 = "tts.load"(%46, %51, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 16, -9223372036854775808>}> : (tensor<16x16x!tt.ptr<f32>>, index, f32) -> tensor<16x16xf32>
//       %53 = "tts.load"(%47, %51, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 32>}> : (tensor<16x32x!tt.ptr<f32>>, index, f32) -> tensor<16x32xf32>
//       %54 = tt.dot %52, %53, %arg13, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x32xf32> -> tensor<16x32xf32>
//       %55 = arith.muli %arg7, %c16_i32 : i32
//       %56 = arith.index_cast %55 : i32 to index
//       %57 = arith.addi %arg14, %56 : index
//       %58 = arith.muli %arg8, %c16_i32 : i32
//       %59 = arith.index_cast %58 : i32 to index
//       %60 = arith.addi %arg15, %59 : index
//       scf.yield %54, %57, %60 : tensor<16x32xf32>, index, index
//     }
//     "tts.store"(%40, %45#0, %35, %44) <{static_mask_dims = array<i64: -9223372036854775808, -9223372036854775808>}> : (tensor<16x32x!tt.ptr<f32>>, tensor<16x32xf32>, index, index) -> ()
//     tt.return
//   }
// }
