// RUN: tilewright-opt %s --linalg-narrow-results | filecheck %s

#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// The sum is of wide elements, the elements are kept narrow.
// CHECK-LABEL: @weights
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK: %[[P:.*]] = math.exp
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]]
// CHECK-NEXT: %[[N:.*]] = arith.truncf %[[P]] : f32 to bf16
// CHECK-NEXT: linalg.yield %[[N]], %[[S]]
// CHECK-NEXT: -> (tensor<8x64xbf16>, tensor<8xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @weights(%x: tensor<8x64xf32>, %z: tensor<8xf32>) -> (tensor<8x64xbf16>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8x64xf32>
  %p, %r = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf32>) outs(%e, %z : tensor<8x64xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = math.exp %a : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<8x64xf32>, tensor<8xf32>)
  %n = tensor.empty() : tensor<8x64xbf16>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x64xf32>) outs(%n : tensor<8x64xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x64xbf16>
  return %q, %r : tensor<8x64xbf16>, tensor<8xf32>
}

// Somebody else reads the wide elements.
// CHECK-LABEL: @both
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @both(%x: tensor<8x64xf32>) -> (tensor<8x64xbf16>, tensor<8x64xf32>) {
  %e = tensor.empty() : tensor<8x64xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x64xf32>
  %n = tensor.empty() : tensor<8x64xbf16>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x64xf32>) outs(%n : tensor<8x64xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x64xbf16>
  return %q, %p : tensor<8x64xbf16>, tensor<8x64xf32>
}

// A sum is narrow only when it is finished.
// CHECK-LABEL: @sums
// CHECK: arith.addf
// CHECK-NEXT: linalg.yield
// CHECK: arith.truncf
func.func @sums(%x: tensor<8x64xf32>, %z: tensor<8xf32>) -> tensor<8xbf16> {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %c: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %n = tensor.empty() : tensor<8xbf16>
  %q = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%r : tensor<8xf32>) outs(%n : tensor<8xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8xbf16>
  return %q : tensor<8xbf16>
}
