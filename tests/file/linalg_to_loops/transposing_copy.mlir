// RUN: tilewright-opt %s --linalg-to-loops="vector-bits=256" | filecheck %s

// Where there are eight columns, the last block ends where they do, and nothing is masked; fewer are masked.
// CHECK-LABEL: @part_of_the_columns
// CHECK: %[[ROOM:.*]] = arith.cmpi sge, %[[BOUND:.*]], %{{.*}} : index
// CHECK: scf.if %[[ROOM]] {
// CHECK-NEXT: scf.for %[[COLUMN:.*]] = %{{.*}} to %[[BOUND]] step %c8
// CHECK: arith.minsi %[[COLUMN]], %{{.*}} : index
// CHECK-NOT: masked
// CHECK-COUNT-8: vector.load
// CHECK-NOT: masked
// CHECK-COUNT-8: vector.store
// CHECK-NOT: masked
// CHECK: } else {
// CHECK-COUNT-8: vector.maskedload
// CHECK-COUNT-8: vector.maskedstore
func.func @part_of_the_columns(%x: memref<*xf32>, %o: memref<*xf32>, %n: index) attributes {tilewright.noalias} {
  %zero = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : index
  %low = arith.minsi %n, %c16 : index
  %size = arith.maxsi %low, %c0 : index
  %xv = memref.reinterpret_cast %x to offset: [0], sizes: [32, 16], strides: [1, 96] : memref<*xf32> to memref<32x16xf32, strided<[1, 96]>>
  %ov = memref.reinterpret_cast %o to offset: [0], sizes: [32, 16], strides: [14, 1] : memref<*xf32> to memref<32x16xf32, strided<[14, 1]>>
  %a = memref.alloc() : memref<32x16xf32>
  %is_part = arith.cmpi slt, %size, %c16 : index
  scf.if %is_part {
    linalg.fill ins(%zero : f32) outs(%a : memref<32x16xf32>)
  }
  %xs = memref.subview %xv[0, 0] [32, %size] [1, 1] : memref<32x16xf32, strided<[1, 96]>> to memref<32x?xf32, strided<[1, 96]>>
  %as = memref.subview %a[0, 0] [32, %size] [1, 1] : memref<32x16xf32> to memref<32x?xf32, strided<[16, 1]>>
  memref.copy %xs, %as : memref<32x?xf32, strided<[1, 96]>> to memref<32x?xf32, strided<[16, 1]>>
  %t = bufferization.to_tensor %a restrict writable : memref<32x16xf32> to tensor<32x16xf32>
  %os = memref.subview %ov[0, 0] [32, %size] [1, 1] : memref<32x16xf32, strided<[14, 1]>> to memref<32x?xf32, strided<[14, 1]>>
  %ts = tensor.extract_slice %t[0, 0] [32, %size] [1, 1] : tensor<32x16xf32> to tensor<32x?xf32>
  bufferization.materialize_in_destination %ts in writable %os : (tensor<32x?xf32>, memref<32x?xf32, strided<[14, 1]>>) -> ()
  return
}

// Blocks that end by themselves are whole without a condition.
// CHECK-LABEL: @whole
// CHECK-NOT: scf.if
// CHECK-NOT: masked
// CHECK-COUNT-8: vector.store
// CHECK-NOT: masked
// CHECK: return
func.func @whole(%x: memref<*xf32>, %o: memref<*xf32>) attributes {tilewright.noalias} {
  %xv = memref.reinterpret_cast %x to offset: [0], sizes: [32, 16], strides: [1, 96] : memref<*xf32> to memref<32x16xf32, strided<[1, 96]>>
  %ov = memref.reinterpret_cast %o to offset: [0], sizes: [32, 16], strides: [16, 1] : memref<*xf32> to memref<32x16xf32, strided<[16, 1]>>
  %a = memref.alloc() : memref<32x16xf32>
  memref.copy %xv, %a : memref<32x16xf32, strided<[1, 96]>> to memref<32x16xf32>
  %t = bufferization.to_tensor %a restrict writable : memref<32x16xf32> to tensor<32x16xf32>
  bufferization.materialize_in_destination %t in writable %ov : (tensor<32x16xf32>, memref<32x16xf32, strided<[16, 1]>>) -> ()
  return
}
