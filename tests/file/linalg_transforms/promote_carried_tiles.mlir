// RUN: tilewright-opt %s --linalg-promote-carried-tiles="vector-bits=512" | filecheck %s
// RUN: tilewright-opt %s --linalg-promote-carried-tiles="vector-bits=512" | tilewright-opt - --mlir-print-op-generic | tilewright-opt - | filecheck %s
// RUN: tilewright-opt %s --linalg-bufferize-function-boundaries --linalg-promote-carried-tiles="vector-bits=512" --linalg-to-loops="vector-bits=512" | filecheck %s --check-prefix=LOOPS
// RUN: tilewright-opt %s --linalg-promote-carried-tiles="vector-bits=128" | filecheck %s --check-prefix=NARROW
// RUN: tilewright-opt %s --linalg-promote-carried-tiles="vector-bits=32" | filecheck %s --check-prefix=NONE

#id = affine_map<(d0) -> (d0)>
#rev = affine_map<(d0) -> (-d0 + 31)>

// The loop carries vectors; tensors stay around the generic, and after the loop.
// CHECK-LABEL: @sums
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[I:.*]]:2 = linalg_ext.to_vectors %[[E]] : tensor<32xf32> -> vector<16xf32>, vector<16xf32>
// CHECK: %[[V:.*]]:2 = scf.for {{.*}} iter_args(%[[A:[^ ]*]] = %[[I]]#0, %[[B:[^ ]*]] = %[[I]]#1) -> (vector<16xf32>, vector<16xf32>) {
// CHECK: %[[T:.*]] = linalg_ext.from_vectors %[[A]], %[[B]] : vector<16xf32>, vector<16xf32> -> tensor<32xf32>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[T]] : tensor<32xf32>)
// CHECK: %[[N:.*]]:2 = linalg_ext.to_vectors %[[S]] : tensor<32xf32> -> vector<16xf32>, vector<16xf32>
// CHECK: scf.yield %[[N]]#0, %[[N]]#1
// CHECK: %[[R:.*]] = linalg_ext.from_vectors %[[V]]#0, %[[V]]#1
// CHECK: return %[[R]]
// NONE-LABEL: @sums
// NONE-NOT: linalg_ext
// NONE-LABEL: @doubles
// NARROW-LABEL: @sums
// NARROW: scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
func.func private @sums(%n: index) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %e) -> (tensor<32xf32>) {
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%acc : tensor<32xf32>) outs(%acc : tensor<32xf32>) {
    ^bb0(%a: f32, %c: f32):
      %0 = arith.addf %a, %one : f32
      linalg.yield %0 : f32
    } -> tensor<32xf32>
    scf.yield %s : tensor<32xf32>
  }
  return %r : tensor<32xf32>
}

// A test that hands on the tile hands on its vectors, after the numbers.
// CHECK-LABEL: @doubles
// CHECK: %[[I:.*]] = linalg_ext.to_vectors %{{.*}} : tensor<16xf32> -> vector<16xf32>
// CHECK: %[[W:.*]]:2 = scf.while (%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %[[I]]) : (i32, vector<16xf32>) -> (i32, vector<16xf32>) {
// CHECK: scf.condition(%{{.*}}) %[[P]], %[[Q]] : i32, vector<16xf32>
// CHECK: ^{{.*}}(%[[M:.*]]: i32, %[[V:.*]]: vector<16xf32>):
// CHECK: linalg_ext.from_vectors %[[V]] : vector<16xf32> -> tensor<16xf32>
// CHECK: %[[N:.*]] = linalg_ext.to_vectors
// CHECK: scf.yield %{{.*}}, %[[N]] : i32, vector<16xf32>
// CHECK: linalg_ext.from_vectors %[[W]]#1
// LOOPS-LABEL: @doubles
// LOOPS: scf.while {{.*}} : (i32, vector<16xf32>) -> (i32, vector<16xf32>)
// LOOPS-NOT: vector.load
// LOOPS: arith.addf %[[X:.*]], %[[X]] : vector<16xf32>
// LOOPS: scf.yield
// LOOPS: vector.store
func.func @doubles(%o: memref<*xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %start = arith.constant dense<1.0> : tensor<16xf32>
  %r:2 = scf.while (%t = %start, %k = %c0) : (tensor<16xf32>, i32) -> (tensor<16xf32>, i32) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %t, %k : tensor<16xf32>, i32
  } do {
  ^bb0(%t: tensor<16xf32>, %k: i32):
    %e = tensor.empty() : tensor<16xf32>
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%t : tensor<16xf32>) outs(%e : tensor<16xf32>) {
    ^bb0(%a: f32, %c: f32):
      %0 = arith.addf %a, %a : f32
      linalg.yield %0 : f32
    } -> tensor<16xf32>
    %next = arith.addi %k, %c1 : i32
    scf.yield %s, %next : tensor<16xf32>, i32
  }
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [16], strides: [1] : memref<*xf32> to memref<16xf32, strided<[1]>>
  bufferization.materialize_in_destination %r#0 in writable %ro : (tensor<16xf32>, memref<16xf32, strided<[1]>>) -> ()
  return
}

// Two tiles, of which the generic makes the second one first.
// CHECK-LABEL: @two
// CHECK: scf.for {{.*}} iter_args(%[[A:[^ ]*]] = %{{.*}}, %[[B:[^ ]*]] = %{{[^ ]*}}) -> (vector<16xf32>, vector<16xi32>) {
// CHECK: %[[G:.*]]:2 = linalg.generic
// CHECK: %[[X:.*]] = linalg_ext.to_vectors %[[G]]#1 : tensor<16xf32>
// CHECK: %[[Y:.*]] = linalg_ext.to_vectors %[[G]]#0 : tensor<16xi32>
// CHECK: scf.yield %[[X]], %[[Y]]
// LOOPS-LABEL: @two
// LOOPS: scf.for {{.*}} iter_args(%[[A:[^ ]*]] = %{{.*}}, %[[B:[^ ]*]] = %{{[^ ]*}}) -> (vector<16xf32>, vector<16xi32>) {
// LOOPS-DAG: %[[C:.*]] = arith.addi %[[B]], %[[B]]
// LOOPS-DAG: %[[D:.*]] = arith.addf %[[A]], %[[A]]
// LOOPS: scf.yield %[[D]], %[[C]]
func.func private @two(%n: index, %x: tensor<16xf32>, %y: tensor<16xi32>) -> (tensor<16xf32>, tensor<16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x, %w = %y) -> (tensor<16xf32>, tensor<16xi32>) {
    %s:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%v, %w : tensor<16xf32>, tensor<16xi32>) outs(%w, %v : tensor<16xi32>, tensor<16xf32>) {
    ^bb0(%a: f32, %b: i32, %c: i32, %d: f32):
      %0 = arith.addi %b, %b : i32
      %1 = arith.addf %a, %a : f32
      linalg.yield %0, %1 : i32, f32
    } -> (tensor<16xi32>, tensor<16xf32>)
    scf.yield %s#1, %s#0 : tensor<16xf32>, tensor<16xi32>
  }
  return %r#0, %r#1 : tensor<16xf32>, tensor<16xi32>
}

// Too long for the registers.
// CHECK-LABEL: @long
// CHECK-NOT: linalg_ext
// CHECK: scf.for {{.*}} -> (tensor<1024xf32>)
func.func private @long(%n: index, %x: tensor<1024xf32>) -> tensor<1024xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<1024xf32>) {
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%acc : tensor<1024xf32>) outs(%acc : tensor<1024xf32>) {
    ^bb0(%a: f32, %c: f32):
      %0 = arith.addf %a, %a : f32
      linalg.yield %0 : f32
    } -> tensor<1024xf32>
    scf.yield %s : tensor<1024xf32>
  }
  return %r : tensor<1024xf32>
}

// Elements move from one index to another.
// CHECK-LABEL: @reversed
// CHECK-NOT: linalg_ext
// CHECK: scf.for {{.*}} -> (tensor<32xf32>)
func.func private @reversed(%n: index, %x: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<32xf32>) {
    %e = tensor.empty() : tensor<32xf32>
    %s = linalg.generic {indexing_maps = [#rev, #id], iterator_types = ["parallel"]} ins(%acc : tensor<32xf32>) outs(%e : tensor<32xf32>) {
    ^bb0(%a: f32, %c: f32):
      linalg.yield %a : f32
    } -> tensor<32xf32>
    scf.yield %s : tensor<32xf32>
  }
  return %r : tensor<32xf32>
}

// Something else reads the tile.
// CHECK-LABEL: @read_twice
// CHECK-NOT: linalg_ext
// CHECK: scf.for {{.*}} -> (tensor<16xf32>)
func.func private @read_twice(%n: index, %x: tensor<16xf32>, %o: memref<16xf32>) -> tensor<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<16xf32>) {
    bufferization.materialize_in_destination %acc in writable %o : (tensor<16xf32>, memref<16xf32>) -> ()
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%acc : tensor<16xf32>) outs(%acc : tensor<16xf32>) {
    ^bb0(%a: f32, %c: f32):
      %0 = arith.addf %a, %a : f32
      linalg.yield %0 : f32
    } -> tensor<16xf32>
    scf.yield %s : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}

// Vectors of one element, which no pass makes, go through memory.
// LOOPS-LABEL: @one_lane
// LOOPS: memref.alloca
// LOOPS: arith.addf %{{.*}} : f32
// LOOPS: vector.load %{{.*}} : memref<1xf32>, vector<1xf32>
func.func @one_lane(%v: vector<1xf32>) -> vector<1xf32> {
  %t = linalg_ext.from_vectors %v : vector<1xf32> -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%t : tensor<1xf32>) outs(%t : tensor<1xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<1xf32>
  %r = linalg_ext.to_vectors %s : tensor<1xf32> -> vector<1xf32>
  return %r : vector<1xf32>
}

// A generic that moves elements runs in memory, whatever its readers take.
// LOOPS-LABEL: @moved
// LOOPS: memref.alloca
// LOOPS-COUNT-2: vector.store %{{.*}} : memref<32xf32>, vector<16xf32>
// LOOPS: scf.for
// LOOPS: memref.store
// LOOPS-COUNT-2: vector.load %{{.*}} : memref<32xf32>, vector<16xf32>
func.func @moved(%v: vector<16xf32>, %w: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %t = linalg_ext.from_vectors %v, %w : vector<16xf32>, vector<16xf32> -> tensor<32xf32>
  %e = tensor.empty() : tensor<32xf32>
  %s = linalg.generic {indexing_maps = [#rev, #id], iterator_types = ["parallel"]} ins(%t : tensor<32xf32>) outs(%e : tensor<32xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<32xf32>
  %r:2 = linalg_ext.to_vectors %s : tensor<32xf32> -> vector<16xf32>, vector<16xf32>
  return %r#0, %r#1 : vector<16xf32>, vector<16xf32>
}
