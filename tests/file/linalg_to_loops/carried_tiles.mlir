// RUN: tilewright-opt %s --linalg-promote-carried-tiles="vector-bits=512" --linalg-lay-out-carried-tiles --linalg-to-loops="vector-bits=512" | filecheck %s

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// A carried tile has one buffer and is updated in place.
// CHECK-LABEL: @accumulate
// CHECK-COUNT-1: memref.alloca
// CHECK-NOT: memref.alloca
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %{{.*}} step %c1{{.*}} {
// CHECK: %[[A:.*]] = vector.load %[[ACC:.*]][%[[I:.*]]]
// CHECK: arith.addf %[[A]]
// CHECK: vector.store %{{.*}}, %[[ACC]][%[[I]]]
func.func @accumulate(%o: memref<*xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f) -> (tensor<1024xf32>) {
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%acc : tensor<1024xf32>) outs(%acc : tensor<1024xf32>) {
    ^bb0(%a: f32, %c: f32):
      %0 = arith.addf %a, %one : f32
      linalg.yield %0 : f32
    } -> tensor<1024xf32>
    scf.yield %s : tensor<1024xf32>
  }
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [1024], strides: [1] : memref<*xf32> to memref<1024xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<1024xf32>, memref<1024xf32, strided<[1]>>) -> ()
  return
}

// A small one is vectors that the loop carries.
// CHECK-LABEL: @accumulate_few
// CHECK: %[[R:.*]]:4 = scf.for {{.*}} iter_args(%[[A:[^ ]*]] = %{{.*}}, %[[B:[^ ]*]] = %{{.*}}, %[[C:[^ ]*]] = %{{.*}}, %[[D:[^ ]*]] = %{{[^ ]*}})
// CHECK-NOT: vector.load
// CHECK-NOT: vector.store
// CHECK: arith.addf %[[A]]
// CHECK: arith.addf %[[B]]
// CHECK: arith.addf %[[C]]
// CHECK: arith.addf %[[D]]
// CHECK: scf.yield
// CHECK: vector.store %[[R]]#0
// CHECK: vector.store %[[R]]#3
func.func @accumulate_few(%o: memref<*xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f) -> (tensor<64xf32>) {
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%acc : tensor<64xf32>) outs(%acc : tensor<64xf32>) {
    ^bb0(%a: f32, %c: f32):
      %0 = arith.addf %a, %one : f32
      linalg.yield %0 : f32
    } -> tensor<64xf32>
    scf.yield %s : tensor<64xf32>
  }
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  return
}

// A tile to which memory is added that follows its rows is kept by columns: nothing is gathered, and no lanes are summed.
// CHECK-LABEL: @columns
// CHECK-NOT: vector.gather
// CHECK-NOT: vector.reduction
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
// CHECK: scf.for %[[C:.*]] = %c0{{.*}} to %c64
// CHECK: %[[P:.*]] = arith.muli %[[C]], %c8
// CHECK: vector.load %[[B:.*]][%[[P]]] : memref<512xf32>, vector<8xf32>
// CHECK: vector.load %{{.*}} : memref<?xf32>, vector<8xf32>
// CHECK: vector.store %{{.*}}, %[[B]][%[[P]]] : memref<512xf32>, vector<8xf32>
func.func @columns(%x: memref<*xf32>, %o: memref<*xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant dense<0.0> : tensor<8x64xf32>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<8x64xf32>) {
    %offset = arith.muli %i, %c4096 : index
    %tile = memref.reinterpret_cast %x to offset: [%offset], sizes: [8, 64], strides: [1, 64] : memref<*xf32> to memref<8x64xf32, strided<[1, 64], offset: ?>>
    %t = bufferization.to_tensor %tile restrict : memref<8x64xf32, strided<[1, 64], offset: ?>> to tensor<8x64xf32>
    %e = tensor.empty() : tensor<8x64xf32>
    %next = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%acc, %t : tensor<8x64xf32>, tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
    ^bb0(%a: f32, %b: f32, %old: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<8x64xf32>
    scf.yield %next : tensor<8x64xf32>
  }
  %init = tensor.empty() : tensor<8xf32>
  %z = arith.constant 0.0 : f32
  %filled = linalg.fill ins(%z : f32) outs(%init : tensor<8xf32>) -> tensor<8xf32>
  %red = linalg.reduce ins(%sum : tensor<8x64xf32>) outs(%filled : tensor<8xf32>) dimensions = [1]
    (%in: f32, %acc: f32) { %s = arith.addf %in, %acc : f32  linalg.yield %s : f32 }
  %row = memref.reinterpret_cast %o to offset: [0], sizes: [8], strides: [1] : memref<*xf32> to memref<8xf32, strided<[1]>>
  bufferization.materialize_in_destination %red in writable %row : (tensor<8xf32>, memref<8xf32, strided<[1]>>) -> ()
  return
}
