// Selections whose mask scalars tell to be all true are skipped.
// RUN: tilewright-opt %s --triton-guard-masks --verify-each --remarks 2>&1 | filecheck %s

// CHECK: remark: {{.*}} the mask is looked at in every iteration: when it is all true is not known

// The last column must be at most the first row, and the last row must not wrap around.
// CHECK-LABEL: @causal
// CHECK: scf.for [[COUNTER:%[a-z0-9_]+]] = {{.*}} iter_args([[ACC:%[a-z0-9_]+]] =
// CHECK: [[D:%[a-z0-9_]+]] = tt.dot
// CHECK: [[I:%[a-z0-9_]+]] = arith.extsi [[COUNTER]] : i32 to i64
// CHECK-NEXT: %c15_i64 = arith.constant 15 : i64
// CHECK-NEXT: [[COLUMN:%[a-z0-9_]+]] = arith.addi [[I]], %c15_i64 : i64
// CHECK: arith.extsi %arg0 : i32 to i64
// CHECK: arith.cmpi sle, [[COLUMN]], {{.*}} : i64
// CHECK: arith.constant 2147483647 : i64
// CHECK: [[ALL:%[a-z0-9_]+]] = arith.andi
// CHECK: [[S:%[a-z0-9_]+]] = scf.if [[ALL]]
// CHECK-NEXT: scf.yield [[D]]
// CHECK-NEXT: } else {
// CHECK: arith.cmpi sge
// CHECK: arith.select
// CHECK: arith.addf [[ACC]], [[S]]
tt.func public @causal(%m: i32, %n: i32, %a: tensor<16x16xf16>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %least = arith.constant dense<-1.0> : tensor<16x16xf32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %s0 = tt.splat %m : i32 -> tensor<16xi32>
  %rows = arith.addi %s0, %r : tensor<16xi32>
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %rows2 = tt.broadcast %rows1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %x = scf.for %i = %c0 to %n step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %zero, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %t0 = tt.splat %i : i32 -> tensor<16xi32>
    %cols = arith.addi %t0, %r : tensor<16xi32>
    %cols1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %cols2 = tt.broadcast %cols1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %mask = arith.cmpi sge, %rows2, %cols2 : tensor<16x16xi32>
    %e = arith.select %mask, %d, %least : tensor<16x16xi1>, tensor<16x16xf32>
    %s = arith.addf %acc, %e : tensor<16x16xf32>
    scf.yield %s : tensor<16x16xf32>
  }
  tt.return %x : tensor<16x16xf32>
}

// A constant that is selected to be added: the addition is part of the conditional.
// CHECK-LABEL: @added
// CHECK: iter_args([[ACC:%[a-z0-9_]+]] =
// CHECK: [[D:%[a-z0-9_]+]] = tt.dot
// CHECK: [[S:%[a-z0-9_]+]] = scf.if
// CHECK-NEXT: [[N:%[a-z0-9_]+]] = arith.addf [[D]], %cst
// CHECK-NEXT: scf.yield [[N]]
// CHECK-NEXT: } else {
// CHECK: [[C:%[a-z0-9_]+]] = arith.select
// CHECK-NEXT: arith.addf [[D]], [[C]]
// CHECK: arith.addf [[ACC]], [[S]]
tt.func public @added(%m: i32, %n: i32, %a: tensor<16x16xf16>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %least = arith.constant dense<-1.0> : tensor<16x16xf32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %end = tt.splat %m : i32 -> tensor<16xi32>
  %x = scf.for %i = %c0 to %n step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %zero, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %t0 = tt.splat %i : i32 -> tensor<16xi32>
    %cols = arith.addi %t0, %r : tensor<16xi32>
    %inside = arith.cmpi slt, %cols, %end : tensor<16xi32>
    %inside1 = tt.expand_dims %inside {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
    %mask = tt.broadcast %inside1 : tensor<1x16xi1> -> tensor<16x16xi1>
    %c = arith.select %mask, %zero, %least : tensor<16x16xi1>, tensor<16x16xf32>
    %e = arith.addf %d, %c : tensor<16x16xf32>
    %s = arith.addf %acc, %e : tensor<16x16xf32>
    scf.yield %s : tensor<16x16xf32>
  }
  tt.return %x : tensor<16x16xf32>
}

// A mask that comes from memory.
// CHECK-LABEL: @loaded
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @loaded(%n: i32, %a: tensor<16x16xf16>, %mask: tensor<16x16xi1>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %x = scf.for %i = %c0 to %n step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %acc, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %e = arith.select %mask, %d, %zero : tensor<16x16xi1>, tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  tt.return %x : tensor<16x16xf32>
}
