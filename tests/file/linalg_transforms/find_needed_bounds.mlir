// RUN: tilewright-opt %s --linalg-find-needed-bounds | filecheck %s
// RUN: tilewright-opt %s --linalg-find-needed-bounds | tilewright-opt - --mlir-print-op-generic | tilewright-opt - | filecheck %s
// RUN: tilewright-opt %s --linalg-bufferize-function-boundaries --linalg-find-needed-bounds --linalg-to-loops="vector-bits=512" | filecheck %s --check-prefix=LOOPS
// RUN: tilewright-opt %s --linalg-bufferize-function-boundaries --linalg-to-loops="vector-bits=512" | filecheck %s --check-prefix=ALL

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What is stored up to %n is computed up to %n; the arithmetic of the bound moves up.
// CHECK-LABEL: @stored_in_part
// CHECK: %[[N:.*]] = arith.minsi
// CHECK: %[[E:.*]] = linalg.generic
// CHECK: linalg_ext.needed %[[E]][%[[N]]] : tensor<1024xf32>
// CHECK: linalg.generic
// CHECK-NOT: linalg_ext.needed
// CHECK: return
// LOOPS-LABEL: @stored_in_part
// LOOPS: %[[N:.*]] = arith.minsi
// LOOPS: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// LOOPS: math.exp
// ALL-LABEL: @stored_in_part
// ALL: scf.for %{{.*}} = %c0{{.*}} to %c1024{{.*}} step
// ALL: math.exp
func.func @stored_in_part(%x: tensor<1024xf32>, %y: memref<1024xf32>, %z: memref<*xf32>, %count: index) {
  %c1024 = arith.constant 1024 : index
  %empty = tensor.empty() : tensor<1024xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  %n = arith.minsi %count, %c1024 : index
  %to = memref.reinterpret_cast %z to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32, strided<[1]>>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%e : tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  %part = tensor.extract_slice %f[0] [%n] [1] : tensor<1024xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %part in writable %to : (tensor<?xf32>, memref<?xf32, strided<[1]>>) -> ()
  return
}

// A sum reads all of its rows; of the sums a part is needed.
// CHECK-LABEL: @summed
// CHECK: linalg.generic
// CHECK-NOT: linalg_ext.needed
// CHECK: %[[S:.*]] = linalg.generic
// CHECK: linalg_ext.needed %[[S]][%{{.*}}] : tensor<8xf32>
func.func @summed(%x: tensor<8x64xf32>, %other: memref<8xf32>, %z: memref<*xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x64xf32>
  %e = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%empty : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x64xf32>
  %sums = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%sums : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<8x64xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  memref.store %zero, %other[%n] : memref<8xf32>
  %part = tensor.extract_slice %s[0] [%n] [1] : tensor<8xf32> to tensor<?xf32>
  %to = memref.reinterpret_cast %z to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32, strided<[1]>>
  bufferization.materialize_in_destination %part in writable %to : (tensor<?xf32>, memref<?xf32, strided<[1]>>) -> ()
  return
}

// The bound is one load later than the tile: all of the tile is made.
// CHECK-LABEL: @bound_of_memory
// CHECK-NOT: linalg_ext.needed
// CHECK: return
func.func @bound_of_memory(%x: tensor<64xf32>, %z: memref<*xf32>, %p: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %empty = tensor.empty() : tensor<64xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %n = memref.load %p[%c0] : memref<1xindex>
  %to = memref.reinterpret_cast %z to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32, strided<[1]>>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%e : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %part = tensor.extract_slice %f[0] [%n] [1] : tensor<64xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %part in writable %to : (tensor<?xf32>, memref<?xf32, strided<[1]>>) -> ()
  return
}

// Two readers that need different parts: one bound is not enough. In a static part it is said, too.
// CHECK-LABEL: @two_readers
// CHECK: %[[E:.*]] = linalg.generic
// CHECK-NOT: linalg_ext.needed %[[E]]
// CHECK: %[[F:.*]] = linalg.generic
// CHECK: linalg_ext.needed %[[F]][16] : tensor<64xf32>
func.func @two_readers(%x: tensor<64xf32>, %y: memref<64xf32>, %z: memref<*xf32>) {
  %empty = tensor.empty() : tensor<64xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%e : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %e in writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  %part = tensor.extract_slice %f[0] [16] [1] : tensor<64xf32> to tensor<16xf32>
  %to = memref.reinterpret_cast %z to offset: [0], sizes: [16], strides: [1] : memref<*xf32> to memref<16xf32, strided<[1]>>
  bufferization.materialize_in_destination %part in writable %to : (tensor<16xf32>, memref<16xf32, strided<[1]>>) -> ()
  return
}
