// Two loops that run thousands of ops become calls of one function, also inside of a loop that has no equal: by
// constant bounds, or by the loops that they hold. Short loops stay, and those whose function would save little.
// RUN: tilewright-opt %s --outline-equal-loops="saved=4" --verify-each | filecheck %s
// RUN: tilewright-opt %s --outline-equal-loops="saved=4 long=100000" | filecheck %s --check-prefix=NONE
// RUN: tilewright-opt %s --outline-equal-loops="saved=16" | filecheck %s --check-prefix=NONE

// NONE-NOT: call @
// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK-NEXT: call @rows_loop_0(
// CHECK-NEXT: call @rows_loop_0(
// CHECK-NOT: call @
// CHECK: func.func private @rows_loop_0
// CHECK: scf.for
// CHECK: scf.for
func.func @rows(%p: memref<65536xf32>, %q: memref<65536xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c4096 = arith.constant 4096 : index
  scf.for %row = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4096 step %c64 {
      scf.for %j = %c0 to %m step %c8 {
        %at = arith.addi %i, %j : index
        %x = vector.load %p[%at] : memref<65536xf32>, vector<8xf32>
        %a = arith.addf %x, %x : vector<8xf32>
        %b = arith.mulf %a, %x : vector<8xf32>
        %c = arith.subf %b, %a : vector<8xf32>
        %d = arith.mulf %c, %b : vector<8xf32>
        vector.store %d, %q[%at] : memref<65536xf32>, vector<8xf32>
      }
    }
    scf.for %i = %c0 to %c4096 step %c64 {
      scf.for %j = %c0 to %n step %c8 {
        %at = arith.addi %i, %j : index
        %x = vector.load %q[%at] : memref<65536xf32>, vector<8xf32>
        %a = arith.addf %x, %x : vector<8xf32>
        %b = arith.mulf %a, %x : vector<8xf32>
        %c = arith.subf %b, %a : vector<8xf32>
        %d = arith.mulf %c, %b : vector<8xf32>
        vector.store %d, %p[%at] : memref<65536xf32>, vector<8xf32>
      }
    }
    scf.for %i = %c0 to %c16 step %c8 {
      %x = vector.load %p[%i] : memref<65536xf32>, vector<8xf32>
      vector.store %x, %q[%i] : memref<65536xf32>, vector<8xf32>
    }
    scf.for %i = %c0 to %c128 step %c8 {
      %x = vector.load %q[%i] : memref<65536xf32>, vector<8xf32>
      vector.store %x, %p[%i] : memref<65536xf32>, vector<8xf32>
    }
  }
  return
}
