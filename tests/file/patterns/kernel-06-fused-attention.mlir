// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @attention_forward(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: !tt.ptr<f32>, %arg4: !tt.ptr<f32>, %arg5: f32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32, %arg12: i32, %arg13: i32, %arg14: i32, %arg15: i32) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0xFF800000> : tensor<16x16xf32>
    %cst_0 = arith.constant 1.44269502 : f32
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<16xf32>
    %cst_2 = arith.constant dense<0xFF800000> : tensor<16xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = arith.muli %0, %c16_i32 : i32
    %3 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %4 = tt.splat %2 : i32 -> tensor<16xi32>
    %5 = arith.addi %4, %3 : tensor<16xi32>
    %6 = arith.muli %1, %arg8 : i32
    %7 = tt.addptr %arg0, %6 : !tt.ptr<f32>, i32
    %8 = tt.expand_dims %5 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %9 = tt.splat %arg9 : i32 -> tensor<16x1xi32>
    %10 = arith.muli %8, %9 : tensor<16x1xi32>
    %11 = tt.splat %7 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %12 = tt.addptr %11, %10 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %13 = tt.expand_dims %3 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %14 = tt.broadcast %12 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %15 = tt.broadcast %13 : tensor<1x16xi32> -> tensor<16x16xi32>
    %16 = tt.addptr %14, %15 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %17 = tt.splat %arg6 : i32 -> tensor<16x1xi32>
    %18 = arith.cmpi slt, %8, %17 : tensor<16x1xi32>
    %19 = tt.broadcast %18 : tensor<16x1xi1> -> tensor<16x16xi1>
    %20 = tt.load %16, %19, %cst_3 : tensor<16x16x!tt.ptr<f32>>
    %21 = arith.muli %1, %arg10 : i32
    %22 = tt.addptr %arg1, %21 : !tt.ptr<f32>, i32
    %23 = tt.splat %arg11 : i32 -> tensor<1x16xi32>
    %24 = arith.muli %13, %23 : tensor<1x16xi32>
    %25 = tt.splat %22 : !tt.ptr<f32> -> tensor<1x16x!tt.ptr<f32>>
    %26 = tt.addptr %25, %24 : tensor<1x16x!tt.ptr<f32>>, tensor<1x16xi32>
    %27 = tt.expand_dims %3 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %28 = tt.broadcast %26 : tensor<1x16x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %29 = tt.broadcast %27 : tensor<16x1xi32> -> tensor<16x16xi32>
    %30 = tt.addptr %28, %29 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %31 = arith.muli %1, %arg12 : i32
    %32 = tt.addptr %arg2, %31 : !tt.ptr<f32>, i32
    %33 = tt.splat %arg13 : i32 -> tensor<16x1xi32>
    %34 = arith.muli %27, %33 : tensor<16x1xi32>
    %35 = tt.splat %32 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %36 = tt.addptr %35, %34 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %37 = tt.broadcast %36 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %38 = tt.addptr %37, %15 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %39 = arith.mulf %arg5, %cst_0 : f32
    %40 = arith.addi %2, %c16_i32 : i32
    %41 = arith.minsi %40, %arg7 : i32
    %42 = arith.minsi %2, %arg7 : i32
    %43:3 = scf.for %arg16 = %c0_i32 to %42 step %c16_i32 iter_args(%arg17 = %cst_3, %arg18 = %cst_1, %arg19 = %cst_2) -> (tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>)  : i32 {
      %64 = tt.splat %arg16 : i32 -> tensor<16xi32>
      %65 = arith.addi %64, %3 : tensor<16xi32>
      %66 = arith.muli %arg16, %arg11 : i32
      %67 = tt.splat %66 : i32 -> tensor<16x16xi32>
      %68 = tt.addptr %30, %67 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      %69 = tt.expand_dims %65 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %70 = tt.splat %arg7 : i32 -> tensor<1x16xi32>
      %71 = arith.cmpi slt, %69, %70 : tensor<1x16xi32>
      %72 = tt.broadcast %71 : tensor<1x16xi1> -> tensor<16x16xi1>
      %73 = tt.load %68, %72, %cst_3 : tensor<16x16x!tt.ptr<f32>>
      %74 = tt.dot %20, %73, %cst_3, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
      %75 = tt.splat %39 : f32 -> tensor<16x16xf32>
      %76 = arith.mulf %74, %75 : tensor<16x16xf32>
      %77 = arith.select %72, %76, %cst : tensor<16x16xi1>, tensor<16x16xf32>
      %78 = "tt.reduce"(%77) <{axis = 1 : i32}> ({
      ^bb0(%arg20: f32, %arg21: f32):
        %101 = arith.maxnumf %arg20, %arg21 : f32
        tt.reduce.return %101 : f32
      }) : (tensor<16x16xf32>) -> tensor<16xf32>
      %79 = arith.maxnumf %arg19, %78 : tensor<16xf32>
      %80 = tt.expand_dims %79 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %81 = tt.broadcast %80 : tensor<16x1xf32> -> tensor<16x16xf32>
      %82 = arith.subf %77, %81 : tensor<16x16xf32>
      %83 = math.exp2 %82 : tensor<16x16xf32>
      %84 = arith.subf %arg19, %79 : tensor<16xf32>
      %85 = math.exp2 %84 : tensor<16xf32>
      %86 = arith.mulf %arg18, %85 : tensor<16xf32>
      %87 = "tt.reduce"(%83) <{axis = 1 : i32}> ({
      ^bb0(%arg20: f32, %arg21: f32):
        %101 = arith.addf %arg20, %arg21 : f32
        tt.reduce.return %101 : f32
      }) : (tensor<16x16xf32>) -> tensor<16xf32>
      %88 = arith.addf %86, %87 : tensor<16xf32>
      %89 = tt.expand_dims %85 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %90 = tt.broadcast %89 : tensor<16x1xf32> -> tensor<16x16xf32>
      %91 = arith.mulf %arg17, %90 : tensor<16x16xf32>
      %92 = arith.muli %arg16, %arg13 : i32
      %93 = tt.splat %92 : i32 -> tensor<16x16xi32>
      %94 = tt.addptr %38, %93 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      %95 = tt.expand_dims %65 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %96 = tt.splat %arg7 : i32 -> tensor<16x1xi32>
      %97 = arith.cmpi slt, %95, %96 : tensor<16x1xi32>
      %98 = tt.broadcast %97 : tensor<16x1xi1> -> tensor<16x16xi1>
      %99 = tt.load %94, %98, %cst_3 : tensor<16x16x!tt.ptr<f32>>
      %100 = tt.dot %83, %99, %91, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
      scf.yield %100, %88, %79 : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    }
    %44:3 = scf.for %arg16 = %42 to %41 step %c16_i32 iter_args(%arg17 = %43#0, %arg18 = %43#1, %arg19 = %43#2) -> (tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>)  : i32 {
      %64 = tt.splat %arg16 : i32 -> tensor<16xi32>
      %65 = arith.addi %64, %3 : tensor<16xi32>
      %66 = arith.muli %arg16, %arg11 : i32
      %67 = tt.splat %66 : i32 -> tensor<16x16xi32>
      %68 = tt.addptr %30, %67 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      %69 = tt.expand_dims %65 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %70 = tt.splat %arg7 : i32 -> tensor<1x16xi32>
      %71 = arith.cmpi slt, %69, %70 : tensor<1x16xi32>
      %72 = tt.broadcast %71 : tensor<1x16xi1> -> tensor<16x16xi1>
      %73 = tt.load %68, %72, %cst_3 : tensor<16x16x!tt.ptr<f32>>
      %74 = tt.dot %20, %73, %cst_3, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
      %75 = tt.splat %39 : f32 -> tensor<16x16xf32>
      %76 = arith.mulf %74, %75 : tensor<16x16xf32>
      %77 = arith.select %72, %76, %cst : tensor<16x16xi1>, tensor<16x16xf32>
      %78 = tt.broadcast %8 : tensor<16x1xi32> -> tensor<16x16xi32>
      %79 = tt.broadcast %69 : tensor<1x16xi32> -> tensor<16x16xi32>
      %80 = arith.cmpi sge, %78, %79 : tensor<16x16xi32>
      %81 = arith.select %80, %77, %cst : tensor<16x16xi1>, tensor<16x16xf32>
      %82 = "tt.reduce"(%81) <{axis = 1 : i32}> ({
      ^bb0(%arg20: f32, %arg21: f32):
        %105 = arith.maxnumf %arg20, %arg21 : f32
        tt.reduce.return %105 : f32
      }) : (tensor<16x16xf32>) -> tensor<16xf32>
      %83 = arith.maxnumf %arg19, %82 : tensor<16xf32>
      %84 = tt.expand_dims %83 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %85 = tt.broadcast %84 : tensor<16x1xf32> -> tensor<16x16xf32>
      %86 = arith.subf %81, %85 : tensor<16x16xf32>
      %87 = math.exp2 %86 : tensor<16x16xf32>
      %88 = arith.subf %arg19, %83 : tensor<16xf32>
      %89 = math.exp2 %88 : tensor<16xf32>
      %90 = arith.mulf %arg18, %89 : tensor<16xf32>
      %91 = "tt.reduce"(%87) <{axis = 1 : i32}> ({
      ^bb0(%arg20: f32, %arg21: f32):
        %105 = arith.addf %arg20, %arg21 : f32
        tt.reduce.return %105 : f32
      }) : (tensor<16x16xf32>) -> tensor<16xf32>
      %92 = arith.addf %90, %91 : tensor<16xf32>
      %93 = tt.expand_dims %89 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %94 = tt.broadcast %93 : tensor<16x1xf32> -> tensor<16x16xf32>
      %95 = arith.mulf %arg17, %94 : tensor<16x16xf32>
      %96 = arith.muli %arg16, %arg13 : i32
      %97 = tt.splat %96 : i32 -> tensor<16x16xi32>
      %98 = tt.addptr %38, %97 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      %99 = tt.expand_dims %65 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %100 = tt.splat %arg7 : i32 -> tensor<16x1xi32>
      %101 = arith.cmpi slt, %99, %100 : tensor<16x1xi32>
      %102 = tt.broadcast %101 : tensor<16x1xi1> -> tensor<16x16xi1>
      %103 = tt.load %98, %102, %cst_3 : tensor<16x16x!tt.ptr<f32>>
      %104 = tt.dot %87, %103, %95, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
      scf.yield %104, %92, %83 : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
    }
    %45 = tt.expand_dims %44#1 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %46 = tt.broadcast %45 : tensor<16x1xf32> -> tensor<16x16xf32>
    %47 = arith.divf %44#0, %46 : tensor<16x16xf32>
    %48 = arith.muli %1, %arg6 : i32
    %49 = tt.addptr %arg4, %48 : !tt.ptr<f32>, i32
    %50 = tt.splat %49 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %51 = tt.addptr %50, %5 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %52 = math.log2 %44#1 : tensor<16xf32>
    %53 = arith.addf %44#2, %52 : tensor<16xf32>
    %54 = tt.splat %arg6 : i32 -> tensor<16xi32>
    %55 = arith.cmpi slt, %5, %54 : tensor<16xi32>
    tt.store %51, %53, %55 : tensor<16x!tt.ptr<f32>>
    %56 = arith.muli %1, %arg14 : i32
    %57 = tt.addptr %arg3, %56 : !tt.ptr<f32>, i32
    %58 = tt.splat %arg15 : i32 -> tensor<16x1xi32>
    %59 = arith.muli %8, %58 : tensor<16x1xi32>
    %60 = tt.splat %57 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %61 = tt.addptr %60, %59 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %62 = tt.broadcast %61 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %63 = tt.addptr %62, %15 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %63, %47, %19 : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @attention_forward(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: !tt.ptr<f32>, %arg4: !tt.ptr<f32>, %arg5: f32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32, %arg12: i32, %arg13: i32, %arg14: i32, %arg15: i32) attributes {noinline = false} {
//     %c16_i32 = arith.constant 16 : i32
//     %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
//     %cst_0 = arith.constant 0.000000e+00 : f32
//     %cst_1 = arith.constant dense<0xFF800000> : tensor<16xf32>
//     %cst_2 = arith.constant dense<0.000000e+00> : tensor<16xf32>
//     %cst_3 = arith.constant 1.44269502 : f32
//     %cst_4 = arith.constant dense<0xFF800000> : tensor<16x16xf32>
//     %c0_i32 = arith.constant 0 : i32
//     %c16 = arith.constant 16 : index
//     %0 = arith.index_cast %arg9 : i32 to index
//     %1 = arith.index_cast %arg6 : i32 to index
//     %2 = arith.index_cast %arg11 : i32 to index
//     %3 = arith.index_cast %arg7 : i32 to index
//     %4 = arith.index_cast %arg13 : i32 to index
//     %5 = arith.index_cast %arg15 : i32 to index
//     %6 = tt.get_program_id x : i32
//     %7 = tt.get_program_id y : i32
//     %8 = arith.muli %6, %c16_i32 : i32
//     %9 = arith.index_cast %8 : i32 to index
//     %10 = arith.muli %0, %9 : index
//     %11 = arith.addi %9, %c16 : index
//     %12 = arith.minsi %11, %1 : index
//     %13 = arith.maxsi %12, %9 : index
//     %14 = arith.subi %13, %9 : index
//     %15 = arith.muli %9, %5 : index
//     %16 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %17 = tt.splat %8 : i32 -> tensor<16xi32>
//     %18 = arith.addi %17, %16 : tensor<16xi32>
//     %19 = arith.muli %7, %arg8 : i32
//     %20 = arith.index_cast %19 : i32 to index
//     %21 = arith.addi %10, %20 : index
//     %22 = tts.make_tptr %arg0 to sizes: [16, 16], strides: [%0, 1], offsets: [%21, 0], shape: [0, 0], order: [] : <f32> to tensor<16x16x!tt.ptr<f32>>
//     %23 = tt.expand_dims %18 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
//     %24 = "tts.load"(%22, %14, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 16>}> : (tensor<16x16x!tt.ptr<f32>>, index, f32) -> tensor<16x16xf32>
//     %25 = arith.muli %7, %arg10 : i32
//     %26 = arith.index_cast %25 : i32 to index
//     %27 = arith.muli %7, %arg12 : i32
//     %28 = arith.index_cast %27 : i32 to index
//     %29 = arith.mulf %arg5, %cst_3 : f32
//     %30 = arith.addi %8, %c16_i32 : i32
//     %31 = arith.minsi %30, %arg7 : i32
//     %32 = arith.minsi %8, %arg7 : i32
//     %33:3 = scf.for %arg16 = %c0_i32 to %32 step %c16_i32 iter_args(%arg17 = %cst, %arg18 = %cst_2, %arg19 = %cst_1) -> (tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>)  : i32 {
//       %48 = arith.index_cast %arg16 : i32 to index
//       %49 = arith.addi %48, %c16 : index
//       %50 = arith.minsi %49, %3 : index
//       %51 = arith.maxsi %50, %48 : index
//       %52 = arith.subi %51, %48 : index
//       %53 = tt.splat %arg16 : i32 -> tensor<16xi32>
//       %54 = arith.addi %53, %16 : tensor<16xi32>
//       %55 = arith.muli %arg16, %arg11 : i32
//       %56 = arith.index_cast %55 : i32 to index
//       %57 = tts.make_tptr %arg1 to sizes: [16, 16], strides: [1, %2], offsets: [%56, %26], shape: [0, 0], order: [] : <f32> to tensor<16x16x!tt.ptr<f32>>
//       %58 = tt.expand_dims %54 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
//       %59 = tt.splat %arg7 : i32 -> tensor<1x16xi32>
//       %60 = arith.cmpi slt, %58, %59 : tensor<1x16xi32>
//       %61 = tt.broadcast %60 : tensor<1x16xi1> -> tensor<16x16xi1>
//       %62 = "tts.load"(%57, %52, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 16, -9223372036854775808>}> : (tensor<16x16x!tt.ptr<f32>>, index, f32) -> tensor<16x16xf32>
//       %63 = tt.dot %24, %62, %cst, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
//       %64 = tt.splat %29 : f32 -> tensor<16x16xf32>
//       %65 = arith.mulf %63, %64 : tensor<16x16xf32>
//       %66 = arith.select %61, %65, %cst_4 : tensor<16x16xi1>, tensor<16x16xf32>
//       %67 = "tt.reduce"(%66) <{axis = 1 : i32}> ({
//       ^bb0(%arg20: f32, %arg21: f32):
//         %87 = arith.maxnumf %arg20, %arg21 : f32
//         tt.reduce.return %87 : f32
//       }) : (tensor<16x16xf32>) -> tensor<16xf32>
//       %68 = arith.maxnumf %arg19, %67 : tensor<16xf32>
//       %69 = tt.expand_dims %68 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
//       %70 = tt.broadcast %69 : tensor<16x1xf32> -> tensor<16x16xf32>
//       %71 = arith.subf %66, %70 : tensor<16x16xf32>
//       %72 = math.exp2 %71 : tensor<16x16xf32>
//       %73 = arith.subf %arg19, %68 : tensor<16xf32>
//       %74 = math.exp2 %73 : tensor<16xf32>
//       %75 = arith.mulf %arg18, %74 : tensor<16xf32>
//       %76 = "tt.reduce"(%72) <{axis = 1 : i32}> ({
//       ^bb0(%arg20: f32, %arg21: f32):
//         %87 = arith.addf %arg20, %arg21 : f32
//         tt.reduce.return %87 : f32
//       }) : (tensor<16x16xf32>) -> tensor<16xf32>
//       %77 = arith.addf %75, %76 : tensor<16xf32>
//       %78 = tt.expand_dims %74 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
//       %79 = tt.broadcast %78 : tensor<16x1xf32> -> tensor<16x16xf32>
//       %80 = arith.mulf %arg17, %79 : tensor<16x16xf32>
//       %81 = arith.muli %arg16, %arg13 : i32
//       %82 = arith.index_cast %81 : i32 to index
//       %83 = arith.addi %28, %82 : index
//       %84 = tts.make_tptr %arg2 to sizes: [16, 16], strides: [%4, 1], offsets: [%83, 0], shape: [0, 0], order: [] : <f32> to tensor<16x16x!tt.ptr<f32>>
//       %85 = "tts.load"(%84, %52, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 16>}> : (tensor<16x16x!tt.ptr<f32>>, index, f32) -> tensor<16x16xf32>
//       %86 = tt.dot %72, %85, %80, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
//       scf.yield %86, %77, %68 : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
//     }
//     %34:3 = scf.for %arg16 = %32 to %31 step %c16_i32 iter_args(%arg17 = %33#0, %arg18 = %33#1, %arg19 = %33#2) -> (tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>)  : i32 {
//       %48 = arith.index_cast %arg16 : i32 to index
//       %49 = arith.addi %48, %c16 : index
//       %50 = arith.minsi %49, %3 : index
//       %51 = arith.maxsi %50, %48 : index
//       %52 = arith.subi %51, %48 : index
//       %53 = tt.splat %arg16 : i32 -> tensor<16xi32>
//       %54 = arith.addi %53, %16 : tensor<16xi32>
//       %55 = arith.muli %arg16, %arg11 : i32
//       %56 = arith.index_cast %55 : i32 to index
//       %57 = tts.make_tptr %arg1 to sizes: [16, 16], strides: [1, %2], offsets: [%56, %26], shape: [0, 0], order: [] : <f32> to tensor<16x16x!tt.ptr<f32>>
//       %58 = tt.expand_dims %54 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
//       %59 = tt.splat %arg7 : i32 -> tensor<1x16xi32>
//       %60 = arith.cmpi slt, %58, %59 : tensor<1x16xi32>
//       %61 = tt.broadcast %60 : tensor<1x16xi1> -> tensor<16x16xi1>
//       %62 = "tts.load"(%57, %52, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 16, -9223372036854775808>}> : (tensor<16x16x!tt.ptr<f32>>, index, f32) -> tensor<16x16xf32>
//       %63 = tt.dot %24, %62, %cst, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
//       %64 = tt.splat %29 : f32 -> tensor<16x16xf32>
//       %65 = arith.mulf %63, %64 : tensor<16x16xf32>
//       %66 = arith.select %61, %65, %cst_4 : tensor<16x16xi1>, tensor<16x16xf32>
//       %67 = tt.broadcast %23 : tensor<16x1xi32> -> tensor<16x16xi32>
//       %68 = tt.broadcast %58 : tensor<1x16xi32> -> tensor<16x16xi32>
//       %69 = arith.cmpi sge, %67, %68 : tensor<16x16xi32>
//       %70 = arith.select %69, %66, %cst_4 : tensor<16x16xi1>, tensor<16x16xf32>
//       %71 = "tt.reduce"(%70) <{axis = 1 : i32}> ({
//       ^bb0(%arg20: f32, %arg21: f32):
//         %91 = arith.maxnumf %arg20, %arg21 : f32
//         tt.reduce.return %91 : f32
//       }) : (tensor<16x16xf32>) -> tensor<16xf32>
//       %72 = arith.maxnumf %arg19, %71 : tensor<16xf32>
//       %73 = tt.expand_dims %72 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
//       %74 = tt.broadcast %73 : tensor<16x1xf32> -> tensor<16x16xf32>
//       %75 = arith.subf %70, %74 : tensor<16x16xf32>
//       %76 = math.exp2 %75 : tensor<16x16xf32>
//       %77 = arith.subf %arg19, %72 : tensor<16xf32>
//       %78 = math.exp2 %77 : tensor<16xf32>
//       %79 = arith.mulf %arg18, %78 : tensor<16xf32>
//       %80 = "tt.reduce"(%76) <{axis = 1 : i32}> ({
//       ^bb0(%arg20: f32, %arg21: f32):
//         %91 = arith.addf %arg20, %arg21 : f32
//         tt.reduce.return %91 : f32
//       }) : (tensor<16x16xf32>) -> tensor<16xf32>
//       %81 = arith.addf %79, %80 : tensor<16xf32>
//       %82 = tt.expand_dims %78 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
//       %83 = tt.broadcast %82 : tensor<16x1xf32> -> tensor<16x16xf32>
//       %84 = arith.mulf %arg17, %83 : tensor<16x16xf32>
//       %85 = arith.muli %arg16, %arg13 : i32
//       %86 = arith.index_cast %85 : i32 to index
//       %87 = arith.addi %28, %86 : index
//       %88 = tts.make_tptr %arg2 to sizes: [16, 16], strides: [%4, 1], offsets: [%87, 0], shape: [0, 0], order: [] : <f32> to tensor<16x16x!tt.ptr<f32>>
//       %89 = "tts.load"(%88, %52, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 16>}> : (tensor<16x16x!tt.ptr<f32>>, index, f32) -> tensor<16x16xf32>
//       %90 = tt.dot %76, %89, %84, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
//       scf.yield %90, %81, %72 : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
//     }
//     %35 = tt.expand_dims %34#1 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
//     %36 = tt.broadcast %35 : tensor<16x1xf32> -> tensor<16x16xf32>
//     %37 = arith.divf %34#0, %36 : tensor<16x16xf32>
//     %38 = arith.muli %7, %arg6 : i32
//     %39 = arith.index_cast %38 : i32 to index
//     %40 = arith.addi %9, %39 : index
//     %41 = tts.make_tptr %arg4 to sizes: [16], strides: [1], offsets: [%40], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %42 = math.log2 %34#1 : tensor<16xf32>
//     %43 = arith.addf %34#2, %42 : tensor<16xf32>
//     "tts.store"(%41, %43, %14) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, index) -> ()
//     %44 = arith.muli %7, %arg14 : i32
//     %45 = arith.index_cast %44 : i32 to index
//     %46 = arith.addi %15, %45 : index
//     %47 = tts.make_tptr %arg3 to sizes: [16, 16], strides: [%5, 1], offsets: [%46, 0], shape: [0, 0], order: [] : <f32> to tensor<16x16x!tt.ptr<f32>>
//     "tts.store"(%47, %37, %14) <{static_mask_dims = array<i64: -9223372036854775808, 16>}> : (tensor<16x16x!tt.ptr<f32>>, tensor<16x16xf32>, index) -> ()
//     tt.return
//   }
// }
