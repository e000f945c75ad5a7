// Folds and rules of tt ops.
// RUN: tilewright-opt %s --canonicalize --verify-each | exact %s

tt.func public @shapes(%x: tensor<16x1xi32>, %v: tensor<16xf32>, %s: f32, %p: !tt.ptr<f32>) -> (tensor<16x32xf32>, tensor<1x16x32xi32>, tensor<512xf32>, tensor<4x128xi32>, tensor<16x32xf32>, f32, tensor<16x1xi32>, tensor<16xf32>, tensor<16xf32>) {
  %0 = tt.splat %s : f32 -> tensor<16x1xf32>
  %1 = tt.broadcast %0 : tensor<16x1xf32> -> tensor<16x32xf32>
  %2 = tt.broadcast %x : tensor<16x1xi32> -> tensor<16x32xi32>
  %3 = tt.expand_dims %2 {axis = 0 : i32} : tensor<16x32xi32> -> tensor<1x16x32xi32>
  %4 = tt.reshape %1 : tensor<16x32xf32> -> tensor<512xf32>
  %5 = tt.reshape %2 allow_reorder : tensor<16x32xi32> -> tensor<512xi32>
  %6 = tt.reshape %5 : tensor<512xi32> -> tensor<4x128xi32>
  %7 = tt.trans %1 {order = array<i32: 1, 0>} : tensor<16x32xf32> -> tensor<32x16xf32>
  %8 = tt.trans %7 {order = array<i32: 1, 0>} : tensor<32x16xf32> -> tensor<16x32xf32>
  %9 = tt.splat %s : f32 -> tensor<1xf32>
  %10 = tt.unsplat %9 : tensor<1xf32>
  %11 = tt.broadcast %x : tensor<16x1xi32> -> tensor<16x1xi32>
  %12 = tt.join %v, %v : tensor<16xf32> -> tensor<16x2xf32>
  %13, %14 = tt.split %12 : tensor<16x2xf32> -> tensor<16xf32>
  tt.return %1, %3, %4, %6, %8, %10, %11, %13, %14 : tensor<16x32xf32>, tensor<1x16x32xi32>, tensor<512xf32>, tensor<4x128xi32>, tensor<16x32xf32>, f32, tensor<16x1xi32>, tensor<16xf32>, tensor<16xf32>
}
tt.func public @permutations(%x: tensor<2x4x8xf32>) -> (tensor<4x2x8xf32>, tensor<2x4x8xf32>) {
  %0 = tt.trans %x {order = array<i32: 2, 0, 1>} : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  %1 = tt.trans %0 {order = array<i32: 2, 1, 0>} : tensor<8x2x4xf32> -> tensor<4x2x8xf32>
  %2 = tt.trans %0 {order = array<i32: 1, 2, 0>} : tensor<8x2x4xf32> -> tensor<2x4x8xf32>
  tt.return %1, %2 : tensor<4x2x8xf32>, tensor<2x4x8xf32>
}
tt.func public @constants() -> (tensor<8x4xi32>, tensor<4x8xi32>, tensor<8x1xi32>, tensor<1xi32>, tensor<8xi32>, tensor<16xf8E5M2>) {
  %c = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>
  %0 = tt.expand_dims %c {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %seven = arith.constant 7 : i32
  %1 = tt.splat %seven : i32 -> tensor<8x4xi32>
  %2 = tt.trans %1 {order = array<i32: 1, 0>} : tensor<8x4xi32> -> tensor<4x8xi32>
  %3 = tt.make_range {end = 6 : i32, start = 5 : i32} : tensor<1xi32>
  %4 = tt.reshape %0 : tensor<8x1xi32> -> tensor<8xi32>
  %z = arith.constant dense<0.0> : tensor<16xf32>
  %5 = tt.fp_to_fp %z, rounding = rtne : tensor<16xf32> -> tensor<16xf8E5M2>
  tt.return %1, %2, %0, %3, %4, %5 : tensor<8x4xi32>, tensor<4x8xi32>, tensor<8x1xi32>, tensor<1xi32>, tensor<8xi32>, tensor<16xf8E5M2>
}
tt.func public @pointers(%p: !tt.ptr<f32>, %i: i32, %q: !tt.ptr<f32, 3>) -> (!tt.ptr<f32>, !tt.ptr<i8>, !tt.ptr<f32>, !tt.ptr<f16>) {
  %zero = arith.constant 0 : i32
  %0 = tt.addptr %p, %zero : !tt.ptr<f32>, i32
  %1 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  %2 = tt.int_to_ptr %1 : i64 -> !tt.ptr<i8>
  %3 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<f32>
  // Address spaces differ: stays.
  %4 = tt.ptr_to_int %q : !tt.ptr<f32, 3> -> i64
  %5 = tt.int_to_ptr %4 : i64 -> !tt.ptr<f16>
  tt.return %0, %2, %3, %5 : !tt.ptr<f32>, !tt.ptr<i8>, !tt.ptr<f32>, !tt.ptr<f16>
}
tt.func public @masks(%p: tensor<16x!tt.ptr<f32>>, %o: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %yes = arith.constant dense<true> : tensor<16xi1>
  %no = arith.constant dense<false> : tensor<16xi1>
  %0 = tt.load %p, %yes, %o cacheModifier = ca {tt.latency = 1 : i32} : tensor<16x!tt.ptr<f32>>
  %1 = tt.load %p, %no, %o : tensor<16x!tt.ptr<f32>>
  // Undefined everywhere, but still a load.
  %2 = tt.load %p, %no : tensor<16x!tt.ptr<f32>>
  tt.store %p, %o, %yes evictionPolicy = evict_first : tensor<16x!tt.ptr<f32>>
  tt.store %p, %o, %no : tensor<16x!tt.ptr<f32>>
  tt.return %0, %1, %2 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
tt.func public @dead(%p: !tt.ptr<f32>) {
  // An unused plain load goes, an unused volatile one stays.
  %0 = tt.load %p : !tt.ptr<f32>
  %1 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  tt.return
}

// EXACT:
// module {
//   tt.func public @shapes(%arg0: tensor<16x1xi32>, %arg1: tensor<16xf32>, %arg2: f32, %arg3: !tt.ptr<f32>) -> (tensor<16x32xf32>, tensor<1x16x32xi32>, tensor<512xf32>, tensor<4x128xi32>, tensor<16x32xf32>, f32, tensor<16x1xi32>, tensor<16xf32>, tensor<16xf32>) {
//     %0 = tt.splat %arg2 : f32 -> tensor<16x32xf32>
//     %1 = tt.broadcast %arg0 : tensor<16x1xi32> -> tensor<16x32xi32>
//     %2 = tt.expand_dims %arg0 {axis = 0 : i32} : tensor<16x1xi32> -> tensor<1x16x1xi32>
//     %3 = tt.broadcast %2 : tensor<1x16x1xi32> -> tensor<1x16x32xi32>
//     %4 = tt.splat %arg2 : f32 -> tensor<512xf32>
//     %5 = tt.reshape %1 allow_reorder : tensor<16x32xi32> -> tensor<4x128xi32>
//     %6 = tt.splat %arg2 : f32 -> tensor<16x32xf32>
//     tt.return %0, %3, %4, %5, %6, %arg2, %arg0, %arg1, %arg1 : tensor<16x32xf32>, tensor<1x16x32xi32>, tensor<512xf32>, tensor<4x128xi32>, tensor<16x32xf32>, f32, tensor<16x1xi32>, tensor<16xf32>, tensor<16xf32>
//   }
//   tt.func public @permutations(%arg0: tensor<2x4x8xf32>) -> (tensor<4x2x8xf32>, tensor<2x4x8xf32>) {
//     %0 = tt.trans %arg0 {order = array<i32: 1, 0, 2>} : tensor<2x4x8xf32> -> tensor<4x2x8xf32>
//     tt.return %0, %arg0 : tensor<4x2x8xf32>, tensor<2x4x8xf32>
//   }
//   tt.func public @constants() -> (tensor<8x4xi32>, tensor<4x8xi32>, tensor<8x1xi32>, tensor<1xi32>, tensor<8xi32>, tensor<16xf8E5M2>) {
//     %cst = arith.constant dense<[[0], [1], [2], [3], [4], [5], [6], [7]]> : tensor<8x1xi32>
//     %cst_0 = arith.constant dense<7> : tensor<8x4xi32>
//     %cst_1 = arith.constant dense<7> : tensor<4x8xi32>
//     %cst_2 = arith.constant dense<5> : tensor<1xi32>
//     %cst_3 = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>
//     %cst_4 = arith.constant dense<0.000000e+00> : tensor<16xf8E5M2>
//     tt.return %cst_0, %cst_1, %cst, %cst_2, %cst_3, %cst_4 : tensor<8x4xi32>, tensor<4x8xi32>, tensor<8x1xi32>, tensor<1xi32>, tensor<8xi32>, tensor<16xf8E5M2>
//   }
//   tt.func public @pointers(%arg0: !tt.ptr<f32>, %arg1: i32, %arg2: !tt.ptr<f32, 3>) -> (!tt.ptr<f32>, !tt.ptr<i8>, !tt.ptr<f32>, !tt.ptr<f16>) {
//     %0 = tt.bitcast %arg0 : !tt.ptr<f32> -> !tt.ptr<i8>
//     %1 = tt.ptr_to_int %arg2 : !tt.ptr<f32, 3> -> i64
//     %2 = tt.int_to_ptr %1 : i64 -> !tt.ptr<f16>
//     tt.return %arg0, %0, %arg0, %2 : !tt.ptr<f32>, !tt.ptr<i8>, !tt.ptr<f32>, !tt.ptr<f16>
//   }
//   tt.func public @masks(%arg0: tensor<16x!tt.ptr<f32>>, %arg1: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
//     %cst = arith.constant dense<false> : tensor<16xi1>
//     %0 = tt.load %arg0 {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>, tt.latency = 1 : i32} : tensor<16x!tt.ptr<f32>>
//     %1 = tt.load %arg0, %cst : tensor<16x!tt.ptr<f32>>
//     tt.store %arg0, %arg1 {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : tensor<16x!tt.ptr<f32>>
//     tt.return %0, %arg1, %1 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
//   }
//   tt.func public @dead(%arg0: !tt.ptr<f32>) {
//     %0 = tt.load %arg0 {isVolatile = true} : !tt.ptr<f32>
//     tt.return
//   }
// }
