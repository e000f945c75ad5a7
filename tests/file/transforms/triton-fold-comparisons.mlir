// Comparisons that always or never hold, by the ranges of their numbers, are constants.
// RUN: tilewright-opt %s --triton-fold-comparisons --verify-each | filecheck %s

// 124 * 256 + 255 < 32000, for a counter that goes by one, and by the size of the tiles.
// CHECK-LABEL: @equal_tiles
// CHECK: [[A:%[a-z0-9_]+]] = arith.constant dense<true> : tensor<256xi1>
// CHECK: tt.store {{.*}}, {{.*}}, [[A]]
// CHECK: [[B:%[a-z0-9_]+]] = arith.constant dense<true> : tensor<256xi1>
// CHECK: tt.store {{.*}}, {{.*}}, [[B]]
tt.func public @equal_tiles(%p: tensor<256x!tt.ptr<i32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c125 = arith.constant 125 : i32
  %c256 = arith.constant 256 : i32
  %c32000 = arith.constant 32000 : i32
  %end = arith.constant dense<32000> : tensor<256xi32>
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  scf.for %i = %c0 to %c125 step %c1 : i32 {
    %s = arith.muli %i, %c256 : i32
    %t = tt.splat %s : i32 -> tensor<256xi32>
    %x = arith.addi %t, %range : tensor<256xi32>
    %mask = arith.cmpi slt, %x, %end : tensor<256xi32>
    tt.store %p, %x, %mask : tensor<256x!tt.ptr<i32>>
  }
  scf.for %i = %c0 to %c32000 step %c256 : i32 {
    %t = tt.splat %i : i32 -> tensor<256xi32>
    %x = arith.addi %t, %range : tensor<256xi32>
    %mask = arith.cmpi ult, %x, %end : tensor<256xi32>
    tt.store %p, %x, %mask : tensor<256x!tt.ptr<i32>>
  }
  tt.return
}

// The last tile is not full; a counter that goes from an argument on is not known.
// CHECK-LABEL: @partial_tiles
// CHECK: arith.cmpi slt
// CHECK: arith.cmpi slt
tt.func public @partial_tiles(%p: tensor<256x!tt.ptr<i32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c125 = arith.constant 125 : i32
  %c256 = arith.constant 256 : i32
  %end = arith.constant dense<31999> : tensor<256xi32>
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  scf.for %i = %c0 to %c125 step %c1 : i32 {
    %s = arith.muli %i, %c256 : i32
    %t = tt.splat %s : i32 -> tensor<256xi32>
    %x = arith.addi %t, %range : tensor<256xi32>
    %mask = arith.cmpi slt, %x, %end : tensor<256xi32>
    tt.store %p, %x, %mask : tensor<256x!tt.ptr<i32>>
  }
  scf.for %i = %n to %c125 step %c1 : i32 {
    %s = arith.muli %i, %c256 : i32
    %t = tt.splat %s : i32 -> tensor<256xi32>
    %x = arith.addi %t, %range : tensor<256xi32>
    %mask = arith.cmpi slt, %x, %end : tensor<256xi32>
    tt.store %p, %x, %mask : tensor<256x!tt.ptr<i32>>
  }
  tt.return
}

// A product that may overflow is any number; unsigned comparisons need numbers that are not negative.
// CHECK-LABEL: @any_number
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi ult
// CHECK: [[T:%[a-z0-9_]+]] = arith.constant true
// CHECK: [[F:%[a-z0-9_]+]] = arith.constant false
// CHECK: tt.return {{%[a-z0-9_]+}}, {{%[a-z0-9_]+}}, [[T]], [[F]]
tt.func public @any_number(%n: i32) -> (i1, i1, i1, i1) {
  %c0 = arith.constant 0 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %pid = tt.get_program_id x : i32
  %x = arith.muli %pid, %c7 : i32
  %a = arith.cmpi sge, %x, %c0 : i32
  %y = arith.minsi %n, %c7 : i32
  %b = arith.cmpi ult, %y, %c8 : i32
  %c = arith.cmpi sge, %pid, %c0 : i32
  %d = arith.cmpi ne, %c7, %c7 : i32
  tt.return %a, %b, %c, %d : i1, i1, i1, i1
}
