// RUN: tilewright-opt %s --triton-arith-to-linalg | filecheck %s
// RUN: tilewright-opt %s --triton-arith-to-linalg=transpose-reduce-to-rank0=false | filecheck %s --check-prefix=DIRECT
// RUN: tilewright-opt %s --triton-arith-to-linalg | mlir-opt --verify-each

// CHECK-LABEL: func.func @sum_of_halves
// CHECK: %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[A:.*]] = bufferization.alloc_tensor() : tensor<f32>
// CHECK: %[[I:.*]] = tensor.insert %[[Z]] into %[[A]][] : tensor<f32>
// CHECK: %[[R:.*]] = linalg.reduce ins(%arg0 : tensor<128xbf16>) outs(%[[I]] : tensor<f32>) dimensions = [0]
// CHECK-NEXT: (%in: bf16, %init: f32) {
// CHECK-NEXT: %[[W:.*]] = arith.extf %in : bf16 to f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[W]], %init : f32
// CHECK-NEXT: linalg.yield %[[S]] : f32
// CHECK: %[[E:.*]] = tensor.extract %[[R]][] : tensor<f32>
// CHECK-NEXT: arith.truncf %[[E]] : f32 to bf16
tt.func public @sum_of_halves(%x: tensor<128xbf16>) -> bf16 {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    tt.reduce.return %s : bf16
  }) : (tensor<128xbf16>) -> bf16
  tt.return %0 : bf16
}

// The accumulator is f32 at higher ranks too.
// CHECK-LABEL: func.func @row_sums_of_halves
// CHECK: linalg.transpose ins(%arg0 : tensor<4x8xf16>) outs(%{{.*}} : tensor<8x4xf16>) permutation = [1, 0]
// CHECK: outs(%{{.*}} : tensor<4xf32>) dimensions = [0]
// CHECK: arith.truncf %in : f32 to f16
// DIRECT-LABEL: func.func @row_sums_of_halves
// DIRECT-NOT: linalg.transpose
// DIRECT: linalg.reduce ins(%arg0 : tensor<4x8xf16>) outs(%{{.*}} : tensor<4xf32>) dimensions = [1]
tt.func public @row_sums_of_halves(%x: tensor<4x8xf16>) -> tensor<4xf16> {
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %a, %b : f16
    tt.reduce.return %s : f16
  }) : (tensor<4x8xf16>) -> tensor<4xf16>
  tt.return %0 : tensor<4xf16>
}

// CHECK-LABEL: func.func @neutral_elements
// CHECK-DAG: arith.constant -1 : i32
// CHECK-DAG: arith.constant -2147483648 : i32
// CHECK-DAG: arith.constant 0x7FC00000 : f32
// CHECK: arith.andi
// CHECK: arith.maxsi
// CHECK: arith.maxnumf
tt.func public @neutral_elements(%x: tensor<8xi32>, %y: tensor<8xf32>) -> (i32, i32, f32) {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.andi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<8xi32>) -> i32
  %1 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.maxsi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<8xi32>) -> i32
  %2 = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.maxnumf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<8xf32>) -> f32
  tt.return %0, %1, %2 : i32, i32, f32
}

// argmax starts from element 0: there is no -1 in sight. To choose between an element and itself changes nothing.
// CHECK-LABEL: func.func @argmax
// CHECK: %[[V0:.*]] = tensor.extract %arg0[%c0] : tensor<8xf32>
// CHECK: tensor.extract %arg1[%c0] : tensor<8xi32>
// CHECK: linalg.reduce ins(%arg0, %arg1 : tensor<8xf32>, tensor<8xi32>) outs(%{{.*}}, %{{.*}} : tensor<f32>, tensor<i32>) dimensions = [0] {tilewright.starts_at_first}
// CHECK-NEXT: (%in: f32, %in_{{[0-9]+}}: i32, %init: f32, %init_{{[0-9]+}}: i32) {
// CHECK-NEXT: arith.cmpf ogt, %init, %in : f32
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, i32
tt.func public @argmax(%x: tensor<8xf32>, %i: tensor<8xi32>) -> (f32, i32) {
  %0:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %ia: i32, %b: f32, %ib: i32):
    %gt = arith.cmpf ogt, %a, %b : f32
    %v = arith.select %gt, %a, %b : f32
    %n = arith.select %gt, %ia, %ib : i32
    tt.reduce.return %v, %n : f32, i32
  }) : (tensor<8xf32>, tensor<8xi32>) -> (f32, i32)
  tt.return %0#0, %0#1 : f32, i32
}

// What computes with both elements reduces the others into the first.
// CHECK-LABEL: func.func @sum_and_maximum
// CHECK: tensor.extract_slice %arg0[1] [7] [1] : tensor<8xf32> to tensor<7xf32>
// CHECK: linalg.reduce ins(%{{.*}}, %{{.*}} : tensor<7xf32>, tensor<7xi32>) outs(%{{.*}}, %{{.*}} : tensor<f32>, tensor<i32>) dimensions = [0]
// CHECK-NOT: starts_at_first
tt.func public @sum_and_maximum(%x: tensor<8xf32>, %i: tensor<8xi32>) -> (f32, i32) {
  %0:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %ia: i32, %b: f32, %ib: i32):
    %v = arith.addf %a, %b : f32
    %n = arith.maxsi %ia, %ib : i32
    tt.reduce.return %v, %n : f32, i32
  }) : (tensor<8xf32>, tensor<8xi32>) -> (f32, i32)
  tt.return %0#0, %0#1 : f32, i32
}

// CHECK-LABEL: func.func @reverse_scan
// CHECK: %[[OUT:.*]]:2 = scf.for %[[I:.*]] = %c1 to %c8 step %c1 iter_args(%[[O:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}}) -> (tensor<8xf32>, f32) {
// CHECK: %[[AT:.*]] = arith.subi %c7{{.*}}, %[[I]] : index
// CHECK: %[[CUR:.*]] = tensor.extract %arg0[%[[AT]]]
// CHECK: %[[NEW:.*]] = arith.mulf %[[ACC]], %[[CUR]] : f32
// CHECK: tensor.insert %[[NEW]] into %[[O]][%{{.*}}]
// CHECK: } {tilewright.scan = 0 : i64}
tt.func public @reverse_scan(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return %0 : tensor<8xf32>
}
