// RUN: tilewright-opt %s --linalg-to-loops="vector-bits=512" | filecheck %s

#id = affine_map<(d0) -> (d0)>

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
