// Loops that differ in what they read from outside become calls: constants that all share, and what costs nothing to
// make, are the function's own; a result is returned. Loops that differ in an op, and loops that call, stay.
// RUN: tilewright-opt %s --outline-equal-loops="copies=2 least=4" --verify-each | exact %s
// RUN: tilewright-opt %s --outline-equal-loops="copies=3 least=4" | filecheck %s --check-prefix=FEW
// RUN: tilewright-opt %s --outline-equal-loops="copies=2" | filecheck %s --check-prefix=FEW
// RUN: tilewright-opt %s --outline-equal-loops="copies=2 least=4 parameters=2" | filecheck %s --check-prefix=FEW

// FEW-NOT: call @copies_loop
  func.func @copies(%p: memref<256xf32>, %q: memref<256xf32>, %n: index, %m: index) -> f32 {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %again = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %one = arith.constant 1.0 : f32
    %ones = vector.broadcast %one : f32 to vector<8xf32>
    scf.for %i = %c0 to %n step %c8 {
      %j = arith.addi %c64, %i : index
      %x = vector.load %p[%j] : memref<256xf32>, vector<8xf32>
      %y = arith.addf %x, %ones : vector<8xf32>
      vector.store %y, %q[%i] : memref<256xf32>, vector<8xf32>
    }
    scf.for %i = %c0 to %m step %again {
      %j = arith.addi %c128, %i : index
      %x = vector.load %p[%j] : memref<256xf32>, vector<8xf32>
      %y = arith.addf %x, %ones : vector<8xf32>
      vector.store %y, %p[%i] : memref<256xf32>, vector<8xf32>
    }
    scf.for %i = %c0 to %m step %c8 {
      %j = arith.addi %c128, %i : index
      %x = vector.load %p[%j] : memref<256xf32>, vector<8xf32>
      %y = arith.mulf %x, %ones : vector<8xf32>
      vector.store %y, %p[%i] : memref<256xf32>, vector<8xf32>
    }
    %s = scf.for %i = %c0 to %n step %c8 iter_args(%sum = %one) -> (f32) {
      %x = memref.load %p[%i] : memref<256xf32>
      %next = arith.addf %sum, %x : f32
      scf.yield %next : f32
    }
    %t = scf.for %i = %c0 to %n step %c8 iter_args(%sum = %s) -> (f32) {
      %x = memref.load %q[%i] : memref<256xf32>
      %next = arith.addf %sum, %x : f32
      scf.yield %next : f32
    }
    scf.for %i = %c0 to %n step %c8 {
      func.call @other(%i) : (index) -> ()
    }
    scf.for %i = %c0 to %m step %c8 {
      func.call @other(%i) : (index) -> ()
    }
    return %t : f32
  }
  // Equal loops inside of loops that have no equals.
  func.func @inside(%p: memref<256xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %one = arith.constant 1.0 : f32
    scf.for %i = %c0 to %n step %c8 {
      scf.for %j = %c0 to %i step %c8 {
        memref.store %one, %p[%j] : memref<256xf32>
      }
      scf.for %j = %c0 to %n step %c8 {
        memref.store %one, %p[%j] : memref<256xf32>
      }
    }
    return
  }
  func.func private @other(%i: index)

// EXACT:
// module {
//   func.func @copies(%arg0: memref<256xf32>, %arg1: memref<256xf32>, %arg2: index, %arg3: index) -> f32 {
//     %c0 = arith.constant 0 : index
//     %c8 = arith.constant 8 : index
//     %c8_0 = arith.constant 8 : index
//     %c64 = arith.constant 64 : index
//     %c128 = arith.constant 128 : index
//     %cst = arith.constant 1.000000e+00 : f32
//     %0 = vector.broadcast %cst : f32 to vector<8xf32>
//     call @copies_loop_0(%arg2, %c64, %arg0, %arg1) : (index, index, memref<256xf32>, memref<256xf32>) -> ()
//     call @copies_loop_0(%arg3, %c128, %arg0, %arg0) : (index, index, memref<256xf32>, memref<256xf32>) -> ()
//     scf.for %arg4 = %c0 to %arg3 step %c8 {
//       %3 = arith.addi %c128, %arg4 : index
//       %4 = vector.load %arg0[%3] : memref<256xf32>, vector<8xf32>
//       %5 = arith.mulf %4, %0 : vector<8xf32>
//       vector.store %5, %arg0[%arg4] : memref<256xf32>, vector<8xf32>
//     }
//     %1 = call @copies_loop_1(%arg2, %cst, %arg0) : (index, f32, memref<256xf32>) -> f32
//     %2 = call @copies_loop_1(%arg2, %1, %arg1) : (index, f32, memref<256xf32>) -> f32
//     scf.for %arg4 = %c0 to %arg2 step %c8 {
//       func.call @other(%arg4) : (index) -> ()
//     }
//     scf.for %arg4 = %c0 to %arg3 step %c8 {
//       func.call @other(%arg4) : (index) -> ()
//     }
//     return %2 : f32
//   }
//   func.func @inside(%arg0: memref<256xf32>, %arg1: index) {
//     %c0 = arith.constant 0 : index
//     %c8 = arith.constant 8 : index
//     %cst = arith.constant 1.000000e+00 : f32
//     scf.for %arg2 = %c0 to %arg1 step %c8 {
//       func.call @inside_loop_0(%arg2, %arg0) : (index, memref<256xf32>) -> ()
//       func.call @inside_loop_0(%arg1, %arg0) : (index, memref<256xf32>) -> ()
//     }
//     return
//   }
//   func.func private @other(index)
//   func.func private @copies_loop_0(%arg0: index, %arg1: index, %arg2: memref<256xf32>, %arg3: memref<256xf32>) attributes {no_inline} {
//     %c0 = arith.constant 0 : index
//     %c8 = arith.constant 8 : index
//     %cst = arith.constant 1.000000e+00 : f32
//     %0 = vector.broadcast %cst : f32 to vector<8xf32>
//     scf.for %arg4 = %c0 to %arg0 step %c8 {
//       %1 = arith.addi %arg1, %arg4 : index
//       %2 = vector.load %arg2[%1] : memref<256xf32>, vector<8xf32>
//       %3 = arith.addf %2, %0 : vector<8xf32>
//       vector.store %3, %arg3[%arg4] : memref<256xf32>, vector<8xf32>
//     }
//     return
//   }
//   func.func private @copies_loop_1(%arg0: index, %arg1: f32, %arg2: memref<256xf32>) -> f32 attributes {no_inline} {
//     %c0 = arith.constant 0 : index
//     %c8 = arith.constant 8 : index
//     %0 = scf.for %arg3 = %c0 to %arg0 step %c8 iter_args(%arg4 = %arg1) -> (f32) {
//       %1 = memref.load %arg2[%arg3] : memref<256xf32>
//       %2 = arith.addf %arg4, %1 : f32
//       scf.yield %2 : f32
//     }
//     return %0 : f32
//   }
//   func.func private @inside_loop_0(%arg0: index, %arg1: memref<256xf32>) attributes {no_inline} {
//     %c0 = arith.constant 0 : index
//     %c8 = arith.constant 8 : index
//     %cst = arith.constant 1.000000e+00 : f32
//     scf.for %arg2 = %c0 to %arg0 step %c8 {
//       memref.store %cst, %arg1[%arg2] : memref<256xf32>
//     }
//     return
//   }
// }
