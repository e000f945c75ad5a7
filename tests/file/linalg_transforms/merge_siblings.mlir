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

// The second reads other elements of the first's result than its own, or elements that are not known at the first.
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
