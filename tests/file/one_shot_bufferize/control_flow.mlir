// Tensors that loops, branches and blocks pass on are copied into buffers; what they exchange is saved first.
// RUN: tilewright-opt %s --one-shot-bufferize --verify-each | exact %s

func.func @exchanges(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: index, %out: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %k = %c0, %y = %b) -> (tensor<4xf32>, index, tensor<4xf32>) {
    %k1 = arith.addi %k, %c1 : index
    scf.yield %y, %k1, %x : tensor<4xf32>, index, tensor<4xf32>
  }
  bufferization.materialize_in_destination %r#0 in writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
func.func @in_place(%e: tensor<4xf32>, %n: index, %v: f32, %out: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %e) -> (tensor<4xf32>) {
    %y = tensor.insert %v into %x[%i] : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  bufferization.materialize_in_destination %r in writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
func.func @tests(%a: tensor<4xi32>, %out: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %r = scf.while (%x = %a) : (tensor<4xi32>) -> tensor<4xi32> {
    %e = tensor.extract %x[%c0] : tensor<4xi32>
    %zero = arith.constant 0 : i32
    %more = arith.cmpi sgt, %e, %zero : i32
    scf.condition(%more) %x : tensor<4xi32>
  } do {
  ^bb0(%y: tensor<4xi32>):
    %d = arith.subi %y, %a : tensor<4xi32>
    scf.yield %d : tensor<4xi32>
  }
  bufferization.materialize_in_destination %r in writable %out : (tensor<4xi32>, memref<4xi32>) -> ()
  return
}
func.func @blocks(%c: i1, %a: tensor<4xi32>, %b: tensor<4xi32>, %out: memref<4xi32>) {
  cf.cond_br %c, ^bb1(%a : tensor<4xi32>), ^bb2(%b, %c : tensor<4xi32>, i1)
^bb1(%x: tensor<4xi32>):
  bufferization.materialize_in_destination %x in writable %out : (tensor<4xi32>, memref<4xi32>) -> ()
  return
^bb2(%y: tensor<4xi32>, %d: i1):
  cf.cond_br %d, ^bb1(%y : tensor<4xi32>), ^bb3
^bb3:
  return
}
func.func @choices(%c: i1, %a: tensor<4xi32>, %b: tensor<4xi32>, %out: memref<4xi32>) {
  %s = arith.select %c, %a, %b : tensor<4xi32>
  %r = scf.if %c -> (tensor<4xi32>) {
    scf.yield %s : tensor<4xi32>
  } else {
    %t = arith.addi %s, %b : tensor<4xi32>
    scf.yield %t : tensor<4xi32>
  }
  bufferization.materialize_in_destination %r in writable %out : (tensor<4xi32>, memref<4xi32>) -> ()
  return
}

// EXACT:
// #map = affine_map<(d0) -> (d0)>
// module {
//   func.func @exchanges(%arg0: memref<4xf32>, %arg1: memref<4xf32>, %arg2: index, %arg3: memref<4xf32>) {
//     %alloca = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     %alloca_0 = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     %alloca_1 = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     memref.copy %arg0, %alloca : memref<4xf32> to memref<4xf32>
//     memref.copy %arg1, %alloca_0 : memref<4xf32> to memref<4xf32>
//     %0 = scf.for %arg4 = %c0 to %arg2 step %c1 iter_args(%arg5 = %c0) -> (index) {
//       %1 = arith.addi %arg5, %c1 : index
//       memref.copy %alloca_0, %alloca_1 : memref<4xf32> to memref<4xf32>
//       memref.copy %alloca, %alloca_0 : memref<4xf32> to memref<4xf32>
//       memref.copy %alloca_1, %alloca : memref<4xf32> to memref<4xf32>
//       scf.yield %1 : index
//     }
//     memref.copy %alloca, %arg3 : memref<4xf32> to memref<4xf32>
//     return
//   }
//   func.func @in_place(%arg0: memref<4xf32>, %arg1: index, %arg2: f32, %arg3: memref<4xf32>) {
//     %alloca = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     memref.copy %arg0, %alloca : memref<4xf32> to memref<4xf32>
//     scf.for %arg4 = %c0 to %arg1 step %c1 {
//       memref.store %arg2, %alloca[%arg4] : memref<4xf32>
//     }
//     memref.copy %alloca, %arg3 : memref<4xf32> to memref<4xf32>
//     return
//   }
//   func.func @tests(%arg0: memref<4xi32>, %arg1: memref<4xi32>) {
//     %alloca = memref.alloca() {alignment = 64 : i64} : memref<4xi32>
//     %alloca_0 = memref.alloca() {alignment = 64 : i64} : memref<4xi32>
//     %alloca_1 = memref.alloca() {alignment = 64 : i64} : memref<4xi32>
//     %c0 = arith.constant 0 : index
//     memref.copy %arg0, %alloca : memref<4xi32> to memref<4xi32>
//     scf.while : () -> () {
//       %0 = memref.load %alloca[%c0] : memref<4xi32>
//       %c0_i32 = arith.constant 0 : i32
//       %1 = arith.cmpi sgt, %0, %c0_i32 : i32
//       memref.copy %alloca, %alloca_0 : memref<4xi32> to memref<4xi32>
//       scf.condition(%1)
//     } do {
//       linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%alloca_0, %arg0 : memref<4xi32>, memref<4xi32>) outs(%alloca_1 : memref<4xi32>) {
//       ^bb0(%in: i32, %in_2: i32, %out: i32):
//         %0 = arith.subi %in, %in_2 : i32
//         linalg.yield %0 : i32
//       }
//       memref.copy %alloca_1, %alloca : memref<4xi32> to memref<4xi32>
//       scf.yield
//     }
//     memref.copy %alloca_0, %arg1 : memref<4xi32> to memref<4xi32>
//     return
//   }
//   func.func @blocks(%arg0: i1, %arg1: memref<4xi32>, %arg2: memref<4xi32>, %arg3: memref<4xi32>) {
//     %alloca = memref.alloca() {alignment = 64 : i64} : memref<4xi32>
//     %alloca_0 = memref.alloca() {alignment = 64 : i64} : memref<4xi32>
//     cf.cond_br %arg0, ^bb1, ^bb4
//   ^bb1:  // pred: ^bb0
//     memref.copy %arg1, %alloca_0 : memref<4xi32> to memref<4xi32>
//     cf.br ^bb3
//   ^bb2:  // pred: ^bb5
//     memref.copy %alloca, %alloca_0 : memref<4xi32> to memref<4xi32>
//     cf.br ^bb3
//   ^bb3:  // 2 preds: ^bb1, ^bb2
//     memref.copy %alloca_0, %arg3 : memref<4xi32> to memref<4xi32>
//     return
//   ^bb4:  // pred: ^bb0
//     memref.copy %arg2, %alloca : memref<4xi32> to memref<4xi32>
//     cf.br ^bb5(%arg0 : i1)
//   ^bb5(%0: i1):  // pred: ^bb4
//     cf.cond_br %0, ^bb2, ^bb6
//   ^bb6:  // pred: ^bb5
//     return
//   }
//   func.func @choices(%arg0: i1, %arg1: memref<4xi32>, %arg2: memref<4xi32>, %arg3: memref<4xi32>) {
//     %alloca = memref.alloca() {alignment = 64 : i64} : memref<4xi32>
//     %alloca_0 = memref.alloca() {alignment = 64 : i64} : memref<4xi32>
//     %alloca_1 = memref.alloca() {alignment = 64 : i64} : memref<4xi32>
//     scf.if %arg0 {
//       memref.copy %arg1, %alloca : memref<4xi32> to memref<4xi32>
//     } else {
//       memref.copy %arg2, %alloca : memref<4xi32> to memref<4xi32>
//     }
//     scf.if %arg0 {
//       memref.copy %alloca, %alloca_0 : memref<4xi32> to memref<4xi32>
//     } else {
//       linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%alloca, %arg2 : memref<4xi32>, memref<4xi32>) outs(%alloca_1 : memref<4xi32>) {
//       ^bb0(%in: i32, %in_2: i32, %out: i32):
//         %0 = arith.addi %in, %in_2 : i32
//         linalg.yield %0 : i32
//       }
//       memref.copy %alloca_1, %alloca_0 : memref<4xi32> to memref<4xi32>
//     }
//     memref.copy %alloca_0, %arg3 : memref<4xi32> to memref<4xi32>
//     return
//   }
// }
