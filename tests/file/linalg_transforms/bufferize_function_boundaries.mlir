// RUN: tilewright-opt %s --linalg-bufferize-function-boundaries | filecheck %s

// CHECK-LABEL: func.func @k
// CHECK:       %[[IN:.*]] = memref.alloc() : memref<4xf32>
// CHECK:       bufferization.materialize_in_destination %{{.*}} in writable %[[IN]]
// CHECK:       %[[OUT:.*]] = memref.alloc() : memref<4xf32>
// CHECK:       %[[N:.*]] = {{(func\.)?}}call @f(%[[IN]], %[[OUT]]) : (memref<4xf32>, memref<4xf32>) -> i32
// CHECK:       bufferization.to_tensor %[[OUT]] restrict writable
// CHECK-LABEL: func.func private @f(%arg0: memref<4xf32>, %arg1: memref<4xf32>) -> i32
// CHECK:       %[[X:.*]] = bufferization.to_tensor %arg0 restrict writable
// CHECK:       bufferization.materialize_in_destination %[[X]] in writable %arg1
// CHECK-NEXT:  return %{{.*}} : i32
func.func @k(%m: memref<4xf32>, %o: memref<4xf32>) -> i32 {
  %x = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %y, %n = func.call @f(%x) : (tensor<4xf32>) -> (tensor<4xf32>, i32)
  bufferization.materialize_in_destination %y in writable %o : (tensor<4xf32>, memref<4xf32>) -> ()
  return %n : i32
}
func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, i32) {
  %c = arith.constant 1 : i32
  return %x, %c : tensor<4xf32>, i32
}
