// Invariants leave loops, inner loops first; what may trap or reads stays.
// RUN: tilewright-opt %s --loop-invariant-code-motion --verify-each | exact %s

tt.func public @k(%p: !tt.ptr<i32>, %lb: i32, %ub: i32, %s: i32, %x: i32, %y: i32, %v: tensor<8xi32>) {
  scf.for %i = %lb to %ub step %s : i32 {
    scf.for %j = %lb to %ub step %s : i32 {
      %0 = arith.addi %x, %y : i32
      %1 = arith.muli %0, %i : i32
      %2 = arith.addi %1, %j : i32
      %3 = tt.load %p : !tt.ptr<i32>
      %4 = arith.divsi %x, %y : i32
      %5 = arith.addi %3, %4 : i32
      %6 = arith.addi %5, %2 : i32
      %7 = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%a: i32, %b: i32):
        %n = arith.addi %a, %b : i32
        tt.reduce.return %n : i32
      }) : (tensor<8xi32>) -> i32
      %8 = arith.addi %6, %7 : i32
      tt.store %p, %8 : !tt.ptr<i32>
    }
  }
  tt.return
}

// EXACT:
// module {
//   tt.func public @k(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: tensor<8xi32>) {
//     %0 = arith.addi %arg4, %arg5 : i32
//     %1 = "tt.reduce"(%arg6) <{axis = 0 : i32}> ({
//     ^bb0(%arg7: i32, %arg8: i32):
//       %2 = arith.addi %arg7, %arg8 : i32
//       tt.reduce.return %2 : i32
//     }) : (tensor<8xi32>) -> i32
//     scf.for %arg7 = %arg1 to %arg2 step %arg3  : i32 {
//       %2 = arith.muli %0, %arg7 : i32
//       scf.for %arg8 = %arg1 to %arg2 step %arg3  : i32 {
//         %3 = arith.addi %2, %arg8 : i32
//         %4 = tt.load %arg0 : !tt.ptr<i32>
//         %5 = arith.divsi %arg4, %arg5 : i32
//         %6 = arith.addi %4, %5 : i32
//         %7 = arith.addi %6, %3 : i32
//         %8 = arith.addi %7, %1 : i32
//         tt.store %arg0, %8 : !tt.ptr<i32>
//       }
//     }
//     tt.return
//   }
// }
