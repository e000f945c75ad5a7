// RUN: tilewright-opt %s --triton-to-structured | filecheck %s

// Bounds in both directions, a scalar condition, equality, and what is no box.

// CHECK-LABEL: tt.func public @both_bounds
// CHECK:       "tts.masked_load"({{.*}}) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>
// CHECK-SAME:  static_mask_dims = array<i64: -9223372036854775808>, static_mask_starts = array<i64: -9223372036854775808>
tt.func public @both_bounds(%x: !tt.ptr<f32>, %lo: i32, %hi: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %los = tt.splat %lo : i32 -> tensor<64xi32>
  %his = tt.splat %hi : i32 -> tensor<64xi32>
  %a = arith.cmpi sge, %r, %los : tensor<64xi32>
  %b = arith.cmpi sgt, %his, %r : tensor<64xi32>
  %m = arith.andi %a, %b : tensor<64xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
  tt.store %p, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: tt.func public @condition
// CHECK:       %[[COUNT:.*]] = arith.select %arg1, %{{.*}}, %c0 : index
// CHECK:       "tts.load"(%{{.*}}, %[[COUNT]])
tt.func public @condition(%x: !tt.ptr<f32>, %flag: i1, %hi: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %his = tt.splat %hi : i32 -> tensor<64xi32>
  %b = arith.cmpi slt, %r, %his : tensor<64xi32>
  %flags = tt.splat %flag : i1 -> tensor<64xi1>
  %m = arith.andi %flags, %b : tensor<64xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
  tt.store %p, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// A causal mask stays a lane mask behind the box of the bound; the pointer stays structured.

// CHECK-LABEL: tt.func public @causal
// CHECK:       %[[LANES:.*]] = arith.cmpi sge
// CHECK:       "tts.masked_load"(%{{.*}}, %{{.*}}, %[[LANES]], %{{.*}}) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>, static_mask_dims = array<i64: 16, -9223372036854775808>, static_mask_starts = array<i64: 0, 0>}>
tt.func public @causal(%x: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ce = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %rb = tt.broadcast %re : tensor<16x1xi32> -> tensor<16x16xi32>
  %cb = tt.broadcast %ce : tensor<1x16xi32> -> tensor<16x16xi32>
  %causal = arith.cmpi sge, %rb, %cb : tensor<16x16xi32>
  %ns = tt.splat %n : i32 -> tensor<16x16xi32>
  %inside = arith.cmpi slt, %cb, %ns : tensor<16x16xi32>
  %m = arith.andi %inside, %causal : tensor<16x16xi1>
  %w = arith.muli %rb, %ns : tensor<16x16xi32>
  %o = arith.addi %w, %cb : tensor<16x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %v = tt.load %p, %m, %zero : tensor<16x16x!tt.ptr<f32>>
  tt.store %p, %v, %inside : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// A loaded row mask masks rows of a contiguous tile.

// CHECK-LABEL: tt.func public @row_mask
// CHECK:       %[[ROWS:.*]] = tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
// CHECK:       "tts.masked_load"(%{{.*}}, %[[ROWS]]) {{.*}} : (tensor<8x16x!tt.ptr<f32>>, tensor<8x1xi1>) -> tensor<8x16xf32>
tt.func public @row_mask(%x: !tt.ptr<f32>, %keep: tensor<8xi1>) {
  %c16 = arith.constant dense<16> : tensor<8x1xi32>
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %rs = arith.muli %re, %c16 : tensor<8x1xi32>
  %rb = tt.broadcast %rs : tensor<8x1xi32> -> tensor<8x16xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %cb = tt.broadcast %ce : tensor<1x16xi32> -> tensor<8x16xi32>
  %o = arith.addi %rb, %cb : tensor<8x16xi32>
  %ke = tt.expand_dims %keep {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
  %m = tt.broadcast %ke : tensor<8x1xi1> -> tensor<8x16xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %o : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %v = tt.load %p, %m : tensor<8x16x!tt.ptr<f32>>
  tt.store %p, %v : tensor<8x16x!tt.ptr<f32>>
  tt.return
}
