// RUN: tilewright-opt %s --linalg-if-conversion | filecheck %s

#map = affine_map<(d0) -> (d0)>

// Both branches make the tile: Welford's first step and the others.
// CHECK-LABEL: @both_make
// CHECK-NOT: scf.if
// CHECK: %[[NEXT:.*]] = linalg.generic
// CHECK: arith.addf
// CHECK: %[[W:.*]] = linalg.generic
// CHECK-SAME: ins(%{{.*}}, %[[NEXT]] : tensor<64xf32>, tensor<64xf32>)
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: %[[N:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: return %[[W]], %[[N]]
func.func @both_make(%first: i1, %count: tensor<64xf32>, %one: f32, %a: i32, %b: i32) -> (tensor<64xf32>, i32) {
  %e = tensor.empty() : tensor<64xf32>
  %ones = linalg.fill ins(%one : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %w, %n = scf.if %first -> (tensor<64xf32>, i32) {
    scf.yield %ones, %a : tensor<64xf32>, i32
  } else {
    %next = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%count : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %sum = arith.addf %in, %one : f32
      linalg.yield %sum : f32
    } -> tensor<64xf32>
    scf.yield %next, %b : tensor<64xf32>, i32
  }
  return %w, %n : tensor<64xf32>, i32
}

// A tile that a branch hands on as it is costs nothing there.
// CHECK-LABEL: @hands_on
// CHECK: scf.if
func.func @hands_on(%c: i1, %x: tensor<64xf32>, %one: f32) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %w = scf.if %c -> (tensor<64xf32>) {
    %next = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %sum = arith.addf %in, %one : f32
      linalg.yield %sum : f32
    } -> tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  return %w : tensor<64xf32>
}

// Functions of mathematics are dear, divisors may be zero, loads may be out of bounds.
// CHECK-LABEL: @not_speculated
// CHECK: scf.if
// CHECK: math.exp
// CHECK: scf.if
// CHECK: arith.divsi
// CHECK: scf.if
// CHECK: memref.load
func.func @not_speculated(%c: i1, %x: tensor<64xf32>, %n: tensor<64xi32>, %d: i32, %zero: f32, %none: i32, %p: memref<64xf32>, %i: index) -> (tensor<64xf32>, tensor<64xi32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %u = scf.if %c -> (tensor<64xf32>) {
    %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %exp = math.exp %in : f32
      linalg.yield %exp : f32
    } -> tensor<64xf32>
    scf.yield %y : tensor<64xf32>
  } else {
    scf.yield %zeros : tensor<64xf32>
  }
  %f = tensor.empty() : tensor<64xi32>
  %nones = linalg.fill ins(%none : i32) outs(%f : tensor<64xi32>) -> tensor<64xi32>
  %v = scf.if %c -> (tensor<64xi32>) {
    %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%n : tensor<64xi32>) outs(%f : tensor<64xi32>) {
    ^bb0(%in: i32, %out: i32):
      %q = arith.divsi %in, %d : i32
      linalg.yield %q : i32
    } -> tensor<64xi32>
    scf.yield %y : tensor<64xi32>
  } else {
    scf.yield %nones : tensor<64xi32>
  }
  %w = scf.if %c -> (tensor<64xf32>) {
    %loaded = memref.load %p[%i] : memref<64xf32>
    %y = linalg.fill ins(%loaded : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %y : tensor<64xf32>
  } else {
    scf.yield %zeros : tensor<64xf32>
  }
  return %u, %v, %w : tensor<64xf32>, tensor<64xi32>, tensor<64xf32>
}
