// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-select-microkernels --linalg-pack-operands | filecheck %s
// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-select-microkernels --linalg-pack-operands | tilewright-opt - --mlir-print-op-generic | tilewright-opt - | filecheck %s
// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --linalg-select-microkernels --linalg-pack-operands --linalg-bufferize-function-boundaries --linalg-to-loops | filecheck %s --check-prefix=LOOPS

// What the loop does not change is packed before it.
// CHECK-LABEL: @in_a_loop
// CHECK: %[[B:.*]] = bufferization.to_tensor %{{.*}} to tensor<60x24xf32>
// CHECK: %[[P:.*]] = linalg_ext.pack %[[B]] {microkernel.packing = {accumulator = "f32", columns = 8 : i64, element = "f32", packing = "panels"}} : tensor<60x24xf32> -> tensor<3x64x8xf32>
// CHECK: scf.for
// CHECK: linalg_ext.packed_matmul ins(%{{.*}}, %[[P]] : tensor<32x60xf32>, tensor<3x64x8xf32>) outs(%{{.*}} : tensor<32x24xf32>) {microkernel.matmul = {accumulator = "f32", columns = 1024 : i64, element = "f32", panel_columns = 8 : i64, rows = 1024 : i64}} -> tensor<32x24xf32>
// LOOPS-LABEL: @in_a_loop
// LOOPS: call @tw_mk_panels_f32_f32_8(
// LOOPS: scf.for
// LOOPS-NOT: _panels_f32
// LOOPS: call @tw_mk_f32_f32_1024x8_panels(
// LOOPS: return
func.func @in_a_loop(%p: memref<*xf32>, %q: memref<*xf32>, %r: memref<*xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %vb = memref.reinterpret_cast %q to offset: [0], sizes: [60, 24], strides: [24, 1] : memref<*xf32> to memref<60x24xf32, strided<[24, 1]>>
  %b = bufferization.to_tensor %vb restrict : memref<60x24xf32, strided<[24, 1]>> to tensor<60x24xf32>
  scf.for %i = %c0 to %n step %c1 {
    %va = memref.reinterpret_cast %p to offset: [%i], sizes: [32, 60], strides: [60, 1] : memref<*xf32> to memref<32x60xf32, strided<[60, 1], offset: ?>>
    %vc = memref.reinterpret_cast %r to offset: [%i], sizes: [32, 24], strides: [24, 1] : memref<*xf32> to memref<32x24xf32, strided<[24, 1], offset: ?>>
    %a = bufferization.to_tensor %va restrict : memref<32x60xf32, strided<[60, 1], offset: ?>> to tensor<32x60xf32>
    %c = bufferization.to_tensor %vc restrict : memref<32x24xf32, strided<[24, 1], offset: ?>> to tensor<32x24xf32>
    %d = linalg.matmul ins(%a, %b : tensor<32x60xf32>, tensor<60x24xf32>) outs(%c : tensor<32x24xf32>) -> tensor<32x24xf32>
    bufferization.materialize_in_destination %d in writable %vc : (tensor<32x24xf32>, memref<32x24xf32, strided<[24, 1], offset: ?>>) -> ()
  }
  return
}

// A block of an argument that nothing changes goes into a cache, each matmul's into one of its own: elements that are
// widened, or whose rows adjoin. Those of 32 bits with adjacent columns are read in place.
// CHECK-LABEL: @for_all_programs
// CHECK: linalg_ext.pack %{{.*}} cached(0) {microkernel.packing = {accumulator = "f32", columns = 16 : i64, element = "f16", packing = "cache"}} : tensor<64x32xf16> -> tensor<2x64x16xf32>
// CHECK: linalg_ext.packed_matmul
// CHECK: linalg_ext.pack %{{.*}} cached(1) {microkernel.packing = {{{.*}} element = "f32", packing = "cache"}} : tensor<64x32xf32> -> tensor<2x64x16xf32>
// CHECK: linalg_ext.packed_matmul
// CHECK-NOT: linalg_ext
// CHECK: linalg.matmul
// LOOPS-LABEL: @for_all_programs
// LOOPS: call @tw_mk_cache_f16_f32_16(
// LOOPS: call @tw_mk_cache_f32_f32_16_nt(
// LOOPS: return
func.func @for_all_programs(%p: memref<*xf16>, %q: memref<*xf32>, %r: memref<*xf32>, %o: index) attributes {tilewright.noalias} {
  %va = memref.reinterpret_cast %p to offset: [0], sizes: [32, 64], strides: [64, 1] : memref<*xf16> to memref<32x64xf16, strided<[64, 1]>>
  %vb = memref.reinterpret_cast %p to offset: [%o], sizes: [64, 32], strides: [32, 1] : memref<*xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
  %vx = memref.reinterpret_cast %q to offset: [0], sizes: [32, 64], strides: [64, 1] : memref<*xf32> to memref<32x64xf32, strided<[64, 1]>>
  %vy = memref.reinterpret_cast %q to offset: [%o], sizes: [64, 32], strides: [1, 64] : memref<*xf32> to memref<64x32xf32, strided<[1, 64], offset: ?>>
  %vz = memref.reinterpret_cast %q to offset: [%o], sizes: [64, 32], strides: [32, 1] : memref<*xf32> to memref<64x32xf32, strided<[32, 1], offset: ?>>
  %vc = memref.reinterpret_cast %r to offset: [%o], sizes: [32, 32], strides: [32, 1] : memref<*xf32> to memref<32x32xf32, strided<[32, 1], offset: ?>>
  %a = bufferization.to_tensor %va restrict : memref<32x64xf16, strided<[64, 1]>> to tensor<32x64xf16>
  %b = bufferization.to_tensor %vb restrict : memref<64x32xf16, strided<[32, 1], offset: ?>> to tensor<64x32xf16>
  %x = bufferization.to_tensor %vx restrict : memref<32x64xf32, strided<[64, 1]>> to tensor<32x64xf32>
  %y = bufferization.to_tensor %vy restrict : memref<64x32xf32, strided<[1, 64], offset: ?>> to tensor<64x32xf32>
  %z = bufferization.to_tensor %vz restrict : memref<64x32xf32, strided<[32, 1], offset: ?>> to tensor<64x32xf32>
  %c = bufferization.to_tensor %vc restrict : memref<32x32xf32, strided<[32, 1], offset: ?>> to tensor<32x32xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<32x64xf16>, tensor<64x32xf16>) outs(%c : tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = linalg.matmul ins(%x, %y : tensor<32x64xf32>, tensor<64x32xf32>) outs(%0 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = linalg.matmul ins(%x, %z : tensor<32x64xf32>, tensor<64x32xf32>) outs(%1 : tensor<32x32xf32>) -> tensor<32x32xf32>
  bufferization.materialize_in_destination %2 in writable %vc : (tensor<32x32xf32>, memref<32x32xf32, strided<[32, 1], offset: ?>>) -> ()
  return
}

// All columns of a matrix: the cache may have no room. Without panels the matmul has the loop's micro-kernel.
// CHECK-LABEL: @view
// CHECK: %[[P:.*]]:2 = linalg_ext.pack %{{.*}} cached(0) if %arg3 {microkernel.packing = {accumulator = "f32", columns = 16 : i64, element = "f32", packing = "reserve"}} : memref<?x64xf32, strided<[64, 1]>> -> tensor<4x?x16xf32>, i1
// CHECK: %[[D:.*]]:2 = scf.if %[[P]]#1 -> (tensor<64x64xf32>, i1) {
// CHECK-NEXT: %[[E:.*]]:2 = linalg_ext.view_matmul ins({{.*}}) outs({{.*}}) panels(%[[P]]#0 : tensor<4x?x16xf32>) into(%{{.*}}) if %arg3 {microkernel.matmul = {{{.*}}fills_panels = true, from_zero = true, panel_columns = 16 : i64{{.*}}}} -> tensor<64x64xf32>, i1
// CHECK-NEXT: scf.yield %[[E]]#0, %[[E]]#1
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[F:.*]] = linalg_ext.view_matmul ins({{.*}}) outs({{.*}}) {microkernel.matmul = {accumulator = "f32", columns = 1024 : i64, element = "f32", rows = 1024 : i64}}
// CHECK-NEXT: scf.yield %[[F]], %false
// CHECK: materialize_in_destination %[[D]]#0
// LOOPS-LABEL: @view
// LOOPS: %[[PANELS:.*]] = scf.if %arg3 -> (index) {
// LOOPS: func.call @tw_mk_reserve_f32_f32_16(
// LOOPS: arith.cmpi ne, %[[PANELS]]
// LOOPS: call @tw_mk_f32_f32_1024x16_zero_panels_fills_out(
// LOOPS: call @tw_mk_f32_f32_1024x1024(
func.func @view(%p: memref<*xf32>, %q: memref<*xf32>, %r: memref<*xf32>, %s: i1, %k: index) attributes {tilewright.noalias} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = memref.reinterpret_cast %p to offset: [0], sizes: [64, %k], strides: [%k, 1] : memref<*xf32> to memref<64x?xf32, strided<[?, 1]>>
  %b = memref.reinterpret_cast %q to offset: [0], sizes: [%k, 64], strides: [64, 1] : memref<*xf32> to memref<?x64xf32, strided<[64, 1]>>
  %v = memref.reinterpret_cast %r to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<*xf32> to memref<64x64xf32, strided<[64, 1]>>
  %d, %i = linalg_ext.view_matmul ins(%a, %b : memref<64x?xf32, strided<[?, 1]>>, memref<?x64xf32, strided<[64, 1]>>) outs(%z : tensor<64x64xf32>) shared(%s) into(%v : memref<64x64xf32, strided<[64, 1]>>) if %s {microkernel.matmul = {accumulator = "f32", columns = 1024 : i64, element = "f32", from_zero = true, rows = 1024 : i64}} -> tensor<64x64xf32>, i1
  scf.if %i {
  } else {
    bufferization.materialize_in_destination %d in writable %v : (tensor<64x64xf32>, memref<64x64xf32, strided<[64, 1]>>) -> ()
  }
  return
}

// Left alone: few rows, which read B in place; an argument that is written to; operands that end at the same k, whose
// sums have fewer terms.
// CHECK-LABEL: @few_rows
// CHECK-NOT: linalg_ext.pack
// CHECK: return
func.func @few_rows(%a: tensor<2x64xf16>, %q: memref<*xf16>, %c: tensor<2x32xf32>) -> tensor<2x32xf32> attributes {tilewright.noalias} {
  %vb = memref.reinterpret_cast %q to offset: [0], sizes: [64, 32], strides: [32, 1] : memref<*xf16> to memref<64x32xf16, strided<[32, 1]>>
  %b = bufferization.to_tensor %vb restrict : memref<64x32xf16, strided<[32, 1]>> to tensor<64x32xf16>
  %0 = linalg.matmul ins(%a, %b : tensor<2x64xf16>, tensor<64x32xf16>) outs(%c : tensor<2x32xf32>) -> tensor<2x32xf32>
  return %0 : tensor<2x32xf32>
}
// CHECK-LABEL: @written
// CHECK-NOT: linalg_ext.pack
// CHECK: return
func.func @written(%a: tensor<32x64xf16>, %q: memref<*xf16>, %c: tensor<32x32xf32>, %x: tensor<64x32xf16>) -> tensor<32x32xf32> attributes {tilewright.noalias} {
  %vb = memref.reinterpret_cast %q to offset: [0], sizes: [64, 32], strides: [32, 1] : memref<*xf16> to memref<64x32xf16, strided<[32, 1]>>
  %b = bufferization.to_tensor %vb restrict : memref<64x32xf16, strided<[32, 1]>> to tensor<64x32xf16>
  %0 = linalg.matmul ins(%a, %b : tensor<32x64xf16>, tensor<64x32xf16>) outs(%c : tensor<32x32xf32>) -> tensor<32x32xf32>
  bufferization.materialize_in_destination %x in writable %vb : (tensor<64x32xf16>, memref<64x32xf16, strided<[32, 1]>>) -> ()
  return %0 : tensor<32x32xf32>
}
// CHECK-LABEL: @ends_together
// CHECK-NOT: linalg_ext.pack
// CHECK: return
func.func @ends_together(%p: memref<*xf16>, %k: index, %m: index, %n: index, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %va = memref.reinterpret_cast %p to offset: [0], sizes: [32, %k], strides: [64, 1] : memref<*xf16> to memref<32x?xf16, strided<[64, 1]>>
  %vb = memref.reinterpret_cast %p to offset: [0], sizes: [%k, 32], strides: [32, 1] : memref<*xf16> to memref<?x32xf16, strided<[32, 1]>>
  %ya = bufferization.to_tensor %va restrict : memref<32x?xf16, strided<[64, 1]>> to tensor<32x?xf16>
  %yb = bufferization.to_tensor %vb restrict : memref<?x32xf16, strided<[32, 1]>> to tensor<?x32xf16>
  %a = tensor.pad %ya low[0, 0] high[0, %m] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f16
  } : tensor<32x?xf16> to tensor<32x64xf16>
  %b = tensor.pad %yb low[0, 0] high[%m, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f16
  } : tensor<?x32xf16> to tensor<64x32xf16>
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<32x32xf32>) {
    %0 = linalg.matmul ins(%a, %b : tensor<32x64xf16>, tensor<64x32xf16>) outs(%acc : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %0 : tensor<32x32xf32>
  }
  return %d : tensor<32x32xf32>
}

// Rows that do not adjoin are copied before they are one dimension: the copy is at one address in all programs, so that
// no other program's panels are those of it.
// LOOPS-LABEL: @copied
// LOOPS-NOT: _keep_
// LOOPS: call @tw_mk_panels_f16_f32_16(
// LOOPS: return
func.func @copied(%p: memref<*xf16>, %q: memref<*xf16>, %r: memref<*xf32>, %o: index) attributes {tilewright.noalias} {
  %va = memref.reinterpret_cast %p to offset: [0], sizes: [32, 64], strides: [64, 1] : memref<*xf16> to memref<32x64xf16, strided<[64, 1]>>
  %vb = memref.reinterpret_cast %q to offset: [%o], sizes: [8, 8, 32], strides: [1000, 32, 1] : memref<*xf16> to memref<8x8x32xf16, strided<[1000, 32, 1], offset: ?>>
  %vc = memref.reinterpret_cast %r to offset: [%o], sizes: [32, 32], strides: [32, 1] : memref<*xf32> to memref<32x32xf32, strided<[32, 1], offset: ?>>
  %a = bufferization.to_tensor %va restrict : memref<32x64xf16, strided<[64, 1]>> to tensor<32x64xf16>
  %b = bufferization.to_tensor %vb restrict : memref<8x8x32xf16, strided<[1000, 32, 1], offset: ?>> to tensor<8x8x32xf16>
  %c = bufferization.to_tensor %vc restrict : memref<32x32xf32, strided<[32, 1], offset: ?>> to tensor<32x32xf32>
  %rows = tensor.collapse_shape %b [[0, 1], [2]] : tensor<8x8x32xf16> into tensor<64x32xf16>
  %0 = linalg.matmul ins(%a, %rows : tensor<32x64xf16>, tensor<64x32xf16>) outs(%c : tensor<32x32xf32>) -> tensor<32x32xf32>
  bufferization.materialize_in_destination %0 in writable %vc : (tensor<32x32xf32>, memref<32x32xf32, strided<[32, 1], offset: ?>>) -> ()
  return
}
