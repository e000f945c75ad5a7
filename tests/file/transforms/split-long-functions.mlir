// Parts of a long function become functions: constants and views that cost nothing are in each, what several parts read
// stays before them, results are returned. What asserts, and what other modules have, stays where it is.
// RUN: tilewright-opt %s --split-long-functions="most=3 part=2" --verify-each | exact %s
// RUN: tilewright-opt %s --split-long-functions="most=20 part=2" | filecheck %s --check-prefix=WHOLE
// RUN: tilewright-opt %s --split-long-functions="most=3 part=2 results=0" | filecheck %s --check-prefix=NONE

// WHOLE-NOT: call @sums_part
// NONE-NOT: call @sums_part
// NONE: call @apart_part_0
  func.func @sums(%p: memref<*xf32>, %n: index, %m: index) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %whole = memref.reinterpret_cast %p to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32>
    %both = arith.addi %n, %m : index
    %first = arith.minsi %n, %m : index
    %s = scf.for %i = %c0 to %first step %c1 iter_args(%sum = %zero) -> (f32) {
      %x = memref.load %whole[%i] : memref<64xf32>
      %next = arith.addf %sum, %x : f32
      scf.yield %next : f32
    }
    %t = scf.for %i = %c0 to %both step %c1 iter_args(%sum = %s) -> (f32) {
      %x = memref.load %whole[%i] : memref<64xf32>
      %next = arith.mulf %sum, %x : f32
      scf.yield %next : f32
    }
    %u = scf.for %i = %c0 to %both step %c1 iter_args(%sum = %t) -> (f32) {
      %x = memref.load %whole[%i] : memref<64xf32>
      %next = arith.subf %sum, %x : f32
      scf.yield %next : f32
    }
    %v = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %u) -> (f32) {
      %x = memref.load %whole[%i] : memref<64xf32>
      %next = arith.divf %sum, %s : f32
      scf.yield %next : f32
    }
    return %v : f32
  }
  // A buffer that one part uses is its own, one that two use is passed to both; an assertion and a call of what is
  // declared are between parts.
  func.func private @apart(%n: index, %ok: i1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %own = memref.alloca() : memref<64xf32>
    %common = memref.alloca() : memref<64xf32>
    scf.for %i = %c0 to %n step %c1 {
      memref.store %one, %own[%i] : memref<64xf32>
    }
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %own[%i] : memref<64xf32>
      memref.store %x, %common[%i] : memref<64xf32>
    }
    cf.assert %ok, "wrong"
    func.call @other(%n) : (index) -> ()
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %common[%i] : memref<64xf32>
      memref.store %x, %common[%c0] : memref<64xf32>
    }
    func.call @apart_too(%n) : (index) -> ()
    return
  }
  func.func private @apart_too(%n: index) {
    return
  }
  func.func private @other(%i: index)

// EXACT:
// module {
//   func.func @sums(%arg0: memref<*xf32>, %arg1: index, %arg2: index) -> f32 {
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     %reinterpret_cast = memref.reinterpret_cast %arg0 to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32>
//     %0 = arith.addi %arg1, %arg2 : index
//     %1:2 = call @sums_part_0(%arg1, %arg2, %arg0, %0) : (index, index, memref<*xf32>, index) -> (f32, f32)
//     %2 = call @sums_part_1(%0, %1#1, %arg0, %arg1, %1#0) : (index, f32, memref<*xf32>, index, f32) -> f32
//     return %2 : f32
//   }
//   func.func private @apart(%arg0: index, %arg1: i1) {
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     %alloca = memref.alloca() : memref<64xf32>
//     call @apart_part_0(%arg0, %alloca) : (index, memref<64xf32>) -> ()
//     cf.assert %arg1, "wrong"
//     call @other(%arg0) : (index) -> ()
//     call @apart_part_1(%arg0, %alloca) : (index, memref<64xf32>) -> ()
//     return
//   }
//   func.func private @apart_too(%arg0: index) {
//     return
//   }
//   func.func private @other(index)
//   func.func private @sums_part_0(%arg0: index, %arg1: index, %arg2: memref<*xf32>, %arg3: index) -> (f32, f32) attributes {no_inline} {
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32>
//     %cst = arith.constant 0.000000e+00 : f32
//     %0 = arith.minsi %arg0, %arg1 : index
//     %1 = scf.for %arg4 = %c0 to %0 step %c1 iter_args(%arg5 = %cst) -> (f32) {
//       %3 = memref.load %reinterpret_cast[%arg4] : memref<64xf32>
//       %4 = arith.addf %arg5, %3 : f32
//       scf.yield %4 : f32
//     }
//     %2 = scf.for %arg4 = %c0 to %arg3 step %c1 iter_args(%arg5 = %1) -> (f32) {
//       %3 = memref.load %reinterpret_cast[%arg4] : memref<64xf32>
//       %4 = arith.mulf %arg5, %3 : f32
//       scf.yield %4 : f32
//     }
//     return %1, %2 : f32, f32
//   }
//   func.func private @sums_part_1(%arg0: index, %arg1: f32, %arg2: memref<*xf32>, %arg3: index, %arg4: f32) -> f32 attributes {no_inline} {
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32>
//     %0 = scf.for %arg5 = %c0 to %arg0 step %c1 iter_args(%arg6 = %arg1) -> (f32) {
//       %2 = memref.load %reinterpret_cast[%arg5] : memref<64xf32>
//       %3 = arith.subf %arg6, %2 : f32
//       scf.yield %3 : f32
//     }
//     %1 = scf.for %arg5 = %c0 to %arg3 step %c1 iter_args(%arg6 = %0) -> (f32) {
//       %2 = memref.load %reinterpret_cast[%arg5] : memref<64xf32>
//       %3 = arith.divf %arg6, %arg4 : f32
//       scf.yield %3 : f32
//     }
//     return %1 : f32
//   }
//   func.func private @apart_part_0(%arg0: index, %arg1: memref<64xf32>) attributes {no_inline} {
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     %cst = arith.constant 1.000000e+00 : f32
//     %alloca = memref.alloca() : memref<64xf32>
//     scf.for %arg2 = %c0 to %arg0 step %c1 {
//       memref.store %cst, %alloca[%arg2] : memref<64xf32>
//     }
//     scf.for %arg2 = %c0 to %arg0 step %c1 {
//       %0 = memref.load %alloca[%arg2] : memref<64xf32>
//       memref.store %0, %arg1[%arg2] : memref<64xf32>
//     }
//     return
//   }
//   func.func private @apart_part_1(%arg0: index, %arg1: memref<64xf32>) attributes {no_inline} {
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     scf.for %arg2 = %c0 to %arg0 step %c1 {
//       %0 = memref.load %arg1[%arg2] : memref<64xf32>
//       memref.store %0, %arg1[%c0] : memref<64xf32>
//     }
//     call @apart_too(%arg0) : (index) -> ()
//     return
//   }
// }
