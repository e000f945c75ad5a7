// Carried values that are always equal.
// RUN: tilewright-opt %s --triton-loop-aware-cse --verify-each | exact %s

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
tt.func public @different(%lb: i32, %ub: i32, %s: i32, %x: i32, %y: i32) -> (i32, i32, i32) {
  %r:3 = scf.for %i = %lb to %ub step %s iter_args(%a = %x, %b = %y, %c = %x) -> (i32, i32, i32) : i32 {
    %d = arith.addi %a, %x : i32
    %e = arith.addi %b, %x : i32
    %f = arith.addi %c, %y : i32
    scf.yield %d, %e, %f : i32, i32, i32
  }
  tt.return %r#0, %r#1, %r#2 : i32, i32, i32
}

// EXACT:
// module {
//   tt.func public @k(%arg0: tensor<64x!tt.ptr<f32>>, %arg1: tensor<64xi1>, %arg2: tensor<64xf32>, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32) -> (tensor<64xf32>, i32, i32) {
//     %0:2 = scf.for %arg7 = %arg3 to %arg4 step %arg5 iter_args(%arg8 = %arg2, %arg9 = %arg6) -> (tensor<64xf32>, i32)  : i32 {
//       %1 = tt.load %arg0, %arg1, %arg2 : tensor<64x!tt.ptr<f32>>
//       %2 = arith.mulf %1, %arg2 : tensor<64xf32>
//       %3 = arith.addf %arg8, %2 : tensor<64xf32>
//       %4 = arith.addi %arg9, %arg6 : i32
//       scf.yield %3, %4 : tensor<64xf32>, i32
//     }
//     tt.return %0#0, %0#1, %0#1 : tensor<64xf32>, i32, i32
//   }
//   tt.func public @different(%arg0: i32, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: i32) -> (i32, i32, i32) {
//     %0:3 = scf.for %arg5 = %arg0 to %arg1 step %arg2 iter_args(%arg6 = %arg3, %arg7 = %arg4, %arg8 = %arg3) -> (i32, i32, i32)  : i32 {
//       %1 = arith.addi %arg6, %arg3 : i32
//       %2 = arith.addi %arg7, %arg3 : i32
//       %3 = arith.addi %arg8, %arg4 : i32
//       scf.yield %1, %2, %3 : i32, i32, i32
//     }
//     tt.return %0#0, %0#1, %0#2 : i32, i32, i32
//   }
// }
