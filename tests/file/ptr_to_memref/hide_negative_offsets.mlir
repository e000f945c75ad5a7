// RUN: tilewright-opt %s --hide-negative-offsets --verify-each | filecheck %s

// Only constants below zero are hidden, and only in unranked memory.
// CHECK-LABEL: func.func @views
// CHECK: %[[RANK:.*]] = memref.rank %arg0 : memref<*xf32>
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[RANK]], %c-24 : index
// CHECK-NEXT: memref.reinterpret_cast %arg0 to offset: [%[[AT]]]
// CHECK-NEXT: memref.reinterpret_cast %arg0 to offset: [%c24]
// CHECK-NEXT: memref.reinterpret_cast %arg0 to offset: [%arg2]
// CHECK-NEXT: memref.reinterpret_cast %arg1 to offset: [%c-24]
// CHECK-NEXT: return
#view = strided<[1], offset: ?>
func.func @views(%x: memref<*xf32>, %y: memref<64xf32>, %n: index) -> (memref<4xf32, #view>, memref<4xf32, #view>, memref<4xf32, #view>, memref<4xf32, #view>) {
  %m24 = arith.constant -24 : index
  %c24 = arith.constant 24 : index
  %a = memref.reinterpret_cast %x to offset: [%m24], sizes: [4], strides: [1] : memref<*xf32> to memref<4xf32, #view>
  %b = memref.reinterpret_cast %x to offset: [%c24], sizes: [4], strides: [1] : memref<*xf32> to memref<4xf32, #view>
  %c = memref.reinterpret_cast %x to offset: [%n], sizes: [4], strides: [1] : memref<*xf32> to memref<4xf32, #view>
  %d = memref.reinterpret_cast %y to offset: [%m24], sizes: [4], strides: [1] : memref<64xf32> to memref<4xf32, #view>
  return %a, %b, %c, %d : memref<4xf32, #view>, memref<4xf32, #view>, memref<4xf32, #view>, memref<4xf32, #view>
}
