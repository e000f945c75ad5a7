// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-fuse-matmul-stores | filecheck %s
// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-fuse-matmul-stores --remarks 2>&1 | filecheck %s --check-prefix=NOTE
// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-fuse-matmul-stores | tilewright-opt - --mlir-print-op-generic | tilewright-opt - | filecheck %s
// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-fuse-matmul-stores --linalg-pack-operands --linalg-to-loops | filecheck %s --check-prefix=LOOPS

// The address is computed before the branch; what the micro-kernel did not store is stored after it.
// CHECK-LABEL: @stored
// CHECK: %[[ALL:.*]] = memref.reinterpret_cast %arg2 to offset: [0], sizes: [64, 64], strides: [%[[S:[a-z0-9]+]], 1]
// CHECK: %[[V:.*]] = memref.subview %[[ALL]][0, 0] [%[[M:[a-z0-9]+]], 64]
// CHECK: %[[ROWS:.*]] = arith.cmpi sge, %[[S]], %c64
// CHECK: %[[SIZE:.*]] = arith.cmpi sge, %[[M]], %c64
// CHECK: %[[WHOLE:.*]] = arith.andi %[[ROWS]], %[[SIZE]] : i1
// CHECK: %[[C:.*]]:2 = scf.if %{{.*}} -> (tensor<64x64xf32>, i1) {
// CHECK-NEXT: %[[D:.*]]:2 = linalg_ext.view_matmul ins({{.*}}) outs({{.*}}) into(%[[V]] : memref<?x64xf32, strided<[?, 1]>>) if %[[WHOLE]] {{.*}} -> tensor<64x64xf32>, i1
// CHECK-NEXT: scf.yield %[[D]]#0, %[[D]]#1 : tensor<64x64xf32>, i1
// CHECK: else
// CHECK: scf.yield %{{.*}}, %false : tensor<64x64xf32>, i1
// CHECK: scf.if %[[C]]#1 {
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[CUT:.*]] = tensor.extract_slice %[[C]]#0
// CHECK-NEXT: bufferization.materialize_in_destination %[[CUT]]
// LOOPS-LABEL: @stored
// LOOPS: %[[PANELS:.*]] = func.call @tw_mk_reserve_f32_f32_16(
// LOOPS: arith.cmpi ne, %[[PANELS]]
// LOOPS: call @tw_mk_f32_f32_1024x16_zero_panels_fills_out(
// LOOPS: call @tw_mk_f32_f32_1024x1024(
func.func @stored(%p: memref<*xf32>, %q: memref<*xf32>, %r: memref<*xf32>, %adjoin: i1, %k: index, %m: index, %s: index) attributes {tilewright.noalias} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = memref.reinterpret_cast %p to offset: [0], sizes: [64, %k], strides: [%k, 1] : memref<*xf32> to memref<64x?xf32, strided<[?, 1]>>
  %b = memref.reinterpret_cast %q to offset: [0], sizes: [%k, 64], strides: [64, 1] : memref<*xf32> to memref<?x64xf32, strided<[64, 1]>>
  %c = scf.if %adjoin -> (tensor<64x64xf32>) {
    %d = linalg_ext.view_matmul ins(%a, %b : memref<64x?xf32, strided<[?, 1]>>, memref<?x64xf32, strided<[64, 1]>>) outs(%z : tensor<64x64xf32>) {microkernel.matmul = {accumulator = "f32", columns = 1024 : i64, element = "f32", rows = 1024 : i64}} -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } else {
    scf.yield %z : tensor<64x64xf32>
  }
  %v = memref.reinterpret_cast %r to offset: [0], sizes: [64, 64], strides: [%s, 1] : memref<*xf32> to memref<64x64xf32, strided<[?, 1]>>
  %view = memref.subview %v[0, 0] [%m, 64] [1, 1] : memref<64x64xf32, strided<[?, 1]>> to memref<?x64xf32, strided<[?, 1]>>
  %cut = tensor.extract_slice %c[0, 0] [%m, 64] [1, 1] : tensor<64x64xf32> to tensor<?x64xf32>
  bufferization.materialize_in_destination %cut in writable %view : (tensor<?x64xf32>, memref<?x64xf32, strided<[?, 1]>>) -> ()
  return
}

// Not where something is written before the store, as it may be read by the matmul.
// NOTE: 'linalg_ext.view_matmul': its result is copied to where it is stored: something happens before it is stored
// CHECK-LABEL: @written_between
// CHECK-NOT: into(
// CHECK: return
func.func @written_between(%p: memref<*xf32>, %q: memref<*xf32>, %r: memref<*xf32>, %adjoin: i1, %k: index) attributes {tilewright.noalias} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = memref.reinterpret_cast %p to offset: [0], sizes: [64, %k], strides: [%k, 1] : memref<*xf32> to memref<64x?xf32, strided<[?, 1]>>
  %b = memref.reinterpret_cast %q to offset: [0], sizes: [%k, 64], strides: [64, 1] : memref<*xf32> to memref<?x64xf32, strided<[64, 1]>>
  %v = memref.reinterpret_cast %r to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<*xf32> to memref<64x64xf32, strided<[64, 1]>>
  %c = scf.if %adjoin -> (tensor<64x64xf32>) {
    %d = linalg_ext.view_matmul ins(%a, %b : memref<64x?xf32, strided<[?, 1]>>, memref<?x64xf32, strided<[64, 1]>>) outs(%z : tensor<64x64xf32>) {microkernel.matmul = {accumulator = "f32", columns = 1024 : i64, element = "f32", rows = 1024 : i64}} -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } else {
    scf.yield %z : tensor<64x64xf32>
  }
  memref.store %zero, %v[%c0, %c0] : memref<64x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %c in writable %v : (tensor<64x64xf32>, memref<64x64xf32, strided<[64, 1]>>) -> ()
  return
}

// Not over an operand: arguments that are not known to be apart.
// CHECK-LABEL: @may_overlap
// CHECK-NOT: into(
// CHECK: return
func.func @may_overlap(%p: memref<*xf32>, %q: memref<*xf32>, %r: memref<*xf32>, %adjoin: i1, %k: index) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = memref.reinterpret_cast %p to offset: [0], sizes: [64, %k], strides: [%k, 1] : memref<*xf32> to memref<64x?xf32, strided<[?, 1]>>
  %b = memref.reinterpret_cast %q to offset: [0], sizes: [%k, 64], strides: [64, 1] : memref<*xf32> to memref<?x64xf32, strided<[64, 1]>>
  %v = memref.reinterpret_cast %r to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<*xf32> to memref<64x64xf32, strided<[64, 1]>>
  %c = scf.if %adjoin -> (tensor<64x64xf32>) {
    %d = linalg_ext.view_matmul ins(%a, %b : memref<64x?xf32, strided<[?, 1]>>, memref<?x64xf32, strided<[64, 1]>>) outs(%z : tensor<64x64xf32>) {microkernel.matmul = {accumulator = "f32", columns = 1024 : i64, element = "f32", rows = 1024 : i64}} -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } else {
    scf.yield %z : tensor<64x64xf32>
  }
  bufferization.materialize_in_destination %c in writable %v : (tensor<64x64xf32>, memref<64x64xf32, strided<[64, 1]>>) -> ()
  return
}
