// Structured ops on buffers are loops over their elements, in the order of their iterators.
// RUN: tilewright-opt %s --convert-linalg-to-loops --verify-each | exact %s

#shifted = affine_map<(d0) -> (d0 + 2)>
#same = affine_map<(d0) -> (d0)>
func.func @elementwise(%x: memref<8xf32>, %y: memref<6xf32>, %t: memref<16xf32>) {
  linalg.generic {indexing_maps = [#shifted, #same], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %v = memref.load %t[%i] : memref<16xf32>
    %0 = arith.addf %in, %v : f32
    linalg.yield %0 : f32
  }
  return
}
func.func @reduction(%x: memref<4x?xf32>, %s: memref<4xf32>) {
  linalg.reduce ins(%x : memref<4x?xf32>) outs(%s : memref<4xf32>) dimensions = [1]
    (%in: f32, %init: f32) {
      %0 = arith.maximumf %in, %init : f32
      linalg.yield %0 : f32
    }
  return
}
func.func @matmul(%a: memref<4x8xf16>, %b: memref<8x2xf16>, %c: memref<4x2xf32>, %zero: f32) {
  linalg.fill ins(%zero : f32) outs(%c : memref<4x2xf32>)
  linalg.matmul ins(%a, %b : memref<4x8xf16>, memref<8x2xf16>) outs(%c : memref<4x2xf32>)
  return
}
func.func @branches(%m: memref<8xi1>, %x: memref<8xf32>) {
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel"]} ins(%m : memref<8xi1>) {
  ^bb0(%in: i1):
    %i = linalg.index 0 : index
    scf.if %in {
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %x[%i] : memref<8xf32>
    }
    linalg.yield
  }
  return
}
func.func @affine(%i: index, %n: index, %x: memref<8xf32>) -> index {
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv 4 + s0 mod 3)>(%i)[%n]
  %1 = affine.min affine_map<(d0)[s0] -> (d0, s0 * 2, 8)>(%0)[%n]
  %v = affine.load %x[%1 - 1] : memref<8xf32>
  affine.store %v, %x[%1] : memref<8xf32>
  return %1 : index
}

// EXACT:
// module {
//   func.func @elementwise(%arg0: memref<8xf32>, %arg1: memref<6xf32>, %arg2: memref<16xf32>) {
//     %c0 = arith.constant 0 : index
//     %c6 = arith.constant 6 : index
//     %c1 = arith.constant 1 : index
//     %c2 = arith.constant 2 : index
//     scf.for %arg3 = %c0 to %c6 step %c1 {
//       %0 = arith.addi %arg3, %c2 : index
//       %1 = memref.load %arg0[%0] : memref<8xf32>
//       %2 = memref.load %arg2[%arg3] : memref<16xf32>
//       %3 = arith.addf %1, %2 : f32
//       memref.store %3, %arg1[%arg3] : memref<6xf32>
//     }
//     return
//   }
//   func.func @reduction(%arg0: memref<4x?xf32>, %arg1: memref<4xf32>) {
//     %c1 = arith.constant 1 : index
//     %c0 = arith.constant 0 : index
//     %c4 = arith.constant 4 : index
//     %dim = memref.dim %arg0, %c1 : memref<4x?xf32>
//     scf.for %arg2 = %c0 to %c4 step %c1 {
//       scf.for %arg3 = %c0 to %dim step %c1 {
//         %0 = memref.load %arg0[%arg2, %arg3] : memref<4x?xf32>
//         %1 = memref.load %arg1[%arg2] : memref<4xf32>
//         %2 = arith.maximumf %0, %1 : f32
//         memref.store %2, %arg1[%arg2] : memref<4xf32>
//       }
//     }
//     return
//   }
//   func.func @matmul(%arg0: memref<4x8xf16>, %arg1: memref<8x2xf16>, %arg2: memref<4x2xf32>, %arg3: f32) {
//     %c0 = arith.constant 0 : index
//     %c4 = arith.constant 4 : index
//     %c1 = arith.constant 1 : index
//     %c2 = arith.constant 2 : index
//     %c8 = arith.constant 8 : index
//     scf.for %arg4 = %c0 to %c4 step %c1 {
//       scf.for %arg5 = %c0 to %c2 step %c1 {
//         memref.store %arg3, %arg2[%arg4, %arg5] : memref<4x2xf32>
//       }
//     }
//     scf.for %arg4 = %c0 to %c4 step %c1 {
//       scf.for %arg5 = %c0 to %c2 step %c1 {
//         scf.for %arg6 = %c0 to %c8 step %c1 {
//           %0 = memref.load %arg0[%arg4, %arg6] : memref<4x8xf16>
//           %1 = memref.load %arg1[%arg6, %arg5] : memref<8x2xf16>
//           %2 = memref.load %arg2[%arg4, %arg5] : memref<4x2xf32>
//           %3 = arith.extf %0 : f16 to f32
//           %4 = arith.extf %1 : f16 to f32
//           %5 = arith.mulf %3, %4 : f32
//           %6 = arith.addf %2, %5 : f32
//           memref.store %6, %arg2[%arg4, %arg5] : memref<4x2xf32>
//         }
//       }
//     }
//     return
//   }
//   func.func @branches(%arg0: memref<8xi1>, %arg1: memref<8xf32>) {
//     %c0 = arith.constant 0 : index
//     %c8 = arith.constant 8 : index
//     %c1 = arith.constant 1 : index
//     scf.for %arg2 = %c0 to %c8 step %c1 {
//       %0 = memref.load %arg0[%arg2] : memref<8xi1>
//       scf.if %0 {
//         %cst = arith.constant 0.000000e+00 : f32
//         memref.store %cst, %arg1[%arg2] : memref<8xf32>
//       }
//     }
//     return
//   }
//   func.func @affine(%arg0: index, %arg1: index, %arg2: memref<8xf32>) -> index {
//     %c4 = arith.constant 4 : index
//     %c3 = arith.constant 3 : index
//     %c2 = arith.constant 2 : index
//     %c8 = arith.constant 8 : index
//     %c-1 = arith.constant -1 : index
//     %0 = arith.floordivsi %arg0, %c4 : index
//     %1 = arith.floordivsi %arg1, %c3 : index
//     %2 = arith.muli %1, %c3 : index
//     %3 = arith.subi %arg1, %2 : index
//     %4 = arith.addi %0, %3 : index
//     %5 = arith.muli %arg1, %c2 : index
//     %6 = arith.minsi %4, %5 : index
//     %7 = arith.minsi %6, %c8 : index
//     %8 = arith.addi %7, %c-1 : index
//     %9 = memref.load %arg2[%8] : memref<8xf32>
//     memref.store %9, %arg2[%7] : memref<8xf32>
//     return %7 : index
//   }
// }
