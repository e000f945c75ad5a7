// RUN: tilewright-opt %s --triton-to-unstructured --unstructured-to-memref --triton-ptr-to-memref --canonicalize | filecheck %s
// RUN: tilewright-opt %s --triton-to-unstructured --unstructured-to-memref --triton-ptr-to-memref --canonicalize | mlir-opt --verify-each

// A masked scalar access is a real branch.
// CHECK-LABEL: func.func @scalar(%arg0: memref<*xf32>, %arg1: i32, %arg2: i1, %arg3: f32) -> f32
// CHECK: %[[R:.*]] = scf.if %arg2 -> (f32) {
// CHECK: %[[I:.*]] = arith.index_cast %arg1 : i32 to index
// CHECK: %[[E:.*]] = memref.reinterpret_cast %arg0 to offset: [%[[I]]], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
// CHECK: %[[V:.*]] = memref.load %[[E]][%c0] : memref<1xf32, strided<[1], offset: ?>>
// CHECK: scf.yield %[[V]] : f32
// CHECK: } else {
// CHECK: scf.yield %arg3 : f32
// CHECK: scf.if %arg2 {
// CHECK: memref.store %[[R]]
func.func @scalar(%x: !tt.ptr<f32>, %i: i32, %m: i1, %other: f32) -> f32 {
  %v = tts.gather %x[%i] mask = %m default = %other : (<f32>, i32) -> f32
  tts.scatter %v into %x[%i] mask = %m : f32 into (<f32>, i32)
  return %v : f32
}

// CHECK-LABEL: func.func @tensors
// CHECK: linalg.generic {{.*}} ins(%arg1, %arg2 : tensor<8xi64>, tensor<8xi1>) outs(%{{.*}} : tensor<8xf16>) {
// CHECK: scf.if %in_{{[0-9]+}} -> (f16) {
// CHECK: arith.index_cast %in : i64 to index
// CHECK: memref.load
// CHECK: } else {
// CHECK: scf.yield %cst : f16
// CHECK: linalg.generic {{.*}} ins(%arg1, %{{.*}}, %arg2 : tensor<8xi64>, tensor<8xf16>, tensor<8xi1>) {
// CHECK: scf.if
// CHECK: memref.store
// CHECK: linalg.yield
func.func @tensors(%x: !tt.ptr<f16>, %i: tensor<8xi64>, %m: tensor<8xi1>) {
  %v = tts.gather %x[%i] mask = %m : (<f16>, tensor<8xi64>) -> tensor<8xf16>
  tts.scatter %v into %x[%i] mask = %m : tensor<8xf16> into (<f16>, tensor<8xi64>)
  return
}

// CHECK-LABEL: func.func @atomics
// CHECK: linalg.generic {{.*}} ins(%arg1, %arg2, %arg3 : tensor<8xi32>, tensor<8xf32>, tensor<8xi1>) {
// CHECK: scf.if %in_{{[0-9]+}} {
// CHECK: memref.atomic_rmw addf %in_{{[0-9]+}}, %{{.*}}[%c0] : (f32, memref<1xf32, strided<[1], offset: ?>>) -> f32
// CHECK: memref.generic_atomic_rmw %{{.*}}[%c0] : memref<1xi32, strided<[1]>> {
// CHECK: ^bb0(%[[NOW:.*]]: i32):
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[NOW]], %arg5 : i32
// CHECK: %[[NEXT:.*]] = arith.select %[[SAME]], %arg6, %[[NOW]] : i32
// CHECK: memref.atomic_yield %[[NEXT]] : i32
func.func @atomics(%x: !tt.ptr<f32>, %i: tensor<8xi32>, %v: tensor<8xf32>, %m: tensor<8xi1>, %y: !tt.ptr<i32>, %c: i32, %n: i32) -> i32 {
  %old = "tts.atomic_rmw"(%x, %i, %v, %m) <{atomic_rmw_op = 5 : i32, sem = 4 : i32, scope = 1 : i32}> : (!tt.ptr<f32>, tensor<8xi32>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  %zero = arith.constant 0 : i32
  %was = "tts.atomic_cas"(%y, %zero, %c, %n) <{sem = 4 : i32, scope = 1 : i32}> : (!tt.ptr<i32>, i32, i32, i32) -> i32
  return %was : i32
}
