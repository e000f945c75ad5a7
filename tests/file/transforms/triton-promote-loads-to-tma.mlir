// Blocks that products of a loop read through pointers, through descriptors that the launch makes.
// RUN: tilewright-opt %s --split-input-file --triton-promote-loads-to-tma=mode=always --canonicalize --verify-each --remarks 2>&1 | filecheck %s
// RUN: tilewright-opt %s --split-input-file --triton-promote-loads-to-tma=num-warps=8 --verify-each 2>&1 | filecheck %s --check-prefix=AUTO

// CHECK: remark: {{.*}} its products' operands are not copied by TMA: its rows are not known to lie a multiple of 16 bytes apart

// One small product: by itself the pass leaves it alone.
// AUTO-LABEL: @rows
// AUTO-NOT: tt.descriptor_load

// The rows of %a begin at 64 * program and are %stride apart, its columns follow the counter; the bound of the mask is
// that of the tensor. Nothing bounds %b, whose blocks are read as they lie and transposed.
// CHECK-LABEL: @rows
// CHECK-SAME: %arg5: !tt.tensordesc<64x32xf16> {ttg.tensor_map = {base = 0 : i64, checks = [{{.*}}], dims = [{extent = -1 : i64, start = [[S:[0-9]+]] : i64, stride = {{[0-9]+}} : i64}, {extent = {{[0-9]+}} : i64, start = {{[0-9]+}} : i64, stride = -1 : i64}], numbers = [
// CHECK-SAME: ["program", 0]
// CHECK-SAME: ["counter",
// CHECK-SAME: %arg6: !tt.tensordesc<64x32xf16> {ttg.tensor_map = {base = 1 : i64
// CHECK: scf.for [[K:%[a-z0-9_]+]] =
// CHECK: [[ROW:%[a-z0-9_]+]] = arith.muli %{{.*}}, %c64_i32
// CHECK: tt.descriptor_load %arg5[{{.*}}, [[K]]] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
// CHECK: [[B:%[a-z0-9_]+]] = tt.descriptor_load %arg6[%c0_i32, [[K]]]
// CHECK: tt.trans [[B]] {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
// CHECK: tt.dot
tt.func public @rows(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x32xf16>
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c64 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %s0 = tt.splat %first : i32 -> tensor<64xi32>
  %rows = arith.addi %s0, %r : tensor<64xi32>
  %r2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %s1 = tt.splat %stride : i32 -> tensor<64x1xi32>
  %far = arith.muli %r2, %s1 : tensor<64x1xi32>
  %far2 = tt.broadcast %far : tensor<64x1xi32> -> tensor<64x32xi32>
  %b0 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s2 = tt.splat %stride : i32 -> tensor<1x64xi32>
  %b1 = arith.muli %b0, %s2 : tensor<1x64xi32>
  %b2 = tt.broadcast %b1 : tensor<1x64xi32> -> tensor<32x64xi32>
  %pa = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %pb = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %x = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %si = tt.splat %i : i32 -> tensor<32xi32>
    %depth = arith.addi %si, %k : tensor<32xi32>
    %d0 = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %d1 = tt.broadcast %d0 : tensor<1x32xi32> -> tensor<64x32xi32>
    %oa = arith.addi %far2, %d1 : tensor<64x32xi32>
    %qa = tt.addptr %pa, %oa : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %sn = tt.splat %n : i32 -> tensor<1x32xi32>
    %live = arith.cmpi slt, %d0, %sn : tensor<1x32xi32>
    %mask = tt.broadcast %live : tensor<1x32xi1> -> tensor<64x32xi1>
    %va = tt.load %qa, %mask, %none : tensor<64x32x!tt.ptr<f16>>
    %e0 = tt.expand_dims %depth {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %e1 = tt.broadcast %e0 : tensor<32x1xi32> -> tensor<32x64xi32>
    %ob = arith.addi %b2, %e1 : tensor<32x64xi32>
    %qb = tt.addptr %pb, %ob : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %vb = tt.load %qb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %va, %vb, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %pc = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %pc, %x : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: @odd_rows
// CHECK-NOT: tt.descriptor_load
tt.func public @odd_rows(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %s1 = tt.splat %stride : i32 -> tensor<64x1xi32>
  %far = arith.muli %r2, %s1 : tensor<64x1xi32>
  %far2 = tt.broadcast %far : tensor<64x1xi32> -> tensor<64x64xi32>
  %d0 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %d1 = tt.broadcast %d0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %far2, %d1 : tensor<64x64xi32>
  %pa = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %q = tt.addptr %pa, %o : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %x = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %v = tt.load %q : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %v, %v, %acc, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %pc = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %pc, %x : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// What a left operand is computed from, two weights in a byte; the loop counts its iterations, of which half of what it
// counted is a multiple.
// CHECK-LABEL: @two_in_a_byte
// CHECK-SAME: %{{[a-z0-9_]+}}: !tt.tensordesc<64x32xi8>
// CHECK: [[WHOLE:%[a-z0-9_]+]] = arith.divsi [[N:%[a-z0-9_]+]], [[STEP:%[a-z0-9_]+]] : i32
// CHECK: [[REST:%[a-z0-9_]+]] = arith.remsi [[N]], [[STEP]] : i32
// CHECK: [[ONE:%[a-z0-9_]+]] = arith.minsi [[REST]], %{{[a-z0-9_]+}} : i32
// CHECK: [[COUNT:%[a-z0-9_]+]] = arith.addi [[WHOLE]], [[ONE]] : i32
// CHECK: scf.for [[I:%[a-z0-9_]+]] = %{{[a-z0-9_]+}} to [[COUNT]]
// CHECK: tt.descriptor_load {{.*}} -> tensor<64x32xi8>
// CHECK: tt.dot
tt.func public @two_in_a_byte(%a: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %b: tensor<64x64xf16>, %c: !tt.ptr<f32>, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %four = arith.constant dense<4> : tensor<64x32xi8>
  %low = arith.constant dense<15> : tensor<64x32xi8>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %s1 = tt.splat %stride : i32 -> tensor<64x1xi32>
  %far = arith.muli %r2, %s1 : tensor<64x1xi32>
  %far2 = tt.broadcast %far : tensor<64x1xi32> -> tensor<64x32xi32>
  %pa = tt.splat %a : !tt.ptr<i8> -> tensor<64x32x!tt.ptr<i8>>
  %x = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %half = arith.divsi %i, %c2 : i32
    %si = tt.splat %half : i32 -> tensor<32xi32>
    %depth = arith.addi %si, %k : tensor<32xi32>
    %d0 = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %d1 = tt.broadcast %d0 : tensor<1x32xi32> -> tensor<64x32xi32>
    %oa = arith.addi %far2, %d1 : tensor<64x32xi32>
    %qa = tt.addptr %pa, %oa : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
    %v = tt.load %qa : tensor<64x32x!tt.ptr<i8>>
    %even = arith.andi %v, %low : tensor<64x32xi8>
    %odd = arith.shrui %v, %four : tensor<64x32xi8>
    %both = tt.join %even, %odd : tensor<64x32xi8> -> tensor<64x32x2xi8>
    %all = tt.reshape %both : tensor<64x32x2xi8> -> tensor<64x64xi8>
    %w = arith.uitofp %all : tensor<64x64xi8> to tensor<64x64xf16>
    %d = tt.dot %w, %b, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %pc = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %pc, %x : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
