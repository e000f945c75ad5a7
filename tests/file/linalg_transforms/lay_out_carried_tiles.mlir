// RUN: tilewright-opt %s --linalg-lay-out-carried-tiles | filecheck %s
// RUN: tilewright-opt %s --linalg-lay-out-carried-tiles --linalg-to-loops | filecheck %s --check-prefix=LOOPS
// RUN: tilewright-opt %s --linalg-to-loops | filecheck %s --check-prefix=ROWS

#id2 = affine_map<(d0, d1) -> (d0, d1)>

// Memory that follows its columns is added to the tile, in the second place. The mark is gone with the tile.
// CHECK-LABEL: @columns
// CHECK: } {tilewright.by_columns = array<i64: 1>}
// LOOPS-LABEL: @columns
// LOOPS: scf.for {{.*}} iter_args
// LOOPS-NOT: vector.shuffle
// LOOPS: scf.yield
// LOOPS-NOT: by_columns
// LOOPS: vector.shuffle
// LOOPS: return
// Without it, each step transposes the memory in blocks.
// ROWS-LABEL: @columns
// ROWS: scf.for {{.*}} iter_args
// ROWS: vector.shuffle
// ROWS: scf.yield
// ROWS-NOT: vector.shuffle
// ROWS: return
func.func @columns(%x: memref<*xf32>, %o: memref<*xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %last, %sum = scf.for %i = %c0 to %n step %c1 iter_args(%at = %c0, %acc = %zero) -> (index, tensor<16x64xf32>) {
    %tile = memref.reinterpret_cast %x to offset: [%i], sizes: [16, 64], strides: [1, 64] : memref<*xf32> to memref<16x64xf32, strided<[1, 64], offset: ?>>
    %t = bufferization.to_tensor %tile restrict : memref<16x64xf32, strided<[1, 64], offset: ?>> to tensor<16x64xf32>
    %e = tensor.empty() : tensor<16x64xf32>
    %next = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%acc, %t : tensor<16x64xf32>, tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
    ^bb0(%a: f32, %b: f32, %old: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<16x64xf32>
    scf.yield %i, %next : index, tensor<16x64xf32>
  }
  %to = memref.reinterpret_cast %o to offset: [%last], sizes: [16, 64], strides: [64, 1] : memref<*xf32> to memref<16x64xf32, strided<[64, 1], offset: ?>>
  bufferization.materialize_in_destination %sum in writable %to : (tensor<16x64xf32>, memref<16x64xf32, strided<[64, 1], offset: ?>>) -> ()
  return
}

// Not where the memory follows rows, and not for few rows, along which lanes would go.
// CHECK-LABEL: @rows
// CHECK-NOT: by_columns
// CHECK: return
func.func @rows(%x: memref<*xf32>, %o: memref<*xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %few = arith.constant dense<0.0> : tensor<4x64xf32>
  %sums:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %zero, %q = %few) -> (tensor<16x64xf32>, tensor<4x64xf32>) {
    %tile = memref.reinterpret_cast %x to offset: [%i], sizes: [16, 64], strides: [64, 1] : memref<*xf32> to memref<16x64xf32, strided<[64, 1], offset: ?>>
    %t = bufferization.to_tensor %tile restrict : memref<16x64xf32, strided<[64, 1], offset: ?>> to tensor<16x64xf32>
    %short = memref.reinterpret_cast %x to offset: [%i], sizes: [4, 64], strides: [1, 4] : memref<*xf32> to memref<4x64xf32, strided<[1, 4], offset: ?>>
    %u = bufferization.to_tensor %short restrict : memref<4x64xf32, strided<[1, 4], offset: ?>> to tensor<4x64xf32>
    %e = tensor.empty() : tensor<16x64xf32>
    %f = tensor.empty() : tensor<4x64xf32>
    %next = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%p, %t : tensor<16x64xf32>, tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
    ^bb0(%a: f32, %b: f32, %old: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<16x64xf32>
    %then = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%q, %u : tensor<4x64xf32>, tensor<4x64xf32>) outs(%f : tensor<4x64xf32>) {
    ^bb0(%a: f32, %b: f32, %old: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4x64xf32>
    scf.yield %next, %then : tensor<16x64xf32>, tensor<4x64xf32>
  }
  %whole = memref.reinterpret_cast %o to offset: [0], sizes: [16, 64], strides: [64, 1] : memref<*xf32> to memref<16x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %sums#0 in writable %whole : (tensor<16x64xf32>, memref<16x64xf32, strided<[64, 1]>>) -> ()
  %part = memref.reinterpret_cast %o to offset: [1024], sizes: [4, 64], strides: [64, 1] : memref<*xf32> to memref<4x64xf32, strided<[64, 1], offset: 1024>>
  bufferization.materialize_in_destination %sums#1 in writable %part : (tensor<4x64xf32>, memref<4x64xf32, strided<[64, 1], offset: 1024>>) -> ()
  return
}
