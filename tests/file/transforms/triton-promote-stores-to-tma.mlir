// The result of a kernel whose products TMA copies is stored by TMA.
// RUN: tilewright-opt %s --split-input-file --triton-promote-stores-to-tma=mode=always --verify-each | filecheck %s
// RUN: tilewright-opt %s --split-input-file --triton-promote-stores-to-tma=mode=always --remarks 2>&1 | filecheck %s --check-prefix=NOTE
// RUN: tilewright-opt %s --split-input-file --triton-promote-stores-to-tma=num-warps=8 --verify-each 2>&1 | filecheck %s --check-prefix=AUTO

// NOTE-DAG: remark: {{.*}} it is not stored by TMA: its rows are not known to lie a multiple of 16 bytes apart
// NOTE-DAG: remark: {{.*}} it is not stored by TMA: the kernel reads memory after it

// By itself the pass leaves a small block alone.
// AUTO-NOT: tt.descriptor_store

// The mask is the tensor's bound along rows; nothing bounds columns.
// CHECK-LABEL: @result
// CHECK-SAME: %arg5: !tt.tensordesc<64x64xf16> {ttg.tensor_map = {base = 0 : i64, {{.*}}dims = [{extent = {{[0-9]+}} : i64, {{.*}} {extent = -1 : i64,
// CHECK: tt.dot
// CHECK: [[X:%[a-z0-9_]+]] = arith.truncf
// CHECK: [[ROW:%[a-z0-9_]+]] = arith.muli %{{.*}}, %c64_i32
// CHECK: tt.descriptor_store %arg5{{.}}[[ROW]], %c0_i32{{[a-z0-9_]*}}], [[X]] : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
// CHECK-NOT: tt.store
tt.func public @result(%c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i32, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %a: !tt.tensordesc<64x32xf16> {ttg.tensor_map = {base = 0 : i64}}) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c64 : i32
  %x = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %l = tt.descriptor_load %a[%first, %i] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
    %t = tt.trans %l {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
    %d = tt.dot %l, %t, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %h = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xf16>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %s0 = tt.splat %first : i32 -> tensor<64xi32>
  %rows = arith.addi %s0, %r : tensor<64xi32>
  %r2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %s1 = tt.splat %stride : i32 -> tensor<64x1xi32>
  %far = arith.muli %r2, %s1 : tensor<64x1xi32>
  %far2 = tt.broadcast %far : tensor<64x1xi32> -> tensor<64x64xi32>
  %k = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k2 = tt.broadcast %k : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %far2, %k2 : tensor<64x64xi32>
  %pc = tt.splat %c : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %q = tt.addptr %pc, %o : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %sm = tt.splat %m : i32 -> tensor<64x1xi32>
  %live = arith.cmpi slt, %r2, %sm : tensor<64x1xi32>
  %mask = tt.broadcast %live : tensor<64x1xi1> -> tensor<64x64xi1>
  tt.store %q, %h, %mask : tensor<64x64x!tt.ptr<f16>>
  tt.return
}

// -----

// Rows at any distance.
// CHECK-LABEL: @odd_rows
// CHECK: tt.store
tt.func public @odd_rows(%c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32, %a: !tt.tensordesc<64x32xf16> {ttg.tensor_map = {base = 0 : i64}}) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %l = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
    %t = tt.trans %l {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
    %d = tt.dot %l, %t, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %s1 = tt.splat %stride : i32 -> tensor<64x1xi32>
  %far = arith.muli %r2, %s1 : tensor<64x1xi32>
  %far2 = tt.broadcast %far : tensor<64x1xi32> -> tensor<64x64xi32>
  %k = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k2 = tt.broadcast %k : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %far2, %k2 : tensor<64x64xi32>
  %pc = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %q = tt.addptr %pc, %o : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %q, %x : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Copies have no order with what is read later.
// CHECK-LABEL: @read_again
// CHECK: tt.store
tt.func public @read_again(%c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %a: !tt.tensordesc<64x32xf16> {ttg.tensor_map = {base = 0 : i64}}) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %l = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
    %t = tt.trans %l {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
    %d = tt.dot %l, %t, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %pc = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %pc, %x : tensor<64x64x!tt.ptr<f32>>
  %y = tt.load %c : !tt.ptr<f32>
  %z = tt.splat %y : f32 -> tensor<64x64xf32>
  tt.return
}
