// Unrolled loops.
// RUN: tilewright-opt %s --triton-loop-unroll --verify-each | exact %s

tt.func public @k(%arg0: !tt.ptr<f32>, %lb: i32, %n: i32, %st: i32, %v: f32) {
  %3 = scf.for %i = %lb to %n step %st iter_args(%a = %v) -> (f32) : i32 {
    %p = tt.addptr %arg0, %i : !tt.ptr<f32>, i32
    %l = tt.load %p : !tt.ptr<f32>
    %s = arith.addf %a, %l : f32
    scf.yield %s : f32
  } {tt.loop_unroll_factor = 3 : i32, tt.num_stages = 2 : i32}
  tt.store %arg0, %3 : !tt.ptr<f32>
  tt.return
}
tt.func public @constant_bounds(%p: !tt.ptr<i32>, %x: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> (i32) : i32 {
    %n = arith.addi %a, %i : i32
    scf.yield %n : i32
  } {tt.loop_unroll_factor = 2 : i32}
  %s = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %x) -> (i32) : i32 {
    %n = arith.addi %a, %i : i32
    scf.yield %n : i32
  } {tt.loop_unroll_factor = 2 : i32}
  scf.for %i = %c0 to %c7 step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 1 : i32}
  tt.return %r, %s : i32, i32
}

// EXACT:
// module {
//   tt.func public @k(%arg0: !tt.ptr<f32>, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: f32) {
//     %0 = arith.maxsi %arg2, %arg1 : i32
//     %1 = arith.subi %0, %arg1 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %2 = arith.divui %1, %arg3 : i32
//     %3 = arith.remui %1, %arg3 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %4 = arith.cmpi ne, %3, %c0_i32 : i32
//     %5 = arith.select %4, %c1_i32, %c0_i32 : i32
//     %6 = arith.addi %2, %5 : i32
//     %c3_i32 = arith.constant 3 : i32
//     %7 = arith.remui %6, %c3_i32 : i32
//     %8 = arith.subi %6, %7 : i32
//     %9 = arith.muli %8, %arg3 : i32
//     %10 = arith.addi %arg1, %9 : i32
//     %c3_i32_0 = arith.constant 3 : i32
//     %11 = arith.muli %arg3, %c3_i32_0 : i32
//     %12 = scf.for %arg5 = %arg1 to %10 step %11 iter_args(%arg6 = %arg4) -> (f32)  : i32 {
//       %14 = tt.addptr %arg0, %arg5 : !tt.ptr<f32>, i32
//       %15 = tt.load %14 : !tt.ptr<f32>
//       %16 = arith.addf %arg6, %15 : f32
//       %c1_i32_1 = arith.constant 1 : i32
//       %17 = arith.muli %arg3, %c1_i32_1 : i32
//       %18 = arith.addi %arg5, %17 : i32
//       %19 = tt.addptr %arg0, %18 : !tt.ptr<f32>, i32
//       %20 = tt.load %19 : !tt.ptr<f32>
//       %21 = arith.addf %16, %20 : f32
//       %c2_i32 = arith.constant 2 : i32
//       %22 = arith.muli %arg3, %c2_i32 : i32
//       %23 = arith.addi %arg5, %22 : i32
//       %24 = tt.addptr %arg0, %23 : !tt.ptr<f32>, i32
//       %25 = tt.load %24 : !tt.ptr<f32>
//       %26 = arith.addf %21, %25 : f32
//       scf.yield %26 : f32
//     } {tt.num_stages = 2 : i32}
//     %13 = scf.for %arg5 = %10 to %arg2 step %arg3 iter_args(%arg6 = %12) -> (f32)  : i32 {
//       %14 = tt.addptr %arg0, %arg5 : !tt.ptr<f32>, i32
//       %15 = tt.load %14 : !tt.ptr<f32>
//       %16 = arith.addf %arg6, %15 : f32
//       scf.yield %16 : f32
//     } {tt.num_stages = 1 : i32}
//     tt.store %arg0, %13 : !tt.ptr<f32>
//     tt.return
//   }
//   tt.func public @constant_bounds(%arg0: !tt.ptr<i32>, %arg1: i32) -> (i32, i32) {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c7_i32 = arith.constant 7 : i32
//     %c8_i32 = arith.constant 8 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %0 = scf.for %arg2 = %c0_i32 to %c8_i32 step %c2_i32 iter_args(%arg3 = %arg1) -> (i32)  : i32 {
//       %3 = arith.addi %arg3, %arg2 : i32
//       %c1_i32_1 = arith.constant 1 : i32
//       %4 = arith.muli %c1_i32, %c1_i32_1 : i32
//       %5 = arith.addi %arg2, %4 : i32
//       %6 = arith.addi %3, %5 : i32
//       scf.yield %6 : i32
//     }
//     %c6_i32 = arith.constant 6 : i32
//     %c2_i32_0 = arith.constant 2 : i32
//     %1 = scf.for %arg2 = %c0_i32 to %c6_i32 step %c2_i32_0 iter_args(%arg3 = %arg1) -> (i32)  : i32 {
//       %3 = arith.addi %arg3, %arg2 : i32
//       %c1_i32_1 = arith.constant 1 : i32
//       %4 = arith.muli %c1_i32, %c1_i32_1 : i32
//       %5 = arith.addi %arg2, %4 : i32
//       %6 = arith.addi %3, %5 : i32
//       scf.yield %6 : i32
//     }
//     %2 = scf.for %arg2 = %c6_i32 to %c7_i32 step %c1_i32 iter_args(%arg3 = %1) -> (i32)  : i32 {
//       %3 = arith.addi %arg3, %arg2 : i32
//       scf.yield %3 : i32
//     } {tt.num_stages = 1 : i32}
//     scf.for %arg2 = %c0_i32 to %c7_i32 step %c1_i32  : i32 {
//       tt.store %arg0, %arg2 : !tt.ptr<i32>
//     }
//     tt.return %0, %2 : i32, i32
//   }
// }
