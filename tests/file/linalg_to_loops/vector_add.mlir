// RUN: tilewright-opt %s --forward-loads --linalg-sink-producers --linalg-to-loops="vector-bits=512" | filecheck %s
// RUN: tilewright-opt %s --forward-loads --linalg-sink-producers --linalg-to-loops="vector-bits=128" | filecheck %s --check-prefix=NARROW

// Full vectors up to the mask's bound, then at most one masked vector; nothing is copied.
// CHECK-LABEL: @add
// CHECK-NOT: memref.alloca
// CHECK: %[[N:.*]] = arith.subi
// CHECK: %[[FULL:.*]] = arith.andi %[[N]], %c-8
// CHECK: scf.for %{{.*}} = %c0 to %[[FULL]] step %c8 {
// CHECK: vector.load %{{.*}} : memref<?xf32>, vector<8xf32>
// CHECK: vector.load %{{.*}} : memref<?xf32>, vector<8xf32>
// CHECK: arith.addf %{{.*}} : vector<8xf32>
// CHECK: vector.store %{{.*}} : memref<?xf32>, vector<8xf32>
// CHECK: scf.for %{{.*}} = %[[FULL]] to %[[N]] step %c8 {
// CHECK: %[[M:.*]] = vector.create_mask
// CHECK: vector.maskedload %{{.*}}, %[[M]]
// CHECK: vector.maskedstore %{{.*}}, %[[M]]
// NARROW: vector.load %{{.*}} : memref<?xf32>, vector<4xf32>
#map = affine_map<(d0) -> (d0)>
func.func @add(%x: memref<*xf32>, %y: memref<*xf32>, %o: memref<*xf32>, %n: i32, %gx: i32, %gy: i32, %gz: i32, %px: i32, %py: i32, %pz: i32) attributes {tilewright.noalias} {
  %c1024_i32 = arith.constant 1024 : i32
  %c1024 = arith.constant 1024 : index
  %s = arith.muli %px, %c1024_i32 : i32
  %o0 = arith.index_cast %s : i32 to index
  %rx = memref.reinterpret_cast %x to offset: [%o0], sizes: [1024], strides: [1] : memref<*xf32> to memref<1024xf32, strided<[1], offset: ?>>
  %hi = arith.addi %o0, %c1024 : index
  %ni = arith.index_cast %n : i32 to index
  %m0 = arith.minsi %hi, %ni : index
  %m1 = arith.maxsi %m0, %o0 : index
  %cnt = arith.subi %m1, %o0 : index
  %bx = memref.alloc() : memref<1024xf32>
  %sx = memref.subview %rx[0] [%cnt] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %dx = memref.subview %bx[0] [%cnt] [1] : memref<1024xf32> to memref<?xf32, strided<[1]>>
  memref.copy %sx, %dx : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
  %tx = bufferization.to_tensor %bx restrict writable : memref<1024xf32> to tensor<1024xf32>
  %ry = memref.reinterpret_cast %y to offset: [%o0], sizes: [1024], strides: [1] : memref<*xf32> to memref<1024xf32, strided<[1], offset: ?>>
  %by = memref.alloc() : memref<1024xf32>
  %sy = memref.subview %ry[0] [%cnt] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %dy = memref.subview %by[0] [%cnt] [1] : memref<1024xf32> to memref<?xf32, strided<[1]>>
  memref.copy %sy, %dy : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
  %ty = bufferization.to_tensor %by restrict writable : memref<1024xf32> to tensor<1024xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%tx, %ty : tensor<1024xf32>, tensor<1024xf32>) outs(%tx : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %z = arith.addf %a, %b : f32
    linalg.yield %z : f32
  } -> tensor<1024xf32>
  %ro = memref.reinterpret_cast %o to offset: [%o0], sizes: [1024], strides: [1] : memref<*xf32> to memref<1024xf32, strided<[1], offset: ?>>
  %sl = tensor.extract_slice %r[0] [%cnt] [1] : tensor<1024xf32> to tensor<?xf32>
  %dv = memref.subview %ro[0] [%cnt] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sl in writable %dv : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
  return
}
