// RUN: tilewright-opt %s --triton-arith-to-linalg | filecheck %s
// RUN: tilewright-opt %s --triton-arith-to-linalg | mlir-opt --verify-each

// C is the accumulator itself: no zero fill, no addition afterwards.
// CHECK-LABEL: func.func @accumulate(%arg0: tensor<32x16xf16>, %arg1: tensor<16x32xf16>, %arg2: tensor<32x32xf32>
// CHECK-NEXT: %[[D:.*]] = linalg.matmul ins(%arg0, %arg1 : tensor<32x16xf16>, tensor<16x32xf16>) outs(%arg2 : tensor<32x32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: return %[[D]]
tt.func public @accumulate(%a: tensor<32x16xf16>, %b: tensor<16x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<32x16xf16> * tensor<16x32xf16> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}

// A constant C is a fill, as everywhere.
// CHECK-LABEL: func.func @from_zero
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: linalg.matmul {{.*}} outs(%[[F]] : tensor<16x16xi32>)
tt.func public @from_zero(%a: tensor<16x16xi8>, %b: tensor<16x16xi8>) -> tensor<16x16xi32> {
  %c = arith.constant dense<0> : tensor<16x16xi32>
  %d = tt.dot %a, %b, %c : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xi32>
  tt.return %d : tensor<16x16xi32>
}

// A 16-bit accumulator is widened and rounded once.
// CHECK-LABEL: func.func @half_result
// CHECK: arith.extf %in : f16 to f32
// CHECK: linalg.matmul {{.*}} -> tensor<16x16xf32>
// CHECK: arith.truncf %in : f32 to f16
tt.func public @half_result(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %d = tt.dot %a, %b, %c : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf16>
  tt.return %d : tensor<16x16xf16>
}

// CHECK-LABEL: func.func @batches
// CHECK: linalg.batch_matmul ins(%arg0, %arg1 : tensor<2x16x16xbf16>, tensor<2x16x16xbf16>) outs(%arg2 : tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
tt.func public @batches(%a: tensor<2x16x16xbf16>, %b: tensor<2x16x16xbf16>, %c: tensor<2x16x16xf32>) -> tensor<2x16x16xf32> {
  %d = tt.dot %a, %b, %c : tensor<2x16x16xbf16> * tensor<2x16x16xbf16> -> tensor<2x16x16xf32>
  tt.return %d : tensor<2x16x16xf32>
}
