// RUN: tilewright-opt %s | filecheck %s
// RUN: tilewright-opt %s | mlir-opt | filecheck %s
// RUN: tilewright-opt %s --mlir-print-op-generic | tilewright-opt | filecheck %s

// CHECK:      #map = affine_map<(d0) -> (d0)>
// CHECK-NEXT: module {
// CHECK-NEXT:   func.func @names(%arg0: i32, %arg1: tensor<4xf32>, %arg2: i1) -> f32 {
// CHECK-NEXT:     %c0 = arith.constant 0 : index
// CHECK-NEXT:     %c-3_i32 = arith.constant -3 : i32
// CHECK-NEXT:     %true = arith.constant true
// CHECK-NEXT:     %cst = arith.constant 1.500000e+00 : f32
// CHECK-NEXT:     %cst_0 = arith.constant dense<0xFF800000> : tensor<4xf32>
// CHECK-NEXT:     %cst_1 = arith.constant dense<[0xFF80, 0x7FC0, 1.000000e+00, -0.000000e+00]> : tensor<4xbf16>
// CHECK-NEXT:     %cst_2 = arith.constant 9.997550e-02 : f16
// CHECK-NEXT:     %extracted = tensor.extract %arg1[%c0] : tensor<4xf32>
// CHECK-NEXT:     %0 = arith.addi %arg0, %c-3_i32 : i32
func.func @names(%n: i32, %t: tensor<4xf32>, %p: i1) -> f32 {
  %zero = arith.constant 0 : index
  %three = arith.constant -3 : i32
  %yes = arith.constant true
  %x = arith.constant 1.5 : f32
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %list = arith.constant dense<[0xFF80, 0x7FC0, 1.0, -0.0]> : tensor<4xbf16>
  %tenth = arith.constant 0.1 : f16
  %e = tensor.extract %t[%zero] : tensor<4xf32>
  %sum = arith.addi %n, %three : i32
// CHECK:          %1:2 = scf.if %arg2 -> (f32, i32) {
// CHECK-NEXT:       %5 = arith.addf %extracted, %cst : f32
// CHECK-NEXT:       scf.yield %5, %0 : f32, i32
// CHECK-NEXT:     } else {
// CHECK-NEXT:       scf.yield %cst, %arg0 : f32, i32
// CHECK-NEXT:     }
  %pair:2 = scf.if %p -> (f32, i32) {
    %inner = arith.addf %e, %x : f32
    scf.yield %inner, %sum : f32, i32
  } else {
    scf.yield %x, %n : f32, i32
  }
// CHECK:          %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
// CHECK-NEXT:     ^bb0(%in: f32, %out: f32):
// CHECK-NEXT:       linalg.yield %in : f32
  %empty = tensor.empty() : tensor<4xf32>
  %copy = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%t : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
// CHECK:          cf.cond_br %true, ^bb1, ^bb2(%1#0 : f32)
// CHECK-NEXT:   ^bb1:  // pred: ^bb0
// CHECK-NEXT:     cf.br ^bb2(%cst : f32)
// CHECK-NEXT:   ^bb2(%4: f32):  // 2 preds: ^bb0, ^bb1
// CHECK-NEXT:     return %4 : f32
  cf.cond_br %yes, ^other, ^end(%pair#0 : f32)
^other:
  cf.br ^end(%x : f32)
^end(%result: f32):
  return %result : f32
}
