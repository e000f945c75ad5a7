// Every op of the dialect, in the text of Triton 3.9; that of 3.6 is compared with what 3.6 prints.
// RUN: tilewright-opt %s --verify-each | exact %s

module {
  tt.func private @helper(%arg0: f32, %arg1: i32) -> f32 attributes {noinline = false} {
    tt.return %arg0 : f32
  }
  tt.func private @h2(%arg0: f32, %arg1: i32) -> (f32, i32) attributes {noinline = true} {
    tt.return %arg0, %arg1 : f32, i32
  }
  tt.func public @k(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32, %arg2: !tt.ptr<tensor<4x4xf32>>, %arg3: i64, %arg4: !tt.ptr<f16>, %arg5: f32, %arg6: !tt.ptr<i32>) {
    %0 = tt.get_program_id x : i32
    %1 = tt.get_num_programs z : i32
    %2 = tt.make_range {a.b, end = 16 : i32, start = 0 : i32, tt.foo = 1 : i32} : tensor<16xi32>
    %3 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %4 = tt.addptr %3, %2 {tt.divisibility = dense<8> : tensor<1xi32>} : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %5 = tt.load %4 {b.c, cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_last>, isVolatile = true} : tensor<16x!tt.ptr<f32>>
    %cst = arith.constant dense<true> : tensor<16xi1>
    %true = arith.constant true
    %6 = tt.load %4, %cst : tensor<16x!tt.ptr<f32>>
    %7 = tt.load %4, %cst, %5 {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : tensor<16x!tt.ptr<f32>>
    %8 = tt.load %arg0 : !tt.ptr<f32>
    tt.store %4, %5 {b.c} : tensor<16x!tt.ptr<f32>>
    tt.store %4, %5, %cst {cachePolicy = #tt.cache_policy<cache_modifier = wb, eviction_policy = evict_first>} : tensor<16x!tt.ptr<f32>>
    tt.store %arg0, %8 : !tt.ptr<f32>
    %9 = tt.load %arg2 {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<4x4xf32>>
    tt.store %arg2, %9 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<4x4xf32>>
    %10 = tt.expand_dims %2 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %11 = tt.broadcast %10 : tensor<16x1xi32> -> tensor<16x32xi32>
    %12 = tt.reshape %11 allow_reorder efficient_layout : tensor<16x32xi32> -> tensor<512xi32>
    %13 = tt.reshape %11 allow_reorder : tensor<16x32xi32> -> tensor<512xi32>
    %14 = tt.reshape %11 : tensor<16x32xi32> -> tensor<512xi32>
    %15 = tt.trans %11 {order = array<i32: 1, 0>} : tensor<16x32xi32> -> tensor<32x16xi32>
    %16 = tt.join %5, %5 : tensor<16xf32> -> tensor<16x2xf32>
    %outLHS, %outRHS = tt.split %16 : tensor<16x2xf32> -> tensor<16xf32>
    %17 = tt.cat %5, %5 : tensor<16xf32> -> tensor<32xf32>
    %18 = tt.gather %17[%2] {axis = 0 : i32} : (tensor<32xf32>, tensor<16xi32>) -> tensor<16xf32>
    %19 = tt.gather %17[%2] {axis = 0 : i32, efficient_layout} : (tensor<32xf32>, tensor<16xi32>) -> tensor<16xf32>
    %20 = tt.histogram %2 : tensor<16xi32> -> tensor<8xi32>
    %21 = tt.histogram %2, %cst : tensor<16xi32> -> tensor<8xi32>
    %22 = tt.ptr_to_int %arg0 : !tt.ptr<f32> -> i64
    %23 = tt.int_to_ptr %22 : i64 -> !tt.ptr<f32>
    %24 = tt.bitcast %arg0 : !tt.ptr<f32> -> !tt.ptr<i32>
    %25 = tt.fp_to_fp %5, rounding = rtne : tensor<16xf32> -> tensor<16xf8E5M2>
    %26 = tt.fp_to_fp %25 : tensor<16xf8E5M2> -> tensor<16xf32>
    %27 = tt.atomic_rmw fadd, acq_rel, gpu, %4, %5, %cst : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
    %28 = tt.atomic_rmw exch, relaxed, sys, %arg0, %arg5 : (!tt.ptr<f32>, f32) -> f32
    %29 = tt.atomic_cas acquire, cta, %arg6, %0, %0 : (!tt.ptr<i32>, i32, i32) -> i32
    %30 = tt.make_tensor_ptr %arg4, [%arg3, %arg3], [%arg3, %arg3], [%0, %0] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
    %31 = tt.advance %30, [%0, %0] : <tensor<64x32xf16>>
    %32 = tt.make_tensor_descriptor %arg4, [%0, %0], [%arg3, %arg3] {padding = 2 : i32} : <f16>, <32x64xf16>
    %33 = tt.make_tensor_descriptor %arg4, [%0, %0], [%arg3, %arg3] : <f16>, <1x64xf16>
    %34 = tt.descriptor_load %32[%0, %0] {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : !tt.tensordesc<32x64xf16> -> tensor<32x64xf16>
    tt.descriptor_store %32[%0, %0], %34 : !tt.tensordesc<32x64xf16>, tensor<32x64xf16>
    tt.descriptor_reduce add, %32[%0, %0], %34 : !tt.tensordesc<32x64xf16>, tensor<32x64xf16>
    %35 = tt.descriptor_gather %33[%2, %0] : (!tt.tensordesc<1x64xf16>, tensor<16xi32>, i32) -> tensor<16x64xf16>
    tt.descriptor_scatter %33[%2, %0], %35 : !tt.tensordesc<1x64xf16>, tensor<16xi32>, i32, tensor<16x64xf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<16x16xf16>
    %36 = tt.dot %cst_1, %cst_1, %cst_0, inputPrecision = tf32 {maxNumImpreciseAcc = 32 : i32} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %37 = tt.dot %cst_1, %cst_1, %cst_0 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %cst_2 = arith.constant dense<0> : tensor<64x32xi8>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<64x64xf8E4M3FN>
    %cst_4 = arith.constant dense<0> : tensor<64x2xi8>
    %cst_5 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %38 = tt.dot_scaled %cst_2 scale %cst_4, %cst_3, %cst_5 lhs = e2m1 rhs = e4m3 {fastMath = false} : tensor<64x32xi8>, tensor<64x2xi8> * tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
    %39 = tt.dot_scaled %cst_2 scale %cst_4, %cst_3 scale %cst_4, %cst_5 lhs = e2m1 rhs = e4m3 {fastMath = true} : tensor<64x32xi8>, tensor<64x2xi8> * tensor<64x64xf8E4M3FN>, tensor<64x2xi8> -> tensor<64x64xf32>
    %40 = tt.clampf %5, %5, %5, propagateNan = none : tensor<16xf32>
    %41 = tt.clampf %5, %5, %5, propagateNan = all : tensor<16xf32>
    %42 = tt.precise_sqrt %5 : tensor<16xf32>
    %43 = tt.precise_divf %5, %5 : tensor<16xf32>
    %44 = tt.mulhiui %2, %2 : tensor<16xi32>
    %45 = tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %2 : tensor<16xi32> -> tensor<16xi32>
    %46:2 = tt.elementwise_inline_asm "x" {constraints = "=r,=r,r,r", packed_element = 1 : i32, pure = false} %2, %5 : tensor<16xi32>, tensor<16xf32> -> tensor<16xi32>, tensor<16xi8>
    %47 = tt.extern_elementwise %5 {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (tensor<16xf32>) -> tensor<16xf32>
    tt.print " hi: " {hex = false, isSigned = array<i32: 0, 1>} : %2, %0 : tensor<16xi32>, i32
    tt.print "x" {hex = false, isSigned = array<i32>}
    tt.assert %cst, "bad" : tensor<16xi1>
    tt.assert %true, "bad" : i1
    %48 = tt.splat %arg5 : f32 -> tensor<1xf32>
    %49 = tt.unsplat %48 : tensor<1xf32>
    %50 = "tt.reduce"(%5) <{axis = 0 : i32}> ({
    ^bb0(%arg7: f32, %arg8: f32):
      %55 = tt.call @helper(%arg7, %0) : (f32, i32) -> f32
      tt.reduce.return %55 : f32
    }) : (tensor<16xf32>) -> f32
    %51:2 = "tt.reduce"(%5, %2) <{axis = 0 : i32}> ({
    ^bb0(%arg7: f32, %arg8: i32, %arg9: f32, %arg10: i32):
      tt.reduce.return %arg7, %arg10 : f32, i32
    }) : (tensor<16xf32>, tensor<16xi32>) -> (f32, i32)
    %52 = "tt.scan"(%5) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%arg7: f32, %arg8: f32):
      tt.scan.return %arg7 : f32
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %53 = "tt.map_elementwise"(%5) <{pack = 2 : i32}> ({
    ^bb0(%arg7: f32, %arg8: f32):
      tt.map_elementwise.return %arg7, %arg8 : f32, f32
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %54:2 = tt.call @h2(%arg5, %0) : (f32, i32) -> (f32, i32)
    tt.return
  }
}

// EXACT:
// module {
//   tt.func private @helper(%arg0: f32, %arg1: i32) -> f32 attributes {noinline = false} {
//     tt.return %arg0 : f32
//   }
//   tt.func private @h2(%arg0: f32, %arg1: i32) -> (f32, i32) attributes {noinline = true} {
//     tt.return %arg0, %arg1 : f32, i32
//   }
//   tt.func public @k(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32, %arg2: !tt.ptr<tensor<4x4xf32>>, %arg3: i64, %arg4: !tt.ptr<f16>, %arg5: f32, %arg6: !tt.ptr<i32>) {
//     %0 = tt.get_program_id x : i32
//     %1 = tt.get_num_programs z : i32
//     %2 = tt.make_range {a.b, end = 16 : i32, start = 0 : i32, tt.foo = 1 : i32} : tensor<16xi32>
//     %3 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
//     %4 = tt.addptr %3, %2 {tt.divisibility = dense<8> : tensor<1xi32>} : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
//     %5 = tt.load %4 {b.c, cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_last>, isVolatile = true} : tensor<16x!tt.ptr<f32>>
//     %cst = arith.constant dense<true> : tensor<16xi1>
//     %true = arith.constant true
//     %6 = tt.load %4, %cst : tensor<16x!tt.ptr<f32>>
//     %7 = tt.load %4, %cst, %5 {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : tensor<16x!tt.ptr<f32>>
//     %8 = tt.load %arg0 : !tt.ptr<f32>
//     tt.store %4, %5 {b.c} : tensor<16x!tt.ptr<f32>>
//     tt.store %4, %5, %cst {cachePolicy = #tt.cache_policy<cache_modifier = wb, eviction_policy = evict_first>} : tensor<16x!tt.ptr<f32>>
//     tt.store %arg0, %8 : !tt.ptr<f32>
//     %9 = tt.load %arg2 {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<4x4xf32>>
//     tt.store %arg2, %9 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<4x4xf32>>
//     %10 = tt.expand_dims %2 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
//     %11 = tt.broadcast %10 : tensor<16x1xi32> -> tensor<16x32xi32>
//     %12 = tt.reshape %11 allow_reorder efficient_layout : tensor<16x32xi32> -> tensor<512xi32>
//     %13 = tt.reshape %11 allow_reorder : tensor<16x32xi32> -> tensor<512xi32>
//     %14 = tt.reshape %11 : tensor<16x32xi32> -> tensor<512xi32>
//     %15 = tt.trans %11 {order = array<i32: 1, 0>} : tensor<16x32xi32> -> tensor<32x16xi32>
//     %16 = tt.join %5, %5 : tensor<16xf32> -> tensor<16x2xf32>
//     %outLHS, %outRHS = tt.split %16 : tensor<16x2xf32> -> tensor<16xf32>
//     %17 = tt.cat %5, %5 : tensor<16xf32> -> tensor<32xf32>
//     %18 = tt.gather %17[%2] {axis = 0 : i32} : (tensor<32xf32>, tensor<16xi32>) -> tensor<16xf32>
//     %19 = tt.gather %17[%2] {axis = 0 : i32, efficient_layout} : (tensor<32xf32>, tensor<16xi32>) -> tensor<16xf32>
//     %20 = tt.histogram %2 : tensor<16xi32> -> tensor<8xi32>
//     %21 = tt.histogram %2, %cst : tensor<16xi32> -> tensor<8xi32>
//     %22 = tt.ptr_to_int %arg0 : !tt.ptr<f32> -> i64
//     %23 = tt.int_to_ptr %22 : i64 -> !tt.ptr<f32>
//     %24 = tt.bitcast %arg0 : !tt.ptr<f32> -> !tt.ptr<i32>
//     %25 = tt.fp_to_fp %5, rounding = rtne : tensor<16xf32> -> tensor<16xf8E5M2>
//     %26 = tt.fp_to_fp %25 : tensor<16xf8E5M2> -> tensor<16xf32>
//     %27 = tt.atomic_rmw fadd, acq_rel, gpu, %4, %5, %cst : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
//     %28 = tt.atomic_rmw exch, relaxed, sys, %arg0, %arg5 : (!tt.ptr<f32>, f32) -> f32
//     %29 = tt.atomic_cas acquire, cta, %arg6, %0, %0 : (!tt.ptr<i32>, i32, i32) -> i32
//     %30 = tt.make_tensor_ptr %arg4, [%arg3, %arg3], [%arg3, %arg3], [%0, %0] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
//     %31 = tt.advance %30, [%0, %0] : <tensor<64x32xf16>>
//     %32 = tt.make_tensor_descriptor %arg4, [%0, %0], [%arg3, %arg3] {padding = 2 : i32} : <f16>, <32x64xf16>
//     %33 = tt.make_tensor_descriptor %arg4, [%0, %0], [%arg3, %arg3] : <f16>, <1x64xf16>
//     %34 = tt.descriptor_load %32[%0, %0] {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : !tt.tensordesc<32x64xf16> -> tensor<32x64xf16>
//     tt.descriptor_store %32[%0, %0], %34 : !tt.tensordesc<32x64xf16>, tensor<32x64xf16>
//     tt.descriptor_reduce add, %32[%0, %0], %34 : !tt.tensordesc<32x64xf16>, tensor<32x64xf16>
//     %35 = tt.descriptor_gather %33[%2, %0] : (!tt.tensordesc<1x64xf16>, tensor<16xi32>, i32) -> tensor<16x64xf16>
//     tt.descriptor_scatter %33[%2, %0], %35 : !tt.tensordesc<1x64xf16>, tensor<16xi32>, i32, tensor<16x64xf16>
//     %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
//     %cst_1 = arith.constant dense<0.000000e+00> : tensor<16x16xf16>
//     %36 = tt.dot %cst_1, %cst_1, %cst_0, inputPrecision = tf32 {maxNumImpreciseAcc = 32 : i32} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
//     %37 = tt.dot %cst_1, %cst_1, %cst_0 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
//     %cst_2 = arith.constant dense<0> : tensor<64x32xi8>
//     %cst_3 = arith.constant dense<0.000000e+00> : tensor<64x64xf8E4M3FN>
//     %cst_4 = arith.constant dense<0> : tensor<64x2xi8>
//     %cst_5 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
//     %38 = tt.dot_scaled %cst_2 scale %cst_4, %cst_3, %cst_5 lhs = e2m1 rhs = e4m3 {fastMath = false} : tensor<64x32xi8>, tensor<64x2xi8> * tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
//     %39 = tt.dot_scaled %cst_2 scale %cst_4, %cst_3 scale %cst_4, %cst_5 lhs = e2m1 rhs = e4m3 {fastMath = true} : tensor<64x32xi8>, tensor<64x2xi8> * tensor<64x64xf8E4M3FN>, tensor<64x2xi8> -> tensor<64x64xf32>
//     %40 = tt.clampf %5, %5, %5, propagateNan = none : tensor<16xf32>
//     %41 = tt.clampf %5, %5, %5, propagateNan = all : tensor<16xf32>
//     %42 = tt.precise_sqrt %5 : tensor<16xf32>
//     %43 = tt.precise_divf %5, %5 : tensor<16xf32>
//     %44 = tt.mulhiui %2, %2 : tensor<16xi32>
//     %45 = tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %2 : tensor<16xi32> -> tensor<16xi32>
//     %46:2 = tt.elementwise_inline_asm "x" {constraints = "=r,=r,r,r", packed_element = 1 : i32, pure = false} %2, %5 : tensor<16xi32>, tensor<16xf32> -> tensor<16xi32>, tensor<16xi8>
//     %47 = tt.extern_elementwise %5 {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (tensor<16xf32>) -> tensor<16xf32>
//     tt.print " hi: " {hex = false, isSigned = array<i32: 0, 1>} : %2, %0 : tensor<16xi32>, i32
//     tt.print "x" {hex = false, isSigned = array<i32>}
//     tt.assert %cst, "bad" : tensor<16xi1>
//     tt.assert %true, "bad" : i1
//     %48 = tt.splat %arg5 : f32 -> tensor<1xf32>
//     %49 = tt.unsplat %48 : tensor<1xf32>
//     %50 = "tt.reduce"(%5) <{axis = 0 : i32}> ({
//     ^bb0(%arg7: f32, %arg8: f32):
//       %55 = tt.call @helper(%arg7, %0) : (f32, i32) -> f32
//       tt.reduce.return %55 : f32
//     }) : (tensor<16xf32>) -> f32
//     %51:2 = "tt.reduce"(%5, %2) <{axis = 0 : i32}> ({
//     ^bb0(%arg7: f32, %arg8: i32, %arg9: f32, %arg10: i32):
//       tt.reduce.return %arg7, %arg10 : f32, i32
//     }) : (tensor<16xf32>, tensor<16xi32>) -> (f32, i32)
//     %52 = "tt.scan"(%5) <{axis = 0 : i32, reverse = false}> ({
//     ^bb0(%arg7: f32, %arg8: f32):
//       tt.scan.return %arg7 : f32
//     }) : (tensor<16xf32>) -> tensor<16xf32>
//     %53 = "tt.map_elementwise"(%5) <{pack = 2 : i32}> ({
//     ^bb0(%arg7: f32, %arg8: f32):
//       tt.map_elementwise.return %arg7, %arg8 : f32, f32
//     }) : (tensor<16xf32>) -> tensor<16xf32>
//     %54:2 = tt.call @h2(%arg5, %0) : (f32, i32) -> (f32, i32)
//     tt.return
//   }
// }
