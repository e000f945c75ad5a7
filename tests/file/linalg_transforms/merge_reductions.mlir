// RUN: tilewright-opt %s --linalg-merge-reductions | filecheck %s

#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>

// What both compute is computed once; the number that the second starts from moves up.
// CHECK-LABEL: @both
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%arg0 : tensor<64xf32>)
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.maxnumf
// CHECK-NEXT: linalg.yield
// CHECK: tensor.extract %[[R]]#0
// CHECK: tensor.extract %[[R]]#1
// CHECK-NOT: linalg.generic
func.func @both(%x: tensor<64xf32>, %start: f32) -> (f32, f32) {
  %e = bufferization.alloc_tensor() : tensor<f32>
  %zero = arith.constant 0.0 : f32
  %i = tensor.insert %zero into %e[] : tensor<f32>
  %s = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]} ins(%x : tensor<64xf32>) outs(%i : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  %sum = tensor.extract %s[] : tensor<f32>
  %e2 = bufferization.alloc_tensor() : tensor<f32>
  %twice = arith.addf %start, %start : f32
  %i2 = tensor.insert %twice into %e2[] : tensor<f32>
  %m = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]} ins(%x : tensor<64xf32>) outs(%i2 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.maxnumf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  %most = tensor.extract %m[] : tensor<f32>
  return %sum, %most : f32, f32
}

// linalg.reduce joins, too, and a third.
// CHECK-LABEL: @three
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<64xf32>, tensor<64xf32>) outs({{.*}} : tensor<f32>, tensor<f32>, tensor<f32>)
// CHECK-NOT: linalg.reduce
// CHECK: return
func.func @three(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e = bufferization.alloc_tensor() : tensor<f32>
  %i = tensor.insert %zero into %e[] : tensor<f32>
  %s = linalg.reduce ins(%x : tensor<64xf32>) outs(%i : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
    }
  %e2 = bufferization.alloc_tensor() : tensor<f32>
  %i2 = tensor.insert %zero into %e2[] : tensor<f32>
  %d = linalg.generic {indexing_maps = [#id, #id, #scalar], iterator_types = ["reduction"]} ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%i2 : tensor<f32>) {
  ^bb0(%a: f32, %c: f32, %b: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  %e3 = bufferization.alloc_tensor() : tensor<f32>
  %i3 = tensor.insert %zero into %e3[] : tensor<f32>
  %t = linalg.reduce ins(%y : tensor<64xf32>) outs(%i3 : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
    }
  return %s, %d, %t : tensor<f32>, tensor<f32>, tensor<f32>
}

// The second reads what the first gives.
// CHECK-LABEL: @mean_then_variance
// CHECK: linalg.reduce
// CHECK: linalg.generic
func.func @mean_then_variance(%x: tensor<64xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = bufferization.alloc_tensor() : tensor<f32>
  %i = tensor.insert %zero into %e[] : tensor<f32>
  %s = linalg.reduce ins(%x : tensor<64xf32>) outs(%i : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
    }
  %mean = tensor.extract %s[] : tensor<f32>
  %e2 = bufferization.alloc_tensor() : tensor<f32>
  %i2 = tensor.insert %zero into %e2[] : tensor<f32>
  %d = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]} ins(%x : tensor<64xf32>) outs(%i2 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %mean : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %1, %b : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %d : tensor<f32>
}

// Of other widths, vectors have other numbers of lanes; a function that is not known to be associative goes alone.
// CHECK-LABEL: @alone
// CHECK: linalg.reduce
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @alone(%x: tensor<64xf32>) -> (tensor<f32>, tensor<f64>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e = bufferization.alloc_tensor() : tensor<f32>
  %i = tensor.insert %zero into %e[] : tensor<f32>
  %s = linalg.reduce ins(%x : tensor<64xf32>) outs(%i : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
    }
  %wide = arith.constant 0.0 : f64
  %e2 = bufferization.alloc_tensor() : tensor<f64>
  %i2 = tensor.insert %wide into %e2[] : tensor<f64>
  %d = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]} ins(%x : tensor<64xf32>) outs(%i2 : tensor<f64>) {
  ^bb0(%a: f32, %b: f64):
    %0 = arith.extf %a : f32 to f64
    %1 = arith.addf %0, %b : f64
    linalg.yield %1 : f64
  } -> tensor<f64>
  %e3 = bufferization.alloc_tensor() : tensor<f32>
  %i3 = tensor.insert %zero into %e3[] : tensor<f32>
  %t = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]} ins(%x : tensor<64xf32>) outs(%i3 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %b, %a : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %s, %d, %t : tensor<f32>, tensor<f64>, tensor<f32>
}
