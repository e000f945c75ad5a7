// Loops and conditionals.
// RUN: tilewright-opt %s --canonicalize --verify-each | exact %s

tt.func public @carried(%p: !tt.ptr<i32>, %lb: i32, %ub: i32, %s: i32, %x: i32, %y: i32) {
  %r:4 = scf.for %i = %lb to %ub step %s iter_args(%a = %x, %b = %y, %c = %x, %d = %y) -> (i32, i32, i32, i32) : i32 {
    %n = arith.addi %a, %b : i32
    %unused = arith.muli %d, %d : i32
    scf.yield %n, %b, %n, %unused : i32, i32, i32, i32
  } {tt.num_stages = 3 : i32}
  %sum = arith.addi %r#0, %r#1 : i32
  %sum2 = arith.addi %sum, %r#2 : i32
  tt.store %p, %sum2 : !tt.ptr<i32>
  tt.return
}
// Carried twice; only the second is used.
tt.func public @first_of_twins_unused(%p: !tt.ptr<i32>, %lb: i32, %ub: i32, %s: i32, %x: i32) {
  %r:2 = scf.for %i = %lb to %ub step %s iter_args(%a = %x, %b = %x) -> (i32, i32) : i32 {
    %n = arith.addi %b, %i : i32
    scf.yield %n, %n : i32, i32
  }
  tt.store %p, %r#1 : !tt.ptr<i32>
  tt.return
}
// The second yields what the first carries, which never changes: one rule drops both.
tt.func public @second_is_the_first(%p: !tt.ptr<i32>, %lb: i32, %ub: i32, %s: i32, %x: i32) {
  %r:2 = scf.for %i = %lb to %ub step %s iter_args(%a = %x, %b = %x) -> (i32, i32) : i32 {
    %n = arith.addi %b, %i : i32
    tt.store %p, %n : !tt.ptr<i32>
    scf.yield %a, %a : i32, i32
  }
  tt.store %p, %r#1 : !tt.ptr<i32>
  tt.return
}
tt.func public @trivial(%p: !tt.ptr<i32>, %x: i32) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %none = scf.for %i = %c4 to %c4 step %c1 iter_args(%a = %x) -> (i32) : i32 {
    %n = arith.addi %a, %i : i32
    scf.yield %n : i32
  }
  %once = scf.for %i = %c1 to %c4 step %c4 iter_args(%a = %x) -> (i32) : i32 {
    tt.store %p, %i : !tt.ptr<i32>
    %n = arith.addi %a, %i : i32
    scf.yield %n : i32
  }
  // Runs twice: stays.
  %twice = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> (i32) : i32 {
    %n = arith.muli %a, %a : i32
    scf.yield %n : i32
  }
  tt.return %none, %once, %twice : i32, i32, i32
}
tt.func public @conditionals(%p: !tt.ptr<i32>, %c: i1, %x: i32, %y: i32) -> (i32, i32, i32, i1) {
  %true = arith.constant true
  %false = arith.constant false
  %0 = scf.if %true -> (i32) {
    tt.store %p, %x : !tt.ptr<i32>
    scf.yield %x : i32
  } else {
    tt.store %p, %y : !tt.ptr<i32>
    scf.yield %y : i32
  }
  %1:2 = scf.if %c -> (i32, i32) {
    tt.store %p, %x : !tt.ptr<i32>
    scf.yield %x, %y : i32, i32
  } else {
    scf.yield %y, %y : i32, i32
  }
  %2 = scf.if %c -> (i1) {
    scf.yield %true : i1
  } else {
    scf.yield %false : i1
  }
  scf.if %c {
    %inner = scf.if %c -> (i32) {
      scf.yield %x : i32
    } else {
      scf.yield %y : i32
    }
    tt.store %p, %inner : !tt.ptr<i32>
  } else {
  }
  scf.if %c {
  }
  tt.return %0, %1#0, %1#1, %2 : i32, i32, i32, i1
}
tt.func public @while(%p: !tt.ptr<i32>, %x: i32, %n: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %r:3 = scf.while (%i = %x, %k = %n, %d = %x) : (i32, i32, i32) -> (i32, i32, i32) {
    %go = arith.cmpi slt, %i, %k : i32
    scf.condition(%go) %i, %k, %d : i32, i32, i32
  } do {
  ^bb0(%i: i32, %k: i32, %d: i32):
    tt.store %p, %k : !tt.ptr<i32>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %k, %d : i32, i32, i32
  }
  tt.return %r#0 : i32
}
tt.func public @constants_rise(%p: !tt.ptr<i32>, %ub: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %ub step %c1 : i32 {
    %one = arith.constant 1 : i32
    %n = arith.addi %i, %one : i32
    tt.store %p, %n : !tt.ptr<i32>
  }
  tt.return
}

// EXACT:
// module {
//   tt.func public @carried(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: i32, %arg5: i32) {
//     %0:2 = scf.for %arg6 = %arg1 to %arg2 step %arg3 iter_args(%arg7 = %arg4, %arg8 = %arg5) -> (i32, i32)  : i32 {
//       %3 = arith.addi %arg7, %arg5 : i32
//       %4 = arith.muli %arg8, %arg8 : i32
//       scf.yield %3, %4 : i32, i32
//     } {tt.num_stages = 3 : i32}
//     %1 = arith.addi %0#0, %arg5 : i32
//     %2 = arith.addi %1, %0#0 : i32
//     tt.store %arg0, %2 : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @first_of_twins_unused(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: i32) {
//     %0 = scf.for %arg5 = %arg1 to %arg2 step %arg3 iter_args(%arg6 = %arg4) -> (i32)  : i32 {
//       %1 = arith.addi %arg6, %arg5 : i32
//       scf.yield %1 : i32
//     }
//     tt.store %arg0, %0 : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @second_is_the_first(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: i32) {
//     scf.for %arg5 = %arg1 to %arg2 step %arg3  : i32 {
//       %0 = arith.addi %arg4, %arg5 : i32
//       tt.store %arg0, %0 : !tt.ptr<i32>
//     }
//     tt.store %arg0, %arg4 : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @trivial(%arg0: !tt.ptr<i32>, %arg1: i32) -> (i32, i32, i32) {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c4_i32 = arith.constant 4 : i32
//     tt.store %arg0, %c1_i32 : !tt.ptr<i32>
//     %0 = arith.addi %arg1, %c1_i32 : i32
//     %1 = scf.for %arg2 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg3 = %arg1) -> (i32)  : i32 {
//       %2 = arith.muli %arg3, %arg3 : i32
//       scf.yield %2 : i32
//     }
//     tt.return %arg1, %0, %1 : i32, i32, i32
//   }
//   tt.func public @conditionals(%arg0: !tt.ptr<i32>, %arg1: i1, %arg2: i32, %arg3: i32) -> (i32, i32, i32, i1) {
//     tt.store %arg0, %arg2 : !tt.ptr<i32>
//     %0 = arith.select %arg1, %arg2, %arg3 : i32
//     scf.if %arg1 {
//       tt.store %arg0, %arg2 : !tt.ptr<i32>
//     }
//     scf.if %arg1 {
//       tt.store %arg0, %arg2 : !tt.ptr<i32>
//     }
//     tt.return %arg2, %0, %arg3, %arg1 : i32, i32, i32, i1
//   }
//   tt.func public @while(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i32) -> i32 {
//     %c1_i32 = arith.constant 1 : i32
//     %0 = scf.while (%arg3 = %arg1) : (i32) -> i32 {
//       %1 = arith.cmpi slt, %arg3, %arg2 : i32
//       scf.condition(%1) %arg3 : i32
//     } do {
//     ^bb0(%arg3: i32):
//       tt.store %arg0, %arg2 : !tt.ptr<i32>
//       %1 = arith.addi %arg3, %c1_i32 : i32
//       scf.yield %1 : i32
//     }
//     tt.return %0 : i32
//   }
//   tt.func public @constants_rise(%arg0: !tt.ptr<i32>, %arg1: i32) {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     scf.for %arg2 = %c0_i32 to %arg1 step %c1_i32  : i32 {
//       %0 = arith.addi %arg2, %c1_i32 : i32
//       tt.store %arg0, %0 : !tt.ptr<i32>
//     }
//     tt.return
//   }
// }
