// RUN: tilewright-opt %s --linalg-elide-reduction-starts --verify-diagnostics
// RUN: tilewright-opt %s --linalg-elide-reduction-starts | filecheck %s

// The largest element and its number: whatever comes first may start.
// CHECK-LABEL: @argmax
// CHECK-NOT: tensor.extract
// CHECK-NOT: tensor.insert
// CHECK: linalg.reduce ins(%{{.*}}, %{{.*}}) outs(%[[E:.*]], %[[F:.*]] : tensor<f32>, tensor<i32>)
func.func @argmax(%x: tensor<64xf32>, %i: tensor<64xi32>) -> (tensor<f32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<f32>
  %f = tensor.empty() : tensor<i32>
  %first = tensor.extract %x[%c0] : tensor<64xf32>
  %start = tensor.insert %first into %e[] : tensor<f32>
  %number = tensor.extract %i[%c0] : tensor<64xi32>
  %place = tensor.insert %number into %f[] : tensor<i32>
  %r:2 = linalg.reduce ins(%x, %i : tensor<64xf32>, tensor<64xi32>) outs(%start, %place : tensor<f32>, tensor<i32>) dimensions = [0] {tilewright.starts_at_first}
    (%v: f32, %n: i32, %best: f32, %at: i32) {
      %more = arith.cmpf ogt, %v, %best : f32
      %a = arith.select %more, %v, %best : f32
      %b = arith.select %more, %n, %at : i32
      linalg.yield %a, %b : f32, i32
    }
  return %r#0, %r#1 : tensor<f32>, tensor<i32>
}

// A sum is neither of its operands: it keeps its start, and loses the attribute.
// CHECK-LABEL: @sum
// CHECK: %[[START:.*]] = tensor.insert
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}}) outs(%[[START]] : tensor<f32>) dimensions = [0]
// CHECK-NOT: starts_at_first
func.func @sum(%x: tensor<64xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<f32>
  %first = tensor.extract %x[%c0] : tensor<64xf32>
  %start = tensor.insert %first into %e[] : tensor<f32>
  // expected-remark@+1 {{the reduction keeps its start: its body does not choose between two elements}}
  %r = linalg.reduce { arith.addf } ins(%x : tensor<64xf32>) outs(%start : tensor<f32>) dimensions = [0] {tilewright.starts_at_first}
  return %r : tensor<f32>
}

// What was computed for the start alone goes as well; what others read stays.
// CHECK-LABEL: @read_by_others
// CHECK: tensor.extract
// CHECK-NOT: tensor.insert
// CHECK: linalg.reduce
func.func @read_by_others(%x: tensor<64xi32>) -> (tensor<i32>, i32) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<i32>
  %first = tensor.extract %x[%c0] : tensor<64xi32>
  %start = tensor.insert %first into %e[] : tensor<i32>
  %r = linalg.reduce { arith.maxsi } ins(%x : tensor<64xi32>) outs(%start : tensor<i32>) dimensions = [0] {tilewright.starts_at_first}
  return %r, %first : tensor<i32>, i32
}

// What the comparison needs of the element alone, such as whether it is a number, is part of the choice.
// CHECK-LABEL: @argmax_with_nan
// CHECK-NOT: tensor.insert
// CHECK: linalg.reduce
// CHECK-SAME: starts_at_first
func.func @argmax_with_nan(%x: tensor<64xf32>, %i: tensor<64xi32>) -> (tensor<f32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  %e = tensor.empty() : tensor<f32>
  %f = tensor.empty() : tensor<i32>
  %first = tensor.extract %x[%c0] : tensor<64xf32>
  %start = tensor.insert %first into %e[] : tensor<f32>
  %number = tensor.extract %i[%c0] : tensor<64xi32>
  %place = tensor.insert %number into %f[] : tensor<i32>
  %r:2 = linalg.reduce ins(%x, %i : tensor<64xf32>, tensor<64xi32>) outs(%start, %place : tensor<f32>, tensor<i32>) dimensions = [0] {tilewright.starts_at_first}
    (%v: f32, %n: i32, %best: f32, %at: i32) {
      %more = arith.cmpf ogt, %best, %v : f32
      %nan = arith.cmpf une, %v, %v : f32
      %ordered = arith.xori %nan, %true : i1
      %was_nan = arith.cmpf une, %best, %best : f32
      %stays = arith.andi %was_nan, %ordered : i1
      %keep = arith.ori %more, %stays : i1
      %a = arith.select %keep, %best, %v : f32
      %b = arith.select %keep, %at, %n : i32
      linalg.yield %a, %b : f32, i32
    }
  return %r#0, %r#1 : tensor<f32>, tensor<i32>
}
