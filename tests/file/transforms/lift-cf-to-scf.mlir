// Early returns become conditionals; a loop of branches stays.
// RUN: tilewright-opt %s --lift-cf-to-scf --verify-each | exact %s

tt.func public @early_return(%p: !tt.ptr<i32>, %c: i1, %d: i1, %x: i32) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  tt.store %p, %x : !tt.ptr<i32>
  cf.cond_br %d, ^bb3, ^bb4(%x : i32)
^bb3:
  %0 = arith.addi %x, %x : i32
  cf.br ^bb4(%0 : i32)
^bb4(%y: i32):
  tt.store %p, %y : !tt.ptr<i32>
  tt.return
}
tt.func private @value(%c: i1, %d: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.cond_br %d, ^bb3, ^bb2
^bb2:
  %0 = arith.addi %x, %y : i32
  tt.return %0 : i32
^bb3:
  tt.return %x : i32
}
// The pointer that leaves early is never used: one from the other edge stands for it, as a poison one has no memory.
tt.func public @leaves_before_the_join(%p: tensor<16x!tt.ptr<i32>>, %x: tensor<16xi32>, %c: i1, %d: i1) {
  cf.cond_br %c, ^bb1, ^bb3(%p, %x : tensor<16x!tt.ptr<i32>>, tensor<16xi32>)
^bb1:
  cf.cond_br %d, ^bb4, ^bb2
^bb2:
  %q = tt.addptr %p, %x : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  %0 = arith.addi %x, %x : tensor<16xi32>
  cf.br ^bb3(%q, %0 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>)
^bb3(%at: tensor<16x!tt.ptr<i32>>, %y: tensor<16xi32>):
  tt.store %at, %y : tensor<16x!tt.ptr<i32>>
  cf.br ^bb4
^bb4:
  tt.return
}
tt.func private @cycle(%n: i32) -> i32 {
  cf.br ^bb1(%n : i32)
^bb1(%i: i32):
  %one = arith.constant 1 : i32
  %next = arith.subi %i, %one : i32
  %zero = arith.constant 0 : i32
  %more = arith.cmpi sgt, %next, %zero : i32
  cf.cond_br %more, ^bb1(%next : i32), ^bb2
^bb2:
  tt.return %next : i32
}

// EXACT:
// module {
//   tt.func public @early_return(%arg0: !tt.ptr<i32>, %arg1: i1, %arg2: i1, %arg3: i32) {
//     scf.if %arg1 {
//     } else {
//       tt.store %arg0, %arg3 : !tt.ptr<i32>
//       %0 = scf.if %arg2 -> (i32) {
//         %1 = arith.addi %arg3, %arg3 : i32
//         scf.yield %1 : i32
//       } else {
//         scf.yield %arg3 : i32
//       }
//       tt.store %arg0, %0 : !tt.ptr<i32>
//     }
//     tt.return
//   }
//   tt.func private @value(%arg0: i1, %arg1: i1, %arg2: i32, %arg3: i32) -> i32 {
//     %0:2 = scf.if %arg0 -> (i32, i32) {
//       %3:2 = scf.if %arg1 -> (i32, i32) {
//         %c1_i32 = arith.constant 1 : i32
//         scf.yield %c1_i32, %arg2 : i32, i32
//       } else {
//         %c0_i32_0 = arith.constant 0 : i32
//         %4 = ub.poison : i32
//         scf.yield %c0_i32_0, %4 : i32, i32
//       }
//       scf.yield %3#0, %3#1 : i32, i32
//     } else {
//       %c0_i32_0 = arith.constant 0 : i32
//       %3 = ub.poison : i32
//       scf.yield %c0_i32_0, %3 : i32, i32
//     }
//     %c0_i32 = arith.constant 0 : i32
//     %1 = arith.cmpi eq, %0#0, %c0_i32 : i32
//     %2 = scf.if %1 -> (i32) {
//       %3 = arith.addi %arg2, %arg3 : i32
//       scf.yield %3 : i32
//     } else {
//       scf.yield %0#1 : i32
//     }
//     tt.return %2 : i32
//   }
//   tt.func public @leaves_before_the_join(%arg0: tensor<16x!tt.ptr<i32>>, %arg1: tensor<16xi32>, %arg2: i1, %arg3: i1) {
//     %0:3 = scf.if %arg2 -> (i32, tensor<16x!tt.ptr<i32>>, tensor<16xi32>) {
//       %2:3 = scf.if %arg3 -> (i32, tensor<16x!tt.ptr<i32>>, tensor<16xi32>) {
//         %c1_i32 = arith.constant 1 : i32
//         scf.yield %c1_i32, %arg0, %arg1 : i32, tensor<16x!tt.ptr<i32>>, tensor<16xi32>
//       } else {
//         %3 = tt.addptr %arg0, %arg1 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
//         %4 = arith.addi %arg1, %arg1 : tensor<16xi32>
//         %c0_i32_0 = arith.constant 0 : i32
//         scf.yield %c0_i32_0, %3, %4 : i32, tensor<16x!tt.ptr<i32>>, tensor<16xi32>
//       }
//       scf.yield %2#0, %2#1, %2#2 : i32, tensor<16x!tt.ptr<i32>>, tensor<16xi32>
//     } else {
//       %c0_i32_0 = arith.constant 0 : i32
//       scf.yield %c0_i32_0, %arg0, %arg1 : i32, tensor<16x!tt.ptr<i32>>, tensor<16xi32>
//     }
//     %c0_i32 = arith.constant 0 : i32
//     %1 = arith.cmpi eq, %0#0, %c0_i32 : i32
//     scf.if %1 {
//       tt.store %0#1, %0#2 : tensor<16x!tt.ptr<i32>>
//     }
//     tt.return
//   }
//   tt.func private @cycle(%arg0: i32) -> i32 {
//     cf.br ^bb1(%arg0 : i32)
//   ^bb1(%0: i32):  // 2 preds: ^bb0, ^bb1
//     %c1_i32 = arith.constant 1 : i32
//     %1 = arith.subi %0, %c1_i32 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %2 = arith.cmpi sgt, %1, %c0_i32 : i32
//     cf.cond_br %2, ^bb1(%1 : i32), ^bb2
//   ^bb2:  // pred: ^bb1
//     tt.return %1 : i32
//   }
// }
