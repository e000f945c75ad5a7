// RUN: tilewright-opt %s --triton-to-structured | filecheck %s

// Columns plus a remainder plus a quotient, added up in this order: rows without formula whose elements follow each other.

// CHECK-LABEL: tt.func public @columns_first
// CHECK-DAG:   %[[R:.*]] = arith.remsi
// CHECK-DAG:   %[[Q:.*]] = arith.divsi
// CHECK:       tts.make_gather_scatter_tptr %arg0 to sizes: [8, 16] gather_scatter_dim: 0 {{.*}} strides: [1, 1], offsets: [0, 0] : tensor<8xi64> <f32>
// CHECK-NOT:   tt.addptr
tt.func public @columns_first(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %m = arith.constant dense<5> : tensor<8x1xi32>
  %k = arith.constant dense<1000> : tensor<8x1xi32>
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %y = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %x = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %xb = tt.broadcast %x : tensor<1x16xi32> -> tensor<8x16xi32>
  %rest = arith.remsi %y, %m : tensor<8x1xi32>
  %quotient = arith.divsi %y, %m : tensor<8x1xi32>
  %far = arith.muli %quotient, %k : tensor<8x1xi32>
  %restb = tt.broadcast %rest : tensor<8x1xi32> -> tensor<8x16xi32>
  %farb = tt.broadcast %far : tensor<8x1xi32> -> tensor<8x16xi32>
  %near = arith.addi %xb, %restb : tensor<8x16xi32>
  %at = arith.addi %near, %farb : tensor<8x16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %from = tt.addptr %ps, %at : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %to = tt.addptr %os, %at : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %v = tt.load %from : tensor<8x16x!tt.ptr<f32>>
  tt.store %to, %v : tensor<8x16x!tt.ptr<f32>>
  tt.return
}
