// Block pointers through a loop.
// RUN: tilewright-opt %s --triton-rewrite-tensor-pointer --canonicalize --cse --verify-each | exact %s

tt.func public @k(%p: !tt.ptr<f16>, %m: i64, %n: i64, %s: i64, %lb: i32, %ub: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %one = arith.constant 1 : i64
  %bp = tt.make_tensor_ptr %p, [%m, %n], [%s, %one], [%lb, %c0] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
  %z = arith.constant dense<0.0> : tensor<64x32xf16>
  %r:2 = scf.for %i = %lb to %ub step %c1 iter_args(%q = %bp, %acc = %z) -> (!tt.ptr<tensor<64x32xf16>>, tensor<64x32xf16>) : i32 {
    %v = tt.load %q {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<64x32xf16>>
    %a = arith.addf %acc, %v : tensor<64x32xf16>
    %q2 = tt.advance %q, [%c0, %c32] : <tensor<64x32xf16>>
    scf.yield %q2, %a : !tt.ptr<tensor<64x32xf16>>, tensor<64x32xf16>
  }
  %w = tt.load %r#0 {boundaryCheck = array<i32: 1>, padding = 2 : i32} : !tt.ptr<tensor<64x32xf16>>
  %w2 = tt.load %r#0 evictionPolicy = evict_first {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<64x32xf16>>
  %w3 = tt.load %r#0 : !tt.ptr<tensor<64x32xf16>>
  tt.store %r#0, %w {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<64x32xf16>>
  tt.store %r#0, %w3 : !tt.ptr<tensor<64x32xf16>>
  tt.return
}
tt.func public @one_dimension(%p: !tt.ptr<i32>, %n: i64, %i: i32, %c: i1, %v: tensor<64xi32>) {
  %one = arith.constant 1 : i64
  %a = tt.make_tensor_ptr %p, [%n], [%one], [%i] {order = array<i32: 0>} : <tensor<64xi32>>
  %b = tt.advance %a, [%i] : <tensor<64xi32>>
  %q = scf.if %c -> (!tt.ptr<tensor<64xi32>>) {
    scf.yield %a : !tt.ptr<tensor<64xi32>>
  } else {
    scf.yield %b : !tt.ptr<tensor<64xi32>>
  }
  tt.store %q, %v cacheModifier = cs {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<64xi32>>
  tt.return
}
tt.func public @blocks(%p: !tt.ptr<f32>, %n: i64, %i: i32, %c: i1) -> tensor<8xf32> {
  %one = arith.constant 1 : i64
  %a = tt.make_tensor_ptr %p, [%n], [%one], [%i] {order = array<i32: 0>} : <tensor<8xf32>>
  cf.cond_br %c, ^bb1, ^bb2(%a : !tt.ptr<tensor<8xf32>>)
^bb1:
  %b = tt.advance %a, [%i] : <tensor<8xf32>>
  cf.br ^bb2(%b : !tt.ptr<tensor<8xf32>>)
^bb2(%q: !tt.ptr<tensor<8xf32>>):
  %v = tt.load %q : !tt.ptr<tensor<8xf32>>
  tt.return %v : tensor<8xf32>
}
tt.func public @while_loop(%p: !tt.ptr<f32>, %n: i64, %x: i32) -> tensor<8xf32> {
  %one = arith.constant 1 : i64
  %a = tt.make_tensor_ptr %p, [%n], [%one], [%x] {order = array<i32: 0>} : <tensor<8xf32>>
  %r:2 = scf.while (%q = %a, %i = %x) : (!tt.ptr<tensor<8xf32>>, i32) -> (!tt.ptr<tensor<8xf32>>, i32) {
    %go = arith.cmpi slt, %i, %x : i32
    scf.condition(%go) %q, %i : !tt.ptr<tensor<8xf32>>, i32
  } do {
  ^bb0(%q: !tt.ptr<tensor<8xf32>>, %i: i32):
    %moved = tt.advance %q, [%i] : <tensor<8xf32>>
    %next = arith.addi %i, %x : i32
    scf.yield %moved, %next : !tt.ptr<tensor<8xf32>>, i32
  }
  %v = tt.load %r#0 : !tt.ptr<tensor<8xf32>>
  tt.return %v : tensor<8xf32>
}

// EXACT:
// module {
//   tt.func public @k(%arg0: !tt.ptr<f16>, %arg1: i64, %arg2: i64, %arg3: i64, %arg4: i32, %arg5: i32) {
//     %c32_i64 = arith.constant 32 : i64
//     %c0_i64 = arith.constant 0 : i64
//     %cst = arith.constant dense<0x7E00> : tensor<64x32xf16>
//     %cst_0 = arith.constant dense<0> : tensor<1x32xi64>
//     %cst_1 = arith.constant dense<0> : tensor<64x1xi64>
//     %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
//     %c1_i32 = arith.constant 1 : i32
//     %0 = arith.extsi %arg4 : i32 to i64
//     %1:2 = scf.for %arg6 = %arg4 to %arg5 step %c1_i32 iter_args(%arg7 = %c0_i64, %arg8 = %cst_2) -> (i64, tensor<64x32xf16>)  : i32 {
//       %31 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
//       %32 = tt.splat %0 : i64 -> tensor<64xi64>
//       %33 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//       %34 = arith.extsi %33 : tensor<64xi32> to tensor<64xi64>
//       %35 = arith.addi %32, %34 : tensor<64xi64>
//       %36 = tt.expand_dims %35 {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
//       %37 = tt.splat %arg3 : i64 -> tensor<64x1xi64>
//       %38 = arith.muli %36, %37 : tensor<64x1xi64>
//       %39 = tt.broadcast %38 : tensor<64x1xi64> -> tensor<64x32xi64>
//       %40 = tt.addptr %31, %39 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
//       %41 = tt.splat %arg7 : i64 -> tensor<32xi64>
//       %42 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
//       %43 = arith.extsi %42 : tensor<32xi32> to tensor<32xi64>
//       %44 = arith.addi %41, %43 : tensor<32xi64>
//       %45 = tt.expand_dims %44 {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
//       %46 = tt.broadcast %45 : tensor<1x32xi64> -> tensor<64x32xi64>
//       %47 = tt.addptr %40, %46 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
//       %48 = arith.cmpi sge, %36, %cst_1 : tensor<64x1xi64>
//       %49 = tt.splat %arg1 : i64 -> tensor<64x1xi64>
//       %50 = arith.cmpi slt, %36, %49 : tensor<64x1xi64>
//       %51 = arith.andi %48, %50 : tensor<64x1xi1>
//       %52 = tt.broadcast %51 : tensor<64x1xi1> -> tensor<64x32xi1>
//       %53 = arith.cmpi sge, %45, %cst_0 : tensor<1x32xi64>
//       %54 = tt.splat %arg2 : i64 -> tensor<1x32xi64>
//       %55 = arith.cmpi slt, %45, %54 : tensor<1x32xi64>
//       %56 = arith.andi %53, %55 : tensor<1x32xi1>
//       %57 = tt.broadcast %56 : tensor<1x32xi1> -> tensor<64x32xi1>
//       %58 = arith.andi %52, %57 : tensor<64x32xi1>
//       %59 = tt.load %47, %58, %cst_2 : tensor<64x32x!tt.ptr<f16>>
//       %60 = arith.addf %arg8, %59 : tensor<64x32xf16>
//       %61 = arith.addi %arg7, %c32_i64 : i64
//       scf.yield %61, %60 : i64, tensor<64x32xf16>
//     }
//     %2 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
//     %3 = tt.splat %0 : i64 -> tensor<64xi64>
//     %4 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %5 = arith.extsi %4 : tensor<64xi32> to tensor<64xi64>
//     %6 = arith.addi %3, %5 : tensor<64xi64>
//     %7 = tt.expand_dims %6 {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
//     %8 = tt.splat %arg3 : i64 -> tensor<64x1xi64>
//     %9 = arith.muli %7, %8 : tensor<64x1xi64>
//     %10 = tt.broadcast %9 : tensor<64x1xi64> -> tensor<64x32xi64>
//     %11 = tt.addptr %2, %10 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
//     %12 = tt.splat %1#0 : i64 -> tensor<32xi64>
//     %13 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
//     %14 = arith.extsi %13 : tensor<32xi32> to tensor<32xi64>
//     %15 = arith.addi %12, %14 : tensor<32xi64>
//     %16 = tt.expand_dims %15 {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
//     %17 = tt.broadcast %16 : tensor<1x32xi64> -> tensor<64x32xi64>
//     %18 = tt.addptr %11, %17 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
//     %19 = arith.cmpi sge, %16, %cst_0 : tensor<1x32xi64>
//     %20 = tt.splat %arg2 : i64 -> tensor<1x32xi64>
//     %21 = arith.cmpi slt, %16, %20 : tensor<1x32xi64>
//     %22 = arith.andi %19, %21 : tensor<1x32xi1>
//     %23 = tt.broadcast %22 : tensor<1x32xi1> -> tensor<64x32xi1>
//     %24 = tt.load %18, %23, %cst : tensor<64x32x!tt.ptr<f16>>
//     %25 = tt.load %18 : tensor<64x32x!tt.ptr<f16>>
//     %26 = arith.cmpi sge, %7, %cst_1 : tensor<64x1xi64>
//     %27 = tt.splat %arg1 : i64 -> tensor<64x1xi64>
//     %28 = arith.cmpi slt, %7, %27 : tensor<64x1xi64>
//     %29 = arith.andi %26, %28 : tensor<64x1xi1>
//     %30 = tt.broadcast %29 : tensor<64x1xi1> -> tensor<64x32xi1>
//     tt.store %18, %24, %30 : tensor<64x32x!tt.ptr<f16>>
//     tt.store %18, %25 : tensor<64x32x!tt.ptr<f16>>
//     tt.return
//   }
//   tt.func public @one_dimension(%arg0: !tt.ptr<i32>, %arg1: i64, %arg2: i32, %arg3: i1, %arg4: tensor<64xi32>) {
//     %cst = arith.constant dense<0> : tensor<64xi64>
//     %0 = arith.extsi %arg2 : i32 to i64
//     %1 = arith.addi %0, %0 : i64
//     %2 = arith.select %arg3, %0, %1 : i64
//     %3 = tt.splat %arg0 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
//     %4 = tt.splat %2 : i64 -> tensor<64xi64>
//     %5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %6 = arith.extsi %5 : tensor<64xi32> to tensor<64xi64>
//     %7 = arith.addi %4, %6 : tensor<64xi64>
//     %8 = tt.addptr %3, %7 : tensor<64x!tt.ptr<i32>>, tensor<64xi64>
//     %9 = arith.cmpi sge, %7, %cst : tensor<64xi64>
//     %10 = tt.splat %arg1 : i64 -> tensor<64xi64>
//     %11 = arith.cmpi slt, %7, %10 : tensor<64xi64>
//     %12 = arith.andi %9, %11 : tensor<64xi1>
//     tt.store %8, %arg4, %12 {cachePolicy = #tt.cache_policy<cache_modifier = cs, eviction_policy = evict_normal>} : tensor<64x!tt.ptr<i32>>
//     tt.return
//   }
//   tt.func public @blocks(%arg0: !tt.ptr<f32>, %arg1: i64, %arg2: i32, %arg3: i1) -> tensor<8xf32> {
//     %0 = arith.extsi %arg2 : i32 to i64
//     cf.cond_br %arg3, ^bb1, ^bb2(%0 : i64)
//   ^bb1:  // pred: ^bb0
//     %1 = arith.addi %0, %0 : i64
//     cf.br ^bb2(%1 : i64)
//   ^bb2(%2: i64):  // 2 preds: ^bb0, ^bb1
//     %3 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
//     %4 = tt.splat %2 : i64 -> tensor<8xi64>
//     %5 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %6 = arith.extsi %5 : tensor<8xi32> to tensor<8xi64>
//     %7 = arith.addi %4, %6 : tensor<8xi64>
//     %8 = tt.addptr %3, %7 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
//     %9 = tt.load %8 : tensor<8x!tt.ptr<f32>>
//     tt.return %9 : tensor<8xf32>
//   }
//   tt.func public @while_loop(%arg0: !tt.ptr<f32>, %arg1: i64, %arg2: i32) -> tensor<8xf32> {
//     %0 = arith.extsi %arg2 : i32 to i64
//     %1:2 = scf.while (%arg3 = %0, %arg4 = %arg2) : (i64, i32) -> (i64, i32) {
//       %9 = arith.cmpi slt, %arg4, %arg2 : i32
//       scf.condition(%9) %arg3, %arg4 : i64, i32
//     } do {
//     ^bb0(%arg3: i64, %arg4: i32):
//       %9 = arith.extsi %arg4 : i32 to i64
//       %10 = arith.addi %arg3, %9 : i64
//       %11 = arith.addi %arg4, %arg2 : i32
//       scf.yield %10, %11 : i64, i32
//     }
//     %2 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
//     %3 = tt.splat %1#0 : i64 -> tensor<8xi64>
//     %4 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %5 = arith.extsi %4 : tensor<8xi32> to tensor<8xi64>
//     %6 = arith.addi %3, %5 : tensor<8xi64>
//     %7 = tt.addptr %2, %6 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
//     %8 = tt.load %7 : tensor<8x!tt.ptr<f32>>
//     tt.return %8 : tensor<8xf32>
//   }
// }
