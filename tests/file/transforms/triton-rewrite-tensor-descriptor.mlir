// Descriptors made in the kernel and taken as arguments.
// RUN: tilewright-opt %s --triton-rewrite-tensor-descriptor-to-pointer --canonicalize --cse --verify-each | exact %s

tt.func public @k(%p: !tt.ptr<f16>, %m: i32, %n: i32, %s: i64, %lb: i32, %xs: tensor<16xi32>) {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] {padding = 2 : i32} : <f16>, <tensor<32x64xf16>>
  %v = tt.descriptor_load %d[%lb, %c0] : !tt.tensordesc<32x64xf16> -> tensor<32x64xf16>
  tt.descriptor_store %d[%lb, %c0], %v : !tt.tensordesc<32x64xf16>, tensor<32x64xf16>
  tt.descriptor_reduce add, %d[%lb, %c0], %v : !tt.tensordesc<32x64xf16>, tensor<32x64xf16>
  %d1 = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f16>, <tensor<1x64xf16>>
  %33 = tt.descriptor_gather %d1[%xs, %c0] : (!tt.tensordesc<1x64xf16>, tensor<16xi32>, i32) -> tensor<16x64xf16>
  tt.descriptor_scatter %d1[%xs, %c0], %33 : !tt.tensordesc<1x64xf16>, tensor<16xi32>, i32, tensor<16x64xf16>
  tt.return
}
tt.func public @arg(%d: !tt.tensordesc<4x8xf32>, %c0: i32) {
  %v = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<4x8xf32> -> tensor<4x8xf32>
  tt.descriptor_store %d[%c0, %c0], %v : !tt.tensordesc<4x8xf32>, tensor<4x8xf32>
  tt.return
}
tt.func public @rank_reduced(%p: !tt.ptr<i8>, %m: i32, %s: i64, %i: i32) -> tensor<8x16xi8> {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m, %m, %m], [%s, %s, %one] : <i8>, <tensor<1x8x16xui8>>
  %v = tt.descriptor_load %d[%i, %i, %i] evictionPolicy = evict_last : !tt.tensordesc<1x8x16xui8> -> tensor<8x16xi8>
  tt.descriptor_reduce max, %d[%i, %i, %i], %v : !tt.tensordesc<1x8x16xui8>, tensor<8x16xi8>
  tt.return %v : tensor<8x16xi8>
}

// EXACT:
// module {
//   tt.func public @k(%arg0: !tt.ptr<f16>, %arg1: i32, %arg2: i32, %arg3: i64, %arg4: i32, %arg5: tensor<16xi32>) {
//     %cst = arith.constant dense<0.000000e+00> : tensor<16x64xf16>
//     %cst_0 = arith.constant dense<0> : tensor<16x1xi64>
//     %cst_1 = arith.constant dense<0x7E00> : tensor<32x64xf16>
//     %cst_2 = arith.constant dense<0> : tensor<1x64xi64>
//     %cst_3 = arith.constant dense<0> : tensor<32x1xi64>
//     %0 = arith.extsi %arg1 : i32 to i64
//     %1 = arith.extsi %arg2 : i32 to i64
//     %2 = arith.extsi %arg4 : i32 to i64
//     %3 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
//     %4 = tt.splat %2 : i64 -> tensor<32xi64>
//     %5 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
//     %6 = arith.extsi %5 : tensor<32xi32> to tensor<32xi64>
//     %7 = arith.addi %4, %6 : tensor<32xi64>
//     %8 = tt.expand_dims %7 {axis = 1 : i32} : tensor<32xi64> -> tensor<32x1xi64>
//     %9 = tt.splat %arg3 : i64 -> tensor<32x1xi64>
//     %10 = arith.muli %8, %9 : tensor<32x1xi64>
//     %11 = tt.broadcast %10 : tensor<32x1xi64> -> tensor<32x64xi64>
//     %12 = tt.addptr %3, %11 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi64>
//     %13 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %14 = arith.extsi %13 : tensor<64xi32> to tensor<64xi64>
//     %15 = tt.expand_dims %14 {axis = 0 : i32} : tensor<64xi64> -> tensor<1x64xi64>
//     %16 = tt.broadcast %15 : tensor<1x64xi64> -> tensor<32x64xi64>
//     %17 = tt.addptr %12, %16 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi64>
//     %18 = arith.cmpi sge, %8, %cst_3 : tensor<32x1xi64>
//     %19 = tt.splat %0 : i64 -> tensor<32x1xi64>
//     %20 = arith.cmpi slt, %8, %19 : tensor<32x1xi64>
//     %21 = arith.andi %18, %20 : tensor<32x1xi1>
//     %22 = tt.broadcast %21 : tensor<32x1xi1> -> tensor<32x64xi1>
//     %23 = arith.cmpi sge, %15, %cst_2 : tensor<1x64xi64>
//     %24 = tt.splat %1 : i64 -> tensor<1x64xi64>
//     %25 = arith.cmpi slt, %15, %24 : tensor<1x64xi64>
//     %26 = arith.andi %23, %25 : tensor<1x64xi1>
//     %27 = tt.broadcast %26 : tensor<1x64xi1> -> tensor<32x64xi1>
//     %28 = arith.andi %22, %27 : tensor<32x64xi1>
//     %29 = tt.load %17, %28, %cst_1 : tensor<32x64x!tt.ptr<f16>>
//     tt.store %17, %29, %28 : tensor<32x64x!tt.ptr<f16>>
//     %30 = tt.atomic_rmw fadd, release, gpu, %17, %29, %28 : (tensor<32x64x!tt.ptr<f16>>, tensor<32x64xf16>, tensor<32x64xi1>) -> tensor<32x64xf16>
//     %31 = tt.expand_dims %arg5 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
//     %32 = arith.extsi %31 : tensor<16x1xi32> to tensor<16x1xi64>
//     %33 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<16x64x!tt.ptr<f16>>
//     %34 = tt.splat %arg3 : i64 -> tensor<16x1xi64>
//     %35 = arith.muli %32, %34 : tensor<16x1xi64>
//     %36 = tt.broadcast %35 : tensor<16x1xi64> -> tensor<16x64xi64>
//     %37 = tt.addptr %33, %36 : tensor<16x64x!tt.ptr<f16>>, tensor<16x64xi64>
//     %38 = tt.broadcast %15 : tensor<1x64xi64> -> tensor<16x64xi64>
//     %39 = tt.addptr %37, %38 : tensor<16x64x!tt.ptr<f16>>, tensor<16x64xi64>
//     %40 = arith.cmpi sge, %32, %cst_0 : tensor<16x1xi64>
//     %41 = tt.splat %0 : i64 -> tensor<16x1xi64>
//     %42 = arith.cmpi slt, %32, %41 : tensor<16x1xi64>
//     %43 = arith.andi %40, %42 : tensor<16x1xi1>
//     %44 = tt.broadcast %43 : tensor<16x1xi1> -> tensor<16x64xi1>
//     %45 = tt.broadcast %26 : tensor<1x64xi1> -> tensor<16x64xi1>
//     %46 = arith.andi %44, %45 : tensor<16x64xi1>
//     %47 = tt.load %39, %46, %cst : tensor<16x64x!tt.ptr<f16>>
//     tt.store %39, %47, %46 : tensor<16x64x!tt.ptr<f16>>
//     tt.return
//   }
//   tt.func public @arg(%arg0: !tt.ptr<f32>, %arg1: i64, %arg2: i64, %arg3: i64, %arg4: i64, %arg5: i1, %arg6: i32) {
//     %cst = arith.constant dense<0x7FC00000> : tensor<4x8xf32>
//     %cst_0 = arith.constant dense<0.000000e+00> : tensor<4x8xf32>
//     %cst_1 = arith.constant dense<0> : tensor<1x8xi64>
//     %cst_2 = arith.constant dense<0> : tensor<4x1xi64>
//     %0 = arith.extsi %arg6 : i32 to i64
//     %1 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<4x8x!tt.ptr<f32>>
//     %2 = tt.splat %0 : i64 -> tensor<4xi64>
//     %3 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
//     %4 = arith.extsi %3 : tensor<4xi32> to tensor<4xi64>
//     %5 = arith.addi %2, %4 : tensor<4xi64>
//     %6 = tt.expand_dims %5 {axis = 1 : i32} : tensor<4xi64> -> tensor<4x1xi64>
//     %7 = tt.splat %arg3 : i64 -> tensor<4x1xi64>
//     %8 = arith.muli %6, %7 : tensor<4x1xi64>
//     %9 = tt.broadcast %8 : tensor<4x1xi64> -> tensor<4x8xi64>
//     %10 = tt.addptr %1, %9 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi64>
//     %11 = tt.splat %0 : i64 -> tensor<8xi64>
//     %12 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %13 = arith.extsi %12 : tensor<8xi32> to tensor<8xi64>
//     %14 = arith.addi %11, %13 : tensor<8xi64>
//     %15 = tt.expand_dims %14 {axis = 0 : i32} : tensor<8xi64> -> tensor<1x8xi64>
//     %16 = tt.splat %arg4 : i64 -> tensor<1x8xi64>
//     %17 = arith.muli %15, %16 : tensor<1x8xi64>
//     %18 = tt.broadcast %17 : tensor<1x8xi64> -> tensor<4x8xi64>
//     %19 = tt.addptr %10, %18 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi64>
//     %20 = arith.cmpi sge, %6, %cst_2 : tensor<4x1xi64>
//     %21 = tt.splat %arg1 : i64 -> tensor<4x1xi64>
//     %22 = arith.cmpi slt, %6, %21 : tensor<4x1xi64>
//     %23 = arith.andi %20, %22 : tensor<4x1xi1>
//     %24 = tt.broadcast %23 : tensor<4x1xi1> -> tensor<4x8xi1>
//     %25 = arith.cmpi sge, %15, %cst_1 : tensor<1x8xi64>
//     %26 = tt.splat %arg2 : i64 -> tensor<1x8xi64>
//     %27 = arith.cmpi slt, %15, %26 : tensor<1x8xi64>
//     %28 = arith.andi %25, %27 : tensor<1x8xi1>
//     %29 = tt.broadcast %28 : tensor<1x8xi1> -> tensor<4x8xi1>
//     %30 = arith.andi %24, %29 : tensor<4x8xi1>
//     %31 = arith.select %arg5, %cst, %cst_0 : tensor<4x8xf32>
//     %32 = tt.load %19, %30, %31 : tensor<4x8x!tt.ptr<f32>>
//     tt.store %19, %32, %30 : tensor<4x8x!tt.ptr<f32>>
//     tt.return
//   }
//   tt.func public @rank_reduced(%arg0: !tt.ptr<i8>, %arg1: i32, %arg2: i64, %arg3: i32) -> tensor<8x16xi8> {
//     %cst = arith.constant dense<0> : tensor<1x8x16xi8>
//     %cst_0 = arith.constant dense<0> : tensor<1x1x16xi64>
//     %cst_1 = arith.constant dense<0> : tensor<1x8x1xi64>
//     %cst_2 = arith.constant dense<0> : tensor<1x1x1xi64>
//     %0 = arith.extsi %arg1 : i32 to i64
//     %1 = arith.extsi %arg3 : i32 to i64
//     %2 = tt.splat %arg0 : !tt.ptr<i8> -> tensor<1x8x16x!tt.ptr<i8>>
//     %3 = tt.splat %1 : i64 -> tensor<1x1x1xi64>
//     %4 = tt.splat %arg2 : i64 -> tensor<1x1x1xi64>
//     %5 = arith.muli %3, %4 : tensor<1x1x1xi64>
//     %6 = tt.broadcast %5 : tensor<1x1x1xi64> -> tensor<1x8x16xi64>
//     %7 = tt.addptr %2, %6 : tensor<1x8x16x!tt.ptr<i8>>, tensor<1x8x16xi64>
//     %8 = tt.splat %1 : i64 -> tensor<8xi64>
//     %9 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %10 = arith.extsi %9 : tensor<8xi32> to tensor<8xi64>
//     %11 = arith.addi %8, %10 : tensor<8xi64>
//     %12 = tt.expand_dims %11 {axis = 0 : i32} : tensor<8xi64> -> tensor<1x8xi64>
//     %13 = tt.expand_dims %12 {axis = 2 : i32} : tensor<1x8xi64> -> tensor<1x8x1xi64>
//     %14 = tt.splat %arg2 : i64 -> tensor<1x8x1xi64>
//     %15 = arith.muli %13, %14 : tensor<1x8x1xi64>
//     %16 = tt.broadcast %15 : tensor<1x8x1xi64> -> tensor<1x8x16xi64>
//     %17 = tt.addptr %7, %16 : tensor<1x8x16x!tt.ptr<i8>>, tensor<1x8x16xi64>
//     %18 = tt.splat %1 : i64 -> tensor<16xi64>
//     %19 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %20 = arith.extsi %19 : tensor<16xi32> to tensor<16xi64>
//     %21 = arith.addi %18, %20 : tensor<16xi64>
//     %22 = tt.expand_dims %21 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
//     %23 = tt.expand_dims %22 {axis = 1 : i32} : tensor<1x16xi64> -> tensor<1x1x16xi64>
//     %24 = tt.broadcast %23 : tensor<1x1x16xi64> -> tensor<1x8x16xi64>
//     %25 = tt.addptr %17, %24 : tensor<1x8x16x!tt.ptr<i8>>, tensor<1x8x16xi64>
//     %26 = arith.cmpi sge, %3, %cst_2 : tensor<1x1x1xi64>
//     %27 = tt.splat %0 : i64 -> tensor<1x1x1xi64>
//     %28 = arith.cmpi slt, %3, %27 : tensor<1x1x1xi64>
//     %29 = arith.andi %26, %28 : tensor<1x1x1xi1>
//     %30 = tt.broadcast %29 : tensor<1x1x1xi1> -> tensor<1x8x16xi1>
//     %31 = arith.cmpi sge, %13, %cst_1 : tensor<1x8x1xi64>
//     %32 = tt.splat %0 : i64 -> tensor<1x8x1xi64>
//     %33 = arith.cmpi slt, %13, %32 : tensor<1x8x1xi64>
//     %34 = arith.andi %31, %33 : tensor<1x8x1xi1>
//     %35 = tt.broadcast %34 : tensor<1x8x1xi1> -> tensor<1x8x16xi1>
//     %36 = arith.andi %30, %35 : tensor<1x8x16xi1>
//     %37 = arith.cmpi sge, %23, %cst_0 : tensor<1x1x16xi64>
//     %38 = tt.splat %0 : i64 -> tensor<1x1x16xi64>
//     %39 = arith.cmpi slt, %23, %38 : tensor<1x1x16xi64>
//     %40 = arith.andi %37, %39 : tensor<1x1x16xi1>
//     %41 = tt.broadcast %40 : tensor<1x1x16xi1> -> tensor<1x8x16xi1>
//     %42 = arith.andi %36, %41 : tensor<1x8x16xi1>
//     %43 = tt.load %25, %42, %cst {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_last>} : tensor<1x8x16x!tt.ptr<i8>>
//     %44 = tt.reshape %43 : tensor<1x8x16xi8> -> tensor<8x16xi8>
//     %45 = tt.atomic_rmw umax, release, gpu, %25, %43, %42 : (tensor<1x8x16x!tt.ptr<i8>>, tensor<1x8x16xi8>, tensor<1x8x16xi1>) -> tensor<1x8x16xi8>
//     tt.return %44 : tensor<8x16xi8>
//   }
// }
