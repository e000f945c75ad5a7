// Values that only compute themselves.
// RUN: tilewright-opt %s --remove-dead-values --verify-each | exact %s

  func.func private @h(%a: i32, %b: i32) -> (i32, i32) {
    %0 = arith.addi %a, %a : i32
    return %0, %b : i32, i32
  }
  func.func @k(%p: memref<4xi32>, %lb: index, %ub: index, %s: index, %x: i32, %c: i1) {
    %r:2 = scf.for %i = %lb to %ub step %s iter_args(%a = %x, %b = %x) -> (i32, i32) {
      %q = arith.addi %b, %x : i32
      %q2 = arith.muli %a, %a : i32
      scf.yield %q2, %q : i32, i32
    }
    memref.store %r#0, %p[%lb] : memref<4xi32>
    %w:2 = scf.while (%u = %x, %v = %x) : (i32, i32) -> (i32, i32) {
      %t = arith.cmpi slt, %u, %x : i32
      scf.condition(%t) %u, %v : i32, i32
    } do {
    ^bb0(%u: i32, %v: i32):
      %u2 = arith.addi %u, %x : i32
      %v2 = arith.addi %v, %x : i32
      scf.yield %u2, %v2 : i32, i32
    }
    memref.store %w#0, %p[%lb] : memref<4xi32>
    %z:2 = scf.if %c -> (i32, i32) {
      %dead = arith.addi %x, %x : i32
      scf.yield %x, %dead : i32, i32
    } else {
      %alive = arith.muli %x, %x : i32
      scf.yield %alive, %x : i32, i32
    }
    memref.store %z#0, %p[%lb] : memref<4xi32>
    %d = scf.for %i = %lb to %ub step %s iter_args(%a = %x) -> (i32) {
      %q2 = arith.muli %a, %a : i32
      scf.yield %q2 : i32
    }
    scf.for %i = %lb to %ub step %s {
      %l = memref.load %p[%i] : memref<4xi32>
      %q2 = arith.muli %l, %l : i32
      memref.store %x, %p[%i] : memref<4xi32>
    }
    %y:2 = func.call @h(%x, %x) : (i32, i32) -> (i32, i32)
    memref.store %y#0, %p[%lb] : memref<4xi32>
    cf.cond_br %c, ^bb1(%x, %z#1 : i32, i32), ^bb1(%x, %x : i32, i32)
  ^bb1(%e: i32, %f: i32):
    memref.store %e, %p[%lb] : memref<4xi32>
    return
  }

// EXACT:
// module {
//   func.func private @h(%arg0: i32) -> i32 {
//     %0 = arith.addi %arg0, %arg0 : i32
//     return %0 : i32
//   }
//   func.func @k(%arg0: memref<4xi32>, %arg1: index, %arg2: index, %arg3: index, %arg4: i32, %arg5: i1) {
//     %0 = scf.for %arg6 = %arg1 to %arg2 step %arg3 iter_args(%arg7 = %arg4) -> (i32) {
//       %5 = arith.muli %arg7, %arg7 : i32
//       scf.yield %5 : i32
//     }
//     memref.store %0, %arg0[%arg1] : memref<4xi32>
//     %1 = scf.while (%arg6 = %arg4) : (i32) -> i32 {
//       %5 = arith.cmpi slt, %arg6, %arg4 : i32
//       scf.condition(%5) %arg6 : i32
//     } do {
//     ^bb0(%arg6: i32):
//       %5 = arith.addi %arg6, %arg4 : i32
//       scf.yield %5 : i32
//     }
//     memref.store %1, %arg0[%arg1] : memref<4xi32>
//     %2 = scf.if %arg5 -> (i32) {
//       scf.yield %arg4 : i32
//     } else {
//       %5 = arith.muli %arg4, %arg4 : i32
//       scf.yield %5 : i32
//     }
//     memref.store %2, %arg0[%arg1] : memref<4xi32>
//     scf.for %arg6 = %arg1 to %arg2 step %arg3 {
//       memref.store %arg4, %arg0[%arg6] : memref<4xi32>
//     }
//     %3 = call @h(%arg4) : (i32) -> i32
//     memref.store %3, %arg0[%arg1] : memref<4xi32>
//     cf.cond_br %arg5, ^bb1(%arg4 : i32), ^bb1(%arg4 : i32)
//   ^bb1(%4: i32):  // pred: ^bb0
//     memref.store %4, %arg0[%arg1] : memref<4xi32>
//     return
//   }
// }
