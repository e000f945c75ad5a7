// Scalars of one scalar move to the first op that reads them; chains of them stay in order, and so do scalars of two,
// what is read by nobody and what reads memory.
// RUN: tilewright-opt %s --sink-scalars="least=8" --verify-each | exact %s
// RUN: tilewright-opt %s --sink-scalars | filecheck %s --check-prefix=SHORT

// SHORT: arith.minsi %arg1, %c128
// SHORT: scf.for
  func.func @bounds(%p: memref<256xf32>, %n: index, %m: index) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %a = arith.minsi %n, %c64 : index
    %b = arith.minsi %n, %c128 : index
    %two = arith.addi %n, %m : index
    %d = arith.subi %b, %c64 : index
    %dead = arith.addi %n, %c8 : index
    %x = memref.load %p[%c0] : memref<256xf32>
    %e = arith.muli %m, %m : index
    scf.for %i = %c0 to %a step %c8 {
      memref.store %x, %p[%i] : memref<256xf32>
    }
    scf.for %i = %c0 to %d step %c8 {
      scf.for %j = %c0 to %e step %c8 {
        memref.store %x, %p[%j] : memref<256xf32>
      }
    }
    memref.store %x, %p[%b] : memref<256xf32>
    memref.store %x, %p[%two] : memref<256xf32>
    return
  }
  // Blocks after this one may read a scalar, too.
  func.func @blocks(%p: memref<256xi32>, %n: i32, %c: i1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %a = arith.addi %n, %one : i32
    %b = arith.muli %n, %n : i32
    %d = arith.subi %n, %one : i32
    memref.store %n, %p[%c0] : memref<256xi32>
    memref.store %a, %p[%c1] : memref<256xi32>
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    memref.store %a, %p[%c0] : memref<256xi32>
    memref.store %b, %p[%c1] : memref<256xi32>
    return
  ^bb2:
    memref.store %d, %p[%c0] : memref<256xi32>
    return
  }

// EXACT:
// module {
//   func.func @bounds(%arg0: memref<256xf32>, %arg1: index, %arg2: index) {
//     %c0 = arith.constant 0 : index
//     %c8 = arith.constant 8 : index
//     %c64 = arith.constant 64 : index
//     %c128 = arith.constant 128 : index
//     %0 = arith.addi %arg1, %arg2 : index
//     %1 = arith.addi %arg1, %c8 : index
//     %2 = memref.load %arg0[%c0] : memref<256xf32>
//     %3 = arith.minsi %arg1, %c64 : index
//     scf.for %arg3 = %c0 to %3 step %c8 {
//       memref.store %2, %arg0[%arg3] : memref<256xf32>
//     }
//     %4 = arith.minsi %arg1, %c128 : index
//     %5 = arith.subi %4, %c64 : index
//     %6 = arith.muli %arg2, %arg2 : index
//     scf.for %arg3 = %c0 to %5 step %c8 {
//       scf.for %arg4 = %c0 to %6 step %c8 {
//         memref.store %2, %arg0[%arg4] : memref<256xf32>
//       }
//     }
//     memref.store %2, %arg0[%4] : memref<256xf32>
//     memref.store %2, %arg0[%0] : memref<256xf32>
//     return
//   }
//   func.func @blocks(%arg0: memref<256xi32>, %arg1: i32, %arg2: i1) {
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     %c1_i32 = arith.constant 1 : i32
//     %0 = arith.muli %arg1, %arg1 : i32
//     %1 = arith.subi %arg1, %c1_i32 : i32
//     memref.store %arg1, %arg0[%c0] : memref<256xi32>
//     %2 = arith.addi %arg1, %c1_i32 : i32
//     memref.store %2, %arg0[%c1] : memref<256xi32>
//     cf.cond_br %arg2, ^bb1, ^bb2
//   ^bb1:  // pred: ^bb0
//     memref.store %2, %arg0[%c0] : memref<256xi32>
//     memref.store %0, %arg0[%c1] : memref<256xi32>
//     return
//   ^bb2:  // pred: ^bb0
//     memref.store %1, %arg0[%c0] : memref<256xi32>
//     return
//   }
// }
