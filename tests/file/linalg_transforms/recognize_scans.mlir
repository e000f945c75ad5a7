// RUN: tilewright-opt %s --linalg-recognize-scans | filecheck %s
// RUN: tilewright-opt %s --linalg-recognize-scans --verify-diagnostics
// RUN: tilewright-opt %s --linalg-recognize-scans | tilewright-opt - | filecheck %s

// CHECK-LABEL: @sums
// CHECK-NOT: scf.for
// CHECK: %[[S:.*]] = linalg_ext.scan dimension(0) ins(%[[X:.*]] : tensor<64xf32>) outs(%{{.*}} : tensor<64xf32>) {
// CHECK-NEXT: ^bb0(%[[L:.*]]: f32, %[[R:.*]]: f32):
// CHECK-NEXT: %[[N:.*]] = arith.addf %[[L]], %[[R]] : f32
// CHECK-NEXT: linalg.yield %[[N]] : f32
// CHECK-NEXT: } -> tensor<64xf32>
// CHECK-NEXT: return %[[S]]
func.func @sums(%x: tensor<64xf32>, %start: tensor<64xf32>, %first: f32) -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r:2 = scf.for %i = %c1 to %c64 step %c1 iter_args(%out = %start, %acc = %first) -> (tensor<64xf32>, f32) {
    %v = tensor.extract %x[%i] : tensor<64xf32>
    %next = arith.addf %acc, %v : f32
    %new = tensor.insert %next into %out[%i] : tensor<64xf32>
    scf.yield %new, %next : tensor<64xf32>, f32
  } {tilewright.scan = 0 : i64}
  return %r#0 : tensor<64xf32>
}

// Slices of a matrix, from the end.
// CHECK-LABEL: @rows
// CHECK: linalg_ext.scan reverse dimension(1) ins(%{{.*}} : tensor<4x64xf32>) outs(%{{.*}} : tensor<4x64xf32>)
// CHECK: arith.maximumf
#id = affine_map<(d0) -> (d0)>
func.func @rows(%x: tensor<4x64xf32>, %start: tensor<4x64xf32>, %first: tensor<4xf32>) -> tensor<4x64xf32> {
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %r:2 = scf.for %i = %c1 to %c64 step %c1 iter_args(%out = %start, %acc = %first) -> (tensor<4x64xf32>, tensor<4xf32>) {
    %j = arith.subi %c63, %i : index
    %v = tensor.extract_slice %x[0, %j] [4, 1] [1, 1] : tensor<4x64xf32> to tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%acc, %v : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    %new = tensor.insert_slice %next into %out[0, %j] [4, 1] [1, 1] : tensor<4xf32> into tensor<4x64xf32>
    scf.yield %new, %next : tensor<4x64xf32>, tensor<4xf32>
  } {tilewright.scan = 1 : i64}
  return %r#0 : tensor<4x64xf32>
}

// CHECK-LABEL: @last_is_read
// CHECK: scf.for
func.func @last_is_read(%x: tensor<64xf32>, %start: tensor<64xf32>, %first: f32) -> (tensor<64xf32>, f32) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // expected-remark@+1 {{the loop is not taken for a scan: what was combined last is read}}
  %r:2 = scf.for %i = %c1 to %c64 step %c1 iter_args(%out = %start, %acc = %first) -> (tensor<64xf32>, f32) {
    %v = tensor.extract %x[%i] : tensor<64xf32>
    %next = arith.addf %acc, %v : f32
    %new = tensor.insert %next into %out[%i] : tensor<64xf32>
    scf.yield %new, %next : tensor<64xf32>, f32
  } {tilewright.scan = 0 : i64}
  return %r#0, %r#1 : tensor<64xf32>, f32
}

// CHECK-LABEL: @half
// CHECK: scf.for
func.func @half(%x: tensor<64xf32>, %start: tensor<64xf32>, %first: f32) -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  // expected-remark@+1 {{the loop is not taken for a scan: it does not go over the whole last axis}}
  %r:2 = scf.for %i = %c1 to %c32 step %c1 iter_args(%out = %start, %acc = %first) -> (tensor<64xf32>, f32) {
    %v = tensor.extract %x[%i] : tensor<64xf32>
    %next = arith.addf %acc, %v : f32
    %new = tensor.insert %next into %out[%i] : tensor<64xf32>
    scf.yield %new, %next : tensor<64xf32>, f32
  } {tilewright.scan = 0 : i64}
  return %r#0 : tensor<64xf32>
}

// Nobody says that this loop is a scan.
// CHECK-LABEL: @unmarked
// CHECK: scf.for
func.func @unmarked(%x: tensor<64xf32>, %start: tensor<64xf32>, %first: f32) -> tensor<64xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r:2 = scf.for %i = %c1 to %c64 step %c1 iter_args(%out = %start, %acc = %first) -> (tensor<64xf32>, f32) {
    %v = tensor.extract %x[%i] : tensor<64xf32>
    %next = arith.addf %acc, %v : f32
    %new = tensor.insert %next into %out[%i] : tensor<64xf32>
    scf.yield %new, %next : tensor<64xf32>, f32
  }
  return %r#0 : tensor<64xf32>
}
