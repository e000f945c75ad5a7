// Invariant masked loads leave loops that write nothing.
// RUN: tilewright-opt %s --triton-licm --verify-each | exact %s

tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %o: tensor<64xf32>, %lb: i32, %ub: i32, %s: i32, %x: i32) -> (tensor<64xf32>, i32, i32) {
  %r:3 = scf.for %i = %lb to %ub step %s iter_args(%acc = %o, %a = %x, %b = %x) -> (tensor<64xf32>, i32, i32) : i32 {
    %v = tt.load %p, %m, %o : tensor<64x!tt.ptr<f32>>
    %w = arith.mulf %v, %o : tensor<64xf32>
    %n = arith.addf %acc, %w : tensor<64xf32>
    %c = arith.addi %a, %x : i32
    %d = arith.addi %b, %x : i32
    scf.yield %n, %c, %d : tensor<64xf32>, i32, i32
  }
  tt.return %r#0, %r#1, %r#2 : tensor<64xf32>, i32, i32
}
tt.func public @stores(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %o: tensor<64xf32>, %lb: i32, %ub: i32, %s: i32) {
  scf.for %i = %lb to %ub step %s : i32 {
    %v = tt.load %p, %m, %o : tensor<64x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<64xf32>
    tt.store %p, %w : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}
tt.func public @forbidden(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %o: tensor<64xf32>, %lb: i32, %ub: i32, %s: i32) -> tensor<64xf32> {
  %r = scf.for %i = %lb to %ub step %s iter_args(%acc = %o) -> (tensor<64xf32>) : i32 {
    %v = tt.load %p, %m, %o : tensor<64x!tt.ptr<f32>>
    %w = arith.addf %acc, %v : tensor<64xf32>
    scf.yield %w : tensor<64xf32>
  } {llvm.loop_annotation}
  tt.return %r : tensor<64xf32>
}

// EXACT:
// module {
//   tt.func public @k(%arg0: tensor<64x!tt.ptr<f32>>, %arg1: tensor<64xi1>, %arg2: tensor<64xf32>, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32) -> (tensor<64xf32>, i32, i32) {
//     %0 = arith.cmpi slt, %arg3, %arg4 : i32
//     %1 = tt.splat %0 : i1 -> tensor<64xi1>
//     %2 = arith.andi %1, %arg1 : tensor<64xi1>
//     %3 = tt.load %arg0, %2, %arg2 : tensor<64x!tt.ptr<f32>>
//     %4 = arith.mulf %3, %arg2 : tensor<64xf32>
//     %5:3 = scf.for %arg7 = %arg3 to %arg4 step %arg5 iter_args(%arg8 = %arg2, %arg9 = %arg6, %arg10 = %arg6) -> (tensor<64xf32>, i32, i32)  : i32 {
//       %6 = arith.addf %arg8, %4 : tensor<64xf32>
//       %7 = arith.addi %arg9, %arg6 : i32
//       %8 = arith.addi %arg10, %arg6 : i32
//       scf.yield %6, %7, %8 : tensor<64xf32>, i32, i32
//     }
//     tt.return %5#0, %5#1, %5#2 : tensor<64xf32>, i32, i32
//   }
//   tt.func public @stores(%arg0: tensor<64x!tt.ptr<f32>>, %arg1: tensor<64xi1>, %arg2: tensor<64xf32>, %arg3: i32, %arg4: i32, %arg5: i32) {
//     scf.for %arg6 = %arg3 to %arg4 step %arg5  : i32 {
//       %0 = tt.load %arg0, %arg1, %arg2 : tensor<64x!tt.ptr<f32>>
//       %1 = arith.addf %0, %0 : tensor<64xf32>
//       tt.store %arg0, %1 : tensor<64x!tt.ptr<f32>>
//     }
//     tt.return
//   }
//   tt.func public @forbidden(%arg0: tensor<64x!tt.ptr<f32>>, %arg1: tensor<64xi1>, %arg2: tensor<64xf32>, %arg3: i32, %arg4: i32, %arg5: i32) -> tensor<64xf32> {
//     %0 = scf.for %arg6 = %arg3 to %arg4 step %arg5 iter_args(%arg7 = %arg2) -> (tensor<64xf32>)  : i32 {
//       %1 = tt.load %arg0, %arg1, %arg2 : tensor<64x!tt.ptr<f32>>
//       %2 = arith.addf %arg7, %1 : tensor<64xf32>
//       scf.yield %2 : tensor<64xf32>
//     } {llvm.loop_annotation}
//     tt.return %0 : tensor<64xf32>
//   }
// }
