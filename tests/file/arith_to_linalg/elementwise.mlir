// RUN: tilewright-opt %s --triton-arith-to-linalg | filecheck %s
// RUN: tilewright-opt %s --triton-arith-to-linalg | mlir-opt --verify-each

// One linalg.generic for each op; the first operand of the result's type is the destination.
// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @binary(%arg0: tensor<16xf32>, %arg1: tensor<16xf32>, %arg2: i32
// CHECK-SAME: %arg7: i32) -> tensor<16xf32>
// CHECK-NEXT: %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%arg0, %arg1 : tensor<16xf32>, tensor<16xf32>) outs(%arg0 : tensor<16xf32>) {
// CHECK-NEXT: ^bb0(%in: f32, %in_{{[0-9]+}}: f32, %out: f32):
// CHECK-NEXT: %[[R:.*]] = arith.addf %in, %in_{{[0-9]+}} : f32
// CHECK-NEXT: linalg.yield %[[R]] : f32
// CHECK-NEXT: } -> tensor<16xf32>
// CHECK-NEXT: return %0 : tensor<16xf32>
tt.func public @binary(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %0 = arith.addf %a, %b : tensor<16xf32>
  tt.return %0 : tensor<16xf32>
}

// A compare has no operand of its type, so its destination is empty; compare and select keep their meaning for NaN.
// CHECK-LABEL: func.func @compare_and_select
// CHECK: %[[E:.*]] = tensor.empty() : tensor<8xi1>
// CHECK: ins(%arg0, %arg1 : tensor<8xf32>, tensor<8xf32>) outs(%[[E]] : tensor<8xi1>)
// CHECK: arith.cmpf ogt
// CHECK: ins(%{{.*}}, %arg0, %arg1 : tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) outs(%arg0 : tensor<8xf32>)
// CHECK: arith.select
// CHECK-NOT: maximumf
// CHECK: return
tt.func public @compare_and_select(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %c = arith.cmpf ogt, %a, %b : tensor<8xf32>
  %r = arith.select %c, %a, %b : tensor<8xi1>, tensor<8xf32>
  tt.return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @casts
// CHECK: arith.extsi %in : i8 to i32
// CHECK: arith.sitofp %in : i32 to f32
// CHECK: arith.truncf %in : f32 to bf16
tt.func public @casts(%a: tensor<8xi8>) -> tensor<8xbf16> {
  %w = arith.extsi %a : tensor<8xi8> to tensor<8xi32>
  %f = arith.sitofp %w : tensor<8xi32> to tensor<8xf32>
  %r = tt.fp_to_fp %f, rounding = rtne : tensor<8xf32> -> tensor<8xbf16>
  tt.return %r : tensor<8xbf16>
}

// f16 to bf16 goes through f32: neither holds the other.
// CHECK-LABEL: func.func @between_halves
// CHECK: %[[W:.*]] = arith.extf %in : f16 to f32
// CHECK: arith.truncf %[[W]] : f32 to bf16
tt.func public @between_halves(%a: tensor<8xf16>) -> tensor<8xbf16> {
  %r = tt.fp_to_fp %a : tensor<8xf16> -> tensor<8xbf16>
  tt.return %r : tensor<8xbf16>
}

// CHECK-LABEL: func.func @clamps
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK: arith.maxnumf
// CHECK: arith.minnumf
tt.func public @clamps(%x: tensor<8xf32>, %lo: tensor<8xf32>, %hi: tensor<8xf32>) -> tensor<8xf32> {
  %a = tt.clampf %x, %lo, %hi, propagateNan = all : tensor<8xf32>
  %b = tt.clampf %a, %lo, %hi, propagateNan = none : tensor<8xf32>
  tt.return %b : tensor<8xf32>
}

// Scalars are legal as they are; scalar tt ops become scalar arith.
// CHECK-LABEL: func.func @scalars
// CHECK-NEXT: %[[S:.*]] = math.sqrt %arg0 : f32
// CHECK-NEXT: %low, %high = arith.mului_extended %arg1, %arg1 : i32
// CHECK-NEXT: return %[[S]], %high : f32, i32
tt.func public @scalars(%x: f32, %n: i32) -> (f32, i32) {
  %s = tt.precise_sqrt %x : f32
  %h = tt.mulhiui %n, %n : i32
  tt.return %s, %h : f32, i32
}

// CHECK-LABEL: func.func @extern
// CHECK: math.tanh %in : f32
// CHECK: math.powf
// CHECK: math.roundeven
tt.func public @extern(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (tensor<8xf32>) -> tensor<8xf32>
  %b = tt.extern_elementwise %a, %x {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %c = tt.extern_elementwise %b {libname = "", libpath = "", pure = true, symbol = "__nv_rintf"} : (tensor<8xf32>) -> tensor<8xf32>
  tt.return %c : tensor<8xf32>
}
