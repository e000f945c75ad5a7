// Ops on tensors, each with a buffer for its result; reshapes are views, destinations that nobody else reads are reused.
// RUN: tilewright-opt %s --one-shot-bufferize --verify-each | exact %s

#map = affine_map<(d0) -> (d0)>
func.func @makes(%v: f32, %i: index, %out: memref<4xf32>) {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %s = tensor.splat %v : tensor<4xf32>
  %e = tensor.from_elements %v, %v : tensor<2xf32>
  %g = tensor.generate {
  ^bb0(%j: index):
    %x = tensor.extract %c[%j] : tensor<4xf32>
    tensor.yield %x : f32
  } : tensor<4xf32>
  %p = tensor.pad %e low[1] high[1] {
  ^bb0(%j: index):
    tensor.yield %v : f32
  } : tensor<2xf32> to tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]}
      ins(%s, %g, %p : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %d : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
func.func @parts(%t: tensor<4x8xf32>, %u: tensor<8xf32>, %i: index, %n: index, %out: memref<?xf32, strided<[1]>>) {
  %row = tensor.extract_slice %t[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  %next = tensor.insert_slice %u into %t[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
  %flat = tensor.collapse_shape %next [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %both = tensor.concat dim(0) %flat, %row : (tensor<32xf32>, tensor<8xf32>) -> tensor<40xf32>
  %cut = tensor.extract_slice %both[0] [%n] [1] : tensor<40xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %cut in writable %out : (tensor<?xf32>, memref<?xf32, strided<[1]>>) -> ()
  return
}
func.func @memory(%x: memref<4xf32>, %out: memref<4xf32>) {
  %local = memref.alloc() : memref<4xf32>
  memref.copy %x, %local : memref<4xf32> to memref<4xf32>
  %stays = bufferization.to_tensor %local restrict writable : memref<4xf32> to tensor<4xf32>
  %read = bufferization.to_tensor %x : memref<4xf32> to tensor<4xf32>
  bufferization.materialize_in_destination %stays in writable %x : (tensor<4xf32>, memref<4xf32>) -> ()
  bufferization.materialize_in_destination %read in writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
func.func private @called(%x: tensor<4xf32>, %n: i32) -> (tensor<4xf32>, i32) {
  %0 = math.exp %x : tensor<4xf32>
  return %0, %n : tensor<4xf32>, i32
}
func.func @calls(%x: tensor<4xf32>, %n: i32) -> i32 {
  %0:2 = call @called(%x, %n) : (tensor<4xf32>, i32) -> (tensor<4xf32>, i32)
  %1:2 = call @called(%0#0, %0#1) : (tensor<4xf32>, i32) -> (tensor<4xf32>, i32)
  return %1#1 : i32
}

// EXACT:
// #map = affine_map<(d0) -> (d0)>
// module {
//   memref.global "private" constant @__constant_4xf32 : memref<4xf32> = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> {alignment = 64 : i64}
//   func.func @makes(%arg0: f32, %arg1: index, %arg2: memref<4xf32>) {
//     %alloca = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     %alloca_0 = memref.alloca() {alignment = 64 : i64} : memref<2xf32>
//     %alloca_1 = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     %alloca_2 = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     %alloca_3 = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     %0 = memref.get_global @__constant_4xf32 : memref<4xf32>
//     linalg.fill ins(%arg0 : f32) outs(%alloca : memref<4xf32>)
//     %c0 = arith.constant 0 : index
//     memref.store %arg0, %alloca_0[%c0] : memref<2xf32>
//     %c1 = arith.constant 1 : index
//     memref.store %arg0, %alloca_0[%c1] : memref<2xf32>
//     linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%alloca_1 : memref<4xf32>) {
//     ^bb0(%out: f32):
//       %1 = linalg.index 0 : index
//       %2 = memref.load %0[%1] : memref<4xf32>
//       linalg.yield %2 : f32
//     }
//     linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%alloca_2 : memref<4xf32>) {
//     ^bb0(%out: f32):
//       %1 = linalg.index 0 : index
//       linalg.yield %arg0 : f32
//     }
//     %subview = memref.subview %alloca_2[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
//     memref.copy %alloca_0, %subview : memref<2xf32> to memref<2xf32, strided<[1], offset: 1>>
//     linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%alloca, %alloca_1, %alloca_2 : memref<4xf32>, memref<4xf32>, memref<4xf32>) outs(%alloca_3 : memref<4xf32>) {
//     ^bb0(%in: f32, %in_4: f32, %in_5: f32, %out: f32):
//       %1 = arith.addf %in, %in_4 : f32
//       %2 = arith.addf %1, %in_5 : f32
//       linalg.yield %2 : f32
//     }
//     memref.copy %alloca_3, %arg2 : memref<4xf32> to memref<4xf32>
//     return
//   }
//   func.func @parts(%arg0: memref<4x8xf32>, %arg1: memref<8xf32>, %arg2: index, %arg3: index, %arg4: memref<?xf32, strided<[1]>>) {
//     %alloca = memref.alloca() {alignment = 64 : i64} : memref<8xf32>
//     %alloca_0 = memref.alloca() {alignment = 64 : i64} : memref<4x8xf32>
//     %alloca_1 = memref.alloca() {alignment = 64 : i64} : memref<40xf32>
//     %subview = memref.subview %arg0[%arg2, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1], offset: ?>>
//     memref.copy %subview, %alloca : memref<8xf32, strided<[1], offset: ?>> to memref<8xf32>
//     memref.copy %arg0, %alloca_0 : memref<4x8xf32> to memref<4x8xf32>
//     %subview_2 = memref.subview %alloca_0[%arg2, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1], offset: ?>>
//     memref.copy %arg1, %subview_2 : memref<8xf32> to memref<8xf32, strided<[1], offset: ?>>
//     %collapse_shape = memref.collapse_shape %alloca_0 [[0, 1]] : memref<4x8xf32> into memref<32xf32>
//     %subview_3 = memref.subview %alloca_1[0] [32] [1] : memref<40xf32> to memref<32xf32, strided<[1]>>
//     memref.copy %collapse_shape, %subview_3 : memref<32xf32> to memref<32xf32, strided<[1]>>
//     %subview_4 = memref.subview %alloca_1[32] [8] [1] : memref<40xf32> to memref<8xf32, strided<[1], offset: 32>>
//     memref.copy %alloca, %subview_4 : memref<8xf32> to memref<8xf32, strided<[1], offset: 32>>
//     %subview_5 = memref.subview %alloca_1[0] [%arg3] [1] : memref<40xf32> to memref<?xf32, strided<[1]>>
//     memref.copy %subview_5, %arg4 : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
//     return
//   }
//   func.func @memory(%arg0: memref<4xf32>, %arg1: memref<4xf32>) {
//     %alloca = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     %alloca_0 = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     memref.copy %arg0, %alloca : memref<4xf32> to memref<4xf32>
//     memref.copy %arg0, %alloca_0 : memref<4xf32> to memref<4xf32>
//     memref.copy %alloca, %arg0 : memref<4xf32> to memref<4xf32>
//     memref.copy %alloca_0, %arg1 : memref<4xf32> to memref<4xf32>
//     return
//   }
//   func.func private @called(%arg0: memref<4xf32>, %arg1: i32, %arg2: memref<4xf32>) -> i32 {
//     %alloca = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : memref<4xf32>) outs(%alloca : memref<4xf32>) {
//     ^bb0(%in: f32, %out: f32):
//       %0 = math.exp %in : f32
//       linalg.yield %0 : f32
//     }
//     memref.copy %alloca, %arg2 : memref<4xf32> to memref<4xf32>
//     return %arg1 : i32
//   }
//   func.func @calls(%arg0: memref<4xf32>, %arg1: i32) -> i32 {
//     %alloca = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     %alloca_0 = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
//     %0 = call @called(%arg0, %arg1, %alloca) : (memref<4xf32>, i32, memref<4xf32>) -> i32
//     %1 = call @called(%alloca, %0, %alloca_0) : (memref<4xf32>, i32, memref<4xf32>) -> i32
//     return %1 : i32
//   }
// }
