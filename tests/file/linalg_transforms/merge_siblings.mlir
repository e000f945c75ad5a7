// RUN: tilewright-opt %s --linalg-merge-siblings | filecheck %s

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// What both compute is computed once; the first result is stored, though it is read by the second, too.
// CHECK-LABEL: @chain
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<64xf32>, tensor<64xf32>)
// CHECK: %[[Q:.*]] = arith.divf
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[Q]]
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[S]], %[[Q]]
// CHECK-NEXT: linalg.yield %[[S]], %[[P]]
// CHECK-NOT: linalg.generic
// CHECK: bufferization.materialize_in_destination %[[R]]#0
// CHECK: return %[[R]]#1
func.func @chain(%x: tensor<64xf32>, %y: tensor<64xf32>, %out: memref<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.divf %a, %b : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %s in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  %p = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%s, %x, %y : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) outs(%s : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %0 = arith.divf %b, %c : f32
    %1 = arith.mulf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %p : tensor<64xf32>
}

// A result that only the second reads is no result of both.
// CHECK-LABEL: @inner
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: -> tensor<64xf32>
// CHECK: return
func.func @inner(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%s, %x : tensor<64xf32>, tensor<64xf32>) outs(%s : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %p : tensor<64xf32>
}

// Nothing is shared.
// CHECK-LABEL: @strangers
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @strangers(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %s, %p : tensor<64xf32>, tensor<64xf32>
}

// The second reads other elements of the first's result than its own, or elements that are not known at the first, of
// which something in between reads the result.
// CHECK-LABEL: @elsewhere
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @elsewhere(%x: tensor<8x8xf32>, %m: memref<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %s = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#id2, #turned, #id2], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x8xf32>
  bufferization.materialize_in_destination %p in writable %m : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  %y = bufferization.to_tensor %m restrict : memref<8x8xf32> to tensor<8x8xf32>
  %q = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x8xf32>
  return %s, %p, %q : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// A gather does not pass a store.
// CHECK-LABEL: @gathers
// CHECK: linalg.generic
// CHECK: bufferization.materialize_in_destination
// CHECK: linalg.generic
func.func @gathers(%i: tensor<64xindex>, %m: memref<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%i : tensor<64xindex>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: index, %b: f32):
    %0 = memref.load %m[%a] : memref<64xf32>
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %s in writable %m : (tensor<64xf32>, memref<64xf32>) -> ()
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%i : tensor<64xindex>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: index, %b: f32):
    %0 = memref.load %m[%a] : memref<64xf32>
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %p : tensor<64xf32>
}

// Scalar arithmetic moves along, up to the first.
// CHECK-LABEL: @scalars
// CHECK: %[[T:.*]] = math.exp2
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @scalars(%x: tensor<64xf32>, %y: tensor<64xf32>, %rate: f32) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %q = arith.mulf %rate, %rate : f32
  %t = math.exp2 %q : f32
  %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %t : f32
    %1 = arith.subf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %s, %p : tensor<64xf32>, tensor<64xf32>
}

// A division that may trap does not move.
// CHECK-LABEL: @traps
// CHECK: linalg.generic
// CHECK: arith.divsi
// CHECK: linalg.generic
func.func @traps(%x: tensor<64xf32>, %y: tensor<64xf32>, %n: i32, %out: memref<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %s in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  %q = arith.divsi %n, %n : i32
  %t = arith.sitofp %q : i32 to f32
  %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %t : f32
    %1 = arith.subf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %p : tensor<64xf32>
}

// The second's load passes a store to other memory.
// CHECK-LABEL: @loads
// CHECK-COUNT-3: memref.copy
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK: bufferization.materialize_in_destination %[[R]]#0
// CHECK: bufferization.materialize_in_destination %[[R]]#1
// CHECK-NOT: linalg.generic
func.func @loads(%g: memref<*xf32>, %m: memref<*xf32>, %p: memref<*xf32>, %at: index, %t: f32) attributes {tilewright.noalias} {
  %e = tensor.empty() : tensor<64xf32>
  %gv = memref.reinterpret_cast %g to offset: [%at], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %mv = memref.reinterpret_cast %m to offset: [%at], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %gt_buf = memref.alloc() : memref<64xf32>
  memref.copy %gv, %gt_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %gt = bufferization.to_tensor %gt_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %mt_buf = memref.alloc() : memref<64xf32>
  memref.copy %mv, %mt_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %mt = bufferization.to_tensor %mt_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%gt, %mt : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %s in writable %mv : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  %pv = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %pt_buf = memref.alloc() : memref<64xf32>
  memref.copy %pv, %pt_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %pt = bufferization.to_tensor %pt_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%pt, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %t : f32
    %1 = arith.subf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %r in writable %pv : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// Not where both may be the same.
// CHECK-LABEL: @contested_loads
// CHECK: linalg.generic
// CHECK: bufferization.materialize_in_destination
// CHECK: memref.copy
// CHECK: linalg.generic
func.func @contested_loads(%g: memref<*xf32>, %m: memref<*xf32>, %p: memref<*xf32>, %at: index, %t: f32) {
  %e = tensor.empty() : tensor<64xf32>
  %gv = memref.reinterpret_cast %g to offset: [%at], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %mv = memref.reinterpret_cast %m to offset: [%at], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %gt_buf = memref.alloc() : memref<64xf32>
  memref.copy %gv, %gt_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %gt = bufferization.to_tensor %gt_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %mt_buf = memref.alloc() : memref<64xf32>
  memref.copy %mv, %mt_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %mt = bufferization.to_tensor %mt_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%gt, %mt : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %s in writable %mv : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  %pv = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %pt_buf = memref.alloc() : memref<64xf32>
  memref.copy %pv, %pt_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %pt = bufferization.to_tensor %pt_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%pt, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %t : f32
    %1 = arith.subf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %r in writable %pv : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// Nor a store to what it reads.
// CHECK-LABEL: @stored_and_loaded
// CHECK: linalg.generic
// CHECK: bufferization.materialize_in_destination
// CHECK: memref.copy
// CHECK: linalg.generic
func.func @stored_and_loaded(%g: memref<*xf32>, %m: memref<*xf32>, %at: index, %t: f32) attributes {tilewright.noalias} {
  %e = tensor.empty() : tensor<64xf32>
  %gv = memref.reinterpret_cast %g to offset: [%at], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %mv = memref.reinterpret_cast %m to offset: [%at], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %gt_buf = memref.alloc() : memref<64xf32>
  memref.copy %gv, %gt_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %gt = bufferization.to_tensor %gt_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %mt_buf = memref.alloc() : memref<64xf32>
  memref.copy %mv, %mt_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %mt = bufferization.to_tensor %mt_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%gt, %mt : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %s in writable %mv : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  %again_buf = memref.alloc() : memref<64xf32>
  memref.copy %mv, %again_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %again = bufferization.to_tensor %again_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%again, %gt : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %t : f32
    %1 = arith.subf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %r in writable %mv : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// The first moves down to the second, whose load stands in between.
// CHECK-LABEL: @down
// CHECK-COUNT-3: memref.copy
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: bufferization.materialize_in_destination %[[R]]#1
// CHECK: bufferization.materialize_in_destination %[[R]]#0
func.func @down(%g: memref<*xf32>, %m: memref<*xf32>, %p: memref<*xf32>, %at: index, %t: f32) {
  %e = tensor.empty() : tensor<64xf32>
  %gv = memref.reinterpret_cast %g to offset: [%at], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %mv = memref.reinterpret_cast %m to offset: [%at], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %pv = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
  %gt_buf = memref.alloc() : memref<64xf32>
  memref.copy %gv, %gt_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %gt = bufferization.to_tensor %gt_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %mt_buf = memref.alloc() : memref<64xf32>
  memref.copy %mv, %mt_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %mt = bufferization.to_tensor %mt_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%gt, %mt : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %pt_buf = memref.alloc() : memref<64xf32>
  memref.copy %pv, %pt_buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
  %pt = bufferization.to_tensor %pt_buf restrict writable : memref<64xf32> to tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%pt, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %t : f32
    %1 = arith.subf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %r in writable %pv : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  bufferization.materialize_in_destination %s in writable %mv : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// Any iteration of the second may read what any other of the first makes.
// CHECK-LABEL: @gathered
// CHECK: %[[FIRST:.*]] = linalg.generic
// CHECK: linalg.generic
// CHECK: tensor.extract %[[FIRST]]
func.func @gathered(%x: tensor<64xf32>, %places: tensor<64xindex>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%places : tensor<64xindex>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: index, %b: f32):
    %0 = tensor.extract %x[%a] : tensor<64xf32>
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%places : tensor<64xindex>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: index, %b: f32):
    %0 = tensor.extract %s[%a] : tensor<64xf32>
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// Loads under a condition are made once, and what joined one loop may join another that it reads, too.
// CHECK-LABEL: @guarded
// CHECK: linalg.generic
// CHECK: scf.if
// CHECK: memref.load
// CHECK-NOT: scf.if
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @guarded(%x: memref<64xf32>, %m: tensor<64xf32>, %w: tensor<64xf32>, %n: index) -> (tensor<64xf32>, tensor<64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %v = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<64xf32>) {
  ^bb0(%c: f32):
    %i = linalg.index 0 : index
    %p = arith.cmpi slt, %i, %n : index
    %l = scf.if %p -> (f32) {
      %k = memref.load %x[%i] : memref<64xf32>
      scf.yield %k : f32
    } else {
      scf.yield %z : f32
    }
    linalg.yield %l : f32
  } -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%m, %w : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %i = linalg.index 0 : index
    %p = arith.cmpi slt, %i, %n : index
    %l = scf.if %p -> (f32) {
      %k = memref.load %x[%i] : memref<64xf32>
      scf.yield %k : f32
    } else {
      scf.yield %z : f32
    }
    %0 = arith.subf %l, %a : f32
    %1 = arith.divf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  %t = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%v, %s, %m : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %t, %s : tensor<64xf32>, tensor<64xf32>
}

// A load of what is written in between is another one.
// CHECK-LABEL: @written_in_between
// CHECK: memref.load
// CHECK: memref.store
// CHECK: memref.load
func.func @written_in_between(%x: memref<64xf32>, %m: tensor<64xf32>, %at: index) -> (tensor<64xf32>, tensor<64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%m : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %c: f32):
    %i = linalg.index 0 : index
    %k = memref.load %x[%i] : memref<64xf32>
    %0 = arith.subf %k, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  memref.store %z, %x[%at] : memref<64xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%m : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %c: f32):
    %i = linalg.index 0 : index
    %k = memref.load %x[%i] : memref<64xf32>
    %0 = arith.mulf %k, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %s, %t : tensor<64xf32>, tensor<64xf32>
}

// Pointers count as addresses, where Triton's arithmetic on them is in loops already.
// CHECK-LABEL: @pointers
// CHECK: linalg.generic
// CHECK: tt.addptr
// CHECK: tt.ptr_to_int
// CHECK-NOT: linalg.generic
func.func @pointers(%p: tensor<64x!tt.ptr<bf16>>, %m: tensor<64xi32>) -> tensor<64xi64> {
  %a = tensor.empty() : tensor<64x!tt.ptr<bf16>>
  %e = tensor.empty() : tensor<64xi64>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%p, %m : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>) outs(%a : tensor<64x!tt.ptr<bf16>>) {
  ^bb0(%x: !tt.ptr<bf16>, %n: i32, %c: !tt.ptr<bf16>):
    %0 = tt.addptr %x, %n : !tt.ptr<bf16>, i32
    linalg.yield %0 : !tt.ptr<bf16>
  } -> tensor<64x!tt.ptr<bf16>>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%q : tensor<64x!tt.ptr<bf16>>) outs(%e : tensor<64xi64>) {
  ^bb0(%x: !tt.ptr<bf16>, %c: i64):
    %0 = tt.ptr_to_int %x : !tt.ptr<bf16> -> i64
    linalg.yield %0 : i64
  } -> tensor<64xi64>
  return %r : tensor<64xi64>
}
