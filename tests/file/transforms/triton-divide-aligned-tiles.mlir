// A tile that crosses no multiple of the divisor is divided by its first number.
// RUN: tilewright-opt %s --triton-divide-aligned-tiles --verify-each | filecheck %s

// CHECK-LABEL: @aligned
// CHECK: [[S:%[a-z0-9_]+]] = arith.muli {{.*}} : i32
// CHECK: [[R:%[a-z0-9_]+]] = tt.expand_dims {{.*}}
// CHECK: [[Q:%[a-z0-9_]+]] = arith.divsi [[S]], {{%[a-z0-9_]+}} : i32
// CHECK-NEXT: tt.splat [[Q]] : i32 -> tensor<8x1xi32>
// CHECK: [[M:%[a-z0-9_]+]] = arith.remsi [[S]], {{%[a-z0-9_]+}} : i32
// CHECK-NEXT: [[F:%[a-z0-9_]+]] = tt.splat [[M]] : i32 -> tensor<8x1xi32>
// CHECK-NEXT: arith.addi [[F]], [[R]] : tensor<8x1xi32>
tt.func public @aligned() -> (tensor<8x1xi32>, tensor<8x1xi32>) {
  %c8 = arith.constant 8 : i32
  %d = arith.constant dense<24> : tensor<8x1xi32>
  %pid = tt.get_program_id x : i32
  %s = arith.muli %pid, %c8 : i32
  %range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %column = tt.expand_dims %range {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %first = tt.splat %s : i32 -> tensor<8x1xi32>
  %x = arith.addi %first, %column : tensor<8x1xi32>
  %q = arith.divsi %x, %d : tensor<8x1xi32>
  %r = arith.remsi %x, %d : tensor<8x1xi32>
  tt.return %q, %r : tensor<8x1xi32>, tensor<8x1xi32>
}

// Multiples of 8 are crossed: by tiles of 16, where only multiples of 4 divide both, and from a number like -8 on.
// CHECK-LABEL: @crossing
// CHECK: arith.remsi {{.*}} : tensor<16xi32>
// CHECK: arith.remsi {{.*}} : tensor<8xi32>
// CHECK: arith.remsi {{.*}} : tensor<8xi32>
tt.func public @crossing(%n: i32) -> (tensor<16xi32>, tensor<8xi32>, tensor<8xi32>) {
  %c8 = arith.constant 8 : i32
  %d16 = arith.constant dense<32> : tensor<16xi32>
  %d12 = arith.constant dense<12> : tensor<8xi32>
  %d8 = arith.constant dense<16> : tensor<8xi32>
  %pid = tt.get_program_id x : i32
  %s = arith.muli %pid, %c8 : i32
  %t = arith.muli %n, %c8 : i32
  %range16 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %range8 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %first16 = tt.splat %s : i32 -> tensor<16xi32>
  %first8 = tt.splat %s : i32 -> tensor<8xi32>
  %signed8 = tt.splat %t : i32 -> tensor<8xi32>
  %x16 = arith.addi %first16, %range16 : tensor<16xi32>
  %x8 = arith.addi %first8, %range8 : tensor<8xi32>
  %y8 = arith.addi %signed8, %range8 : tensor<8xi32>
  %a = arith.remsi %x16, %d16 : tensor<16xi32>
  %b = arith.remsi %x8, %d12 : tensor<8xi32>
  %c = arith.remsi %y8, %d8 : tensor<8xi32>
  tt.return %a, %b, %c : tensor<16xi32>, tensor<8xi32>, tensor<8xi32>
}
