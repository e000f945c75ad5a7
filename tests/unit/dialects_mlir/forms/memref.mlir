module {
  func.func @f(%arg0: i32, %arg1: i32, %arg2: tensor<4xi32>, %arg3: tensor<4xi1>, %arg4: f32, %arg5: memref<*xf32>, %arg6: memref<4x8xf32>, %arg7: index) -> i32 {
    %0 = arith.addi %arg0, %arg1 overflow<nsw, nuw> : i32
    %1 = arith.divsi %arg0, %arg1 exact : i32
    %2 = arith.shrui %arg0, %arg1 exact : i32
    %3 = arith.trunci %arg0 overflow<nsw> : i32 to i8
    %4 = arith.truncf %arg4 to_nearest_even : f32 to f16
    %5 = arith.select %arg3, %arg2, %arg2 : tensor<4xi1>, tensor<4xi32>
    %6 = arith.cmpi slt, %arg2, %arg2 : tensor<4xi32>
    %low, %high = arith.mului_extended %arg0, %arg1 : i32
    %sum, %overflow = arith.addui_extended %arg0, %arg1 : i32, i1
    %7 = arith.addf %arg4, %arg4 fastmath<fast> : f32
    %8 = arith.cmpf oeq, %arg4, %arg4 fastmath<nnan,contract> : f32
    %9 = arith.extf %4 fastmath<contract> : f16 to f32
    %10 = memref.atomic_rmw addf %arg4, %arg6[%arg7, %arg7] : (f32, memref<4x8xf32>) -> f32
    %11 = memref.generic_atomic_rmw %arg6[%arg7, %arg7] : memref<4x8xf32> {
    ^bb0(%arg8: f32):
      memref.atomic_yield %arg8 : f32
    }
    %reinterpret_cast = memref.reinterpret_cast %arg5 to offset: [%arg7], sizes: [4, %arg7], strides: [1, %arg7] : memref<*xf32> to memref<4x?xf32, strided<[1, ?], offset: ?>>
    %subview = memref.subview %arg6[%arg7, 0] [2, 8] [1, 1] : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1], offset: ?>>
    %12 = memref.load %arg6[%arg7, %arg7] {nontemporal = true} : memref<4x8xf32>
    memref.prefetch %arg6[%arg7, %arg7], read, locality<3>, data : memref<4x8xf32>
    memref.prefetch %arg6[%arg7, %arg7], write, locality<2>, instr : memref<4x8xf32>
    %cast = memref.cast %arg5 : memref<*xf32> to memref<?xf32>
    %alloc = memref.alloc(%arg7) {alignment = 64 : i64} : memref<?xf32>
    memref.copy %alloc, %cast : memref<?xf32> to memref<?xf32>
    %dim = memref.dim %alloc, %arg7 : memref<?xf32>
    scf.if %8 {
      memref.store %arg4, %arg6[%arg7, %arg7] : memref<4x8xf32>
    }
    %13 = scf.for %arg8 = %arg0 to %arg1 step %arg0 iter_args(%arg9 = %arg4) -> (f32)  : i32 {
      scf.yield %arg9 : f32
    }
    scf.for unsigned %arg8 = %arg0 to %arg1 step %arg0  : i32 {
    }
    return %0 : i32
  }
}

// -----
module {
  memref.global "private" constant @table : memref<4xf32> = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>
  memref.global @open : memref<2x2xi32>
  memref.global "private" @later : memref<8xf32> = uninitialized {alignment = 64 : i64}
  func.func @views(%arg0: memref<*xf32>, %arg1: memref<4x8xf32>, %arg2: memref<?x?xf32, strided<[?, 1], offset: ?>>, %arg3: index, %arg4: f32, %arg5: memref<16xi32>, %arg6: i32, %arg7: memref<8xf32, 1>) {
    %reinterpret_cast = memref.reinterpret_cast %arg0 to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
    %reinterpret_cast_0 = memref.reinterpret_cast %arg0 to offset: [%arg3], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
    %reinterpret_cast_1 = memref.reinterpret_cast %arg1 to offset: [4], sizes: [2, 2], strides: [8, 1] : memref<4x8xf32> to memref<2x2xf32, strided<[8, 1], offset: 4>>
    %reinterpret_cast_2 = memref.reinterpret_cast %arg0 to offset: [%arg3], sizes: [%arg3, %arg3], strides: [%arg3, %arg3] : memref<*xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
    %subview = memref.subview %arg1[0, 0] [4, %arg3] [1, 1] : memref<4x8xf32> to memref<4x?xf32, strided<[8, 1]>>
    %subview_3 = memref.subview %arg1[1, 2] [2, 3] [1, 2] : memref<4x8xf32> to memref<2x3xf32, strided<[8, 2], offset: 10>>
    %subview_4 = memref.subview %arg1[%arg3, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    %subview_5 = memref.subview %arg2[%arg3, %arg3] [%arg3, %arg3] [1, 1] : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %subview_6 = memref.subview %arg2[0, 0] [2, 2] [1, 1] : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<2x2xf32, strided<[?, 1], offset: ?>>
    %collapse_shape = memref.collapse_shape %arg1 [[0, 1]] : memref<4x8xf32> into memref<32xf32>
    %expand_shape = memref.expand_shape %collapse_shape [[0, 1]] output_shape [2, 16] : memref<32xf32> into memref<2x16xf32>
    %expand_shape_7 = memref.expand_shape %collapse_shape [[0, 1]] output_shape [2, 16] : memref<32xf32> into memref<2x16xf32>
    %cast = memref.cast %arg1 : memref<4x8xf32> to memref<*xf32>
    %cast_8 = memref.cast %arg1 : memref<4x8xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
    %alloca = memref.alloca() : memref<4xf32>
    %alloca_9 = memref.alloca(%arg3) {alignment = 32 : i64} : memref<?x4xf32>
    %alloc = memref.alloc() : memref<4x8xf32>
    %alloc_10 = memref.alloc() {alignment = 64 : i64, tag} : memref<f32>
    memref.copy %arg1, %alloc : memref<4x8xf32> to memref<4x8xf32>
    memref.copy %reinterpret_cast_1, %reinterpret_cast_1 {k} : memref<2x2xf32, strided<[8, 1], offset: 4>> to memref<2x2xf32, strided<[8, 1], offset: 4>>
    memref.dealloc %alloc : memref<4x8xf32>
    %0 = memref.load %alloc_10[] : memref<f32>
    memref.store %arg4, %arg1[%arg3, %arg3] {nontemporal = true} : memref<4x8xf32>
    %1 = memref.load %arg7[%arg3] : memref<8xf32, 1>
    %2 = memref.get_global @table : memref<4xf32>
    %assume_align = memref.assume_alignment %arg1, 64 : memref<4x8xf32>
    %dim = memref.dim %arg0, %arg3 : memref<*xf32>
    %intptr = memref.extract_aligned_pointer_as_index %arg1 : memref<4x8xf32> -> index
    %3 = memref.atomic_rmw addf %arg4, %arg1[%arg3, %arg3] : (f32, memref<4x8xf32>) -> f32
    %4 = memref.atomic_rmw addi %arg6, %arg5[%arg3] : (i32, memref<16xi32>) -> i32
    %5 = memref.atomic_rmw andi %arg6, %arg5[%arg3] : (i32, memref<16xi32>) -> i32
    %6 = memref.atomic_rmw assign %arg6, %arg5[%arg3] : (i32, memref<16xi32>) -> i32
    %7 = memref.atomic_rmw maximumf %arg4, %arg1[%arg3, %arg3] : (f32, memref<4x8xf32>) -> f32
    %8 = memref.atomic_rmw maxnumf %arg4, %arg1[%arg3, %arg3] : (f32, memref<4x8xf32>) -> f32
    %9 = memref.atomic_rmw maxs %arg6, %arg5[%arg3] : (i32, memref<16xi32>) -> i32
    %10 = memref.atomic_rmw maxu %arg6, %arg5[%arg3] : (i32, memref<16xi32>) -> i32
    %11 = memref.atomic_rmw minimumf %arg4, %arg1[%arg3, %arg3] : (f32, memref<4x8xf32>) -> f32
    %12 = memref.atomic_rmw minnumf %arg4, %arg1[%arg3, %arg3] : (f32, memref<4x8xf32>) -> f32
    %13 = memref.atomic_rmw mins %arg6, %arg5[%arg3] : (i32, memref<16xi32>) -> i32
    %14 = memref.atomic_rmw minu %arg6, %arg5[%arg3] : (i32, memref<16xi32>) -> i32
    %15 = memref.atomic_rmw mulf %arg4, %arg1[%arg3, %arg3] : (f32, memref<4x8xf32>) -> f32
    %16 = memref.atomic_rmw muli %arg6, %arg5[%arg3] : (i32, memref<16xi32>) -> i32
    %17 = memref.atomic_rmw ori %arg6, %arg5[%arg3] : (i32, memref<16xi32>) -> i32
    %18 = memref.atomic_rmw xori %arg6, %arg5[%arg3] : (i32, memref<16xi32>) -> i32
    return
  }
  func.func @bytes(%arg0: memref<?xi8>, %arg1: index) {
    %view = memref.view %arg0[%arg1][%arg1] : memref<?xi8> to memref<?xf32>
    %view_0 = memref.view %arg0[%arg1][] : memref<?xi8> to memref<4x8xf64>
    %view_1 = memref.view %arg0[%arg1][%arg1, %arg1] {k} : memref<?xi8> to memref<?x2x?xi16>
    return
  }
  func.func @dimensions(%arg0: memref<*xf32>) -> index {
    %0 = memref.rank %arg0 : memref<*xf32>
    return %0 : index
  }
}
