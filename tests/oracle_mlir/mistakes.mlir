func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0] [4] [1] : tensor<4x8xf32> to tensor<4xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [2, 2] [1, 1] : tensor<4x8xf32> to tensor<2x3xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[3, 0] [2, 2] [1, 1] : tensor<4x8xf32> to tensor<2x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %c: tensor<4x4xf32>) {
  %0 = tensor.insert_slice %c into %a[0, 0] [4, 5] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  return
}
// -----
func.func @f(%n: memref<4x8xf32>) {
  %0 = memref.subview %n[0, 0] [2, 2] [1, 1] : memref<4x8xf32> to memref<2x2xf32>
  return
}
// -----
func.func @f(%n: memref<4x8xf32>) {
  %0 = memref.subview %n[3, 0] [2, 2] [1, 1] : memref<4x8xf32> to memref<2x2xf32, strided<[8, 1], offset: 24>>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 3, 8] : tensor<4x8xf32> into tensor<2x3x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.expand_shape %a [[0, 2], [1]] output_shape [2, 2, 8] : tensor<4x8xf32> into tensor<2x2x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<4x8xf32> into tensor<31xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %i: index) {
  %0 = tensor.extract %a[%i] : tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %x: i32, %i: index) {
  %0 = tensor.insert %x into %a[%i, %i] : tensor<4x8xf32>
  return
}
// -----
func.func @f(%i: index) {
  %0 = tensor.empty(%i) : tensor<4xf32>
  return
}
// -----
func.func @f(%x: i32, %i: index) {
  %0 = tensor.dim %x, %i : tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.cast %a : tensor<4x8xf32> to tensor<4x9xf32>
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.cmpi foo, %x, %x : i32
  return
}
// -----
func.func @f(%f: f32) {
  %0 = arith.cmpi eq, %f, %f : f32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.cmpf olt, %x, %x : i32
  return
}
// -----
func.func @f() {
  %0 = arith.constant 1.0 : i32
  return
}
// -----
func.func @f() {
  %0 = arith.constant 1 : f32
  return
}
// -----
func.func @f() {
  %0 = arith.constant 300 : i8
  return
}
// -----
func.func @f() {
  %0 = arith.constant dense<[1, 2, 3]> : tensor<4xi32>
  return
}
// -----
func.func @f() {
  %0 = arith.constant dense<1.0> : tensor<4xi32>
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.select %x, %x, %x : i32
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %p: i1) {
  %0 = arith.select %p, %a, %b : tensor<4x8xf32>
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.trunci %x : i32 to i64
  return
}
// -----
func.func @f(%f: f32) {
  %0 = arith.truncf %f : f32 to f64
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.bitcast %x : i32 to f16
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.index_cast %x : i32 to i64
  return
}
// -----
func.func @f(%f: f32) {
  %0 = arith.sitofp %f : f32 to f32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %zz : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x : i32
  %0 = arith.addi %x, %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0, %1 = arith.addi %x, %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = math.exp %x : i32
  return
}
// -----
func.func @f(%f: f32) {
  %0 = math.fpowi %f, %f : f32, f32
  return
}
// -----
func.func @f(%f: f32, %h: f16) {
  %0 = math.fma %f, %f, %h : f32
  return
}
// -----
func.func @f(%x: i32, %i: index) {
  scf.for %j = %i to %x step %i {
  }
  return
}
// -----
func.func @f(%x: i32, %i: index, %f: f32) {
  %r = scf.for %j = %i to %i step %i iter_args(%q = %x) -> (i32) {
    scf.yield %f : f32
  }
  return
}
// -----
func.func @f(%x: i32, %i: index) {
  %r = scf.for %j = %i to %i step %i iter_args(%q = %x) -> (i32) {
  }
  return
}
// -----
func.func @f(%x: i32, %i: index) {
  %r = scf.for %j = %i to %i step %i iter_args(%q = %x) -> (i32, i32) {
    scf.yield %q : i32
  }
  return
}
// -----
func.func @f(%x: i32) {
  scf.if %x {
  }
  return
}
// -----
func.func @f(%x: i32, %f: f32, %p: i1) {
  %r = scf.if %p -> (i32) {
    scf.yield %f : f32
  } else {
    scf.yield %x : i32
  }
  return
}
// -----
func.func @f(%x: i32) {
  %r = scf.while (%q = %x) : (i32) -> i32 {
    scf.condition(%x) %q : i32
  } do {
  ^bb0(%z: i32):
    scf.yield %z : i32
  }
  return
}
// -----
func.func @f(%x: i32) {
  cf.cond_br %x, ^bb1, ^bb2
^bb1:
  return
^bb2:
  return
}
// -----
func.func @f() {
  cf.br ^bb7
  return
}
// -----
func.func @f(%x: i32) {
  cf.assert %x, "m"
  return
}
// -----
func.func @f(%x: i32, %i: index, %m: memref<4xf32>) {
  memref.store %x, %m[%i] : memref<4xf32>
  return
}
// -----
func.func @f(%i: index, %m: memref<4xf32>) {
  %0 = memref.load %m[%i, %i] : memref<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [4], strides: [1, 1] : memref<4xf32> to memref<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.cast %m : memref<4xf32> to memref<5xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %n: memref<4x8xf32>) {
  memref.copy %m, %n : memref<4xf32> to memref<4x8xf32>
  return
}
// -----
func.func @f(%i: index) {
  %0 = memref.alloca(%i) : memref<4xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%q: f32, %w: f32):
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%q: f32, %w: f32):
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "foo"]} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%q: f32, %w: f32):
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%q: f32):
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %x: i32) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%q: f32, %w: f32):
    linalg.yield %x : i32
  } -> tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%b : tensor<8x4xf32>) {
  ^bb0(%q: f32, %w: f32):
    linalg.yield %q : f32
  } -> tensor<8x4xf32>
  return
}
// -----
func.func @f(%x: i32) {
  return %x, %x : i32, i32
  return
}
// -----
func.func private @callee(i32) -> i32
func.func @f(%f: f32) {
  call @callee(%f) : (f32) -> i32
  return
}
// -----
func.func private @callee(i32) -> i32
func.func @f(%x: i32) {
  %0 = call @callee(%x) : (i32) -> f32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x {a = 1, a = 2} : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x {a = "abc} : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x : vector<i32>
  return
}
// -----
func.func @f() {
  %0 = tensor.empty() : tensor<4x-8xf32>
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x i32
  return
}
// -----
func.func @f() {
  cf.br ^bb1
^bb1:
  cf.br ^bb1
^bb1:
  return
}
// -----
func.func @f(%x: i32) {
  return
  %0 = arith.addi %x, %x : i32
  return
}
// -----
func.func @f(%x: i32, %i: index, %m: memref<4xf32>) {
  %0 = memref.atomic_rmw addf %x, %m[%i] : (i32, memref<4xf32>) -> i32
  return
}
// -----
func.func @f(%f: f32) {
  %0 = vector.broadcast %f : f32 to vector<4xf16>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) {
  %0 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%b : tensor<8x4xf32>) permutation = [0]
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %f: f32) {
  %0 = tensor.pad %a low[0] high[0, 0] {
  ^bb0(%q: index, %w: index):
    tensor.yield %f : f32
  } : tensor<4x8xf32> to tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = "memref.load"(%m) : (memref<4xf32>) -> f32
  return
}
// -----
func.func @f(%x: i32) {
  %0:2 = "arith.addi"(%x, %x) : (i32, i32) -> (i32, i32)
  return
}
// -----
func.func @f(%p: i1) {
  "scf.if"(%p) ({
  }) : (i1) -> ()
  return
}
// -----
func.func @f() {
  %0 = "arith.constant"() : () -> i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = "arith.cmpi"(%x, %x) : (i32, i32) -> i1
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[5, 0] [1, 2] [1, 1] : tensor<4x8xf32> to tensor<1x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [5, 2] [1, 1] : tensor<4x8xf32> to tensor<5x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [2, 2] [4, 1] : tensor<4x8xf32> to tensor<2x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[-1, 0] [2, 2] [1, 1] : tensor<4x8xf32> to tensor<2x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [0, 2] [1, 1] : tensor<4x8xf32> to tensor<0x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[4, 0] [0, 2] [1, 1] : tensor<4x8xf32> to tensor<0x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [2, 2] [0, 1] : tensor<4x8xf32> to tensor<2x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [2, 2] [-1, 1] : tensor<4x8xf32> to tensor<2x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[3, 0] [2, 2] [-1, 1] : tensor<4x8xf32> to tensor<2x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [-2, 2] [1, 1] : tensor<4x8xf32> to tensor<2x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [2, 2] [1] : tensor<4x8xf32> to tensor<2x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [2] [1, 1] : tensor<4x8xf32> to tensor<2x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [2, 2] [1, 1] : tensor<4x8xf32> to tensor<2x2xf16>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [2, 2] [1, 1] : tensor<4x8xf32> to tensor<2x2x1xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.extract_slice %a[0, 0] [2, 2] [1, 1] : tensor<4x8xf32> to tensor<2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %i: index) {
  %0 = tensor.extract_slice %a[0, 0] [%i, 2] [1, 1] : tensor<4x8xf32> to tensor<2x2xf32>
  return
}
// -----
func.func @f(%d: tensor<?x8xf32>) {
  %0 = tensor.extract_slice %d[7, 0] [2, 2] [1, 1] : tensor<?x8xf32> to tensor<2x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = "tensor.extract_slice"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 2, 2>, static_strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<2x2xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %c: tensor<4x4xf32>) {
  %0 = tensor.insert_slice %c into %a[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %c: tensor<4x4xf32>) {
  %0 = tensor.insert_slice %c into %a[1, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  return
}
// -----
func.func @f(%n: memref<4x8xf32>) {
  %0 = memref.subview %n[0, 0] [2, 2] [1, 1] : memref<4x8xf32> to memref<2x3xf32, strided<[8, 1]>>
  return
}
// -----
func.func @f(%n: memref<4x8xf32>) {
  %0 = memref.subview %n[0, 0] [2, 2] [1, 1] : memref<4x8xf32> to memref<2x2xf16, strided<[8, 1]>>
  return
}
// -----
func.func @f(%n: memref<4x8xf32>) {
  %0 = memref.subview %n[0, 0] [2, 2] [1, 1] : memref<4x8xf32> to memref<2x2x1xf32, strided<[8, 1, 1]>>
  return
}
// -----
func.func @f(%n: memref<4x8xf32>) {
  %0 = memref.subview %n[0, 0] [2, 2] [1, 1] : memref<4x8xf32> to memref<2xf32, strided<[8]>>
  return
}
// -----
func.func @f(%n: memref<4x8xf32>) {
  %0 = memref.subview %n[0, 1] [2, 2] [1, 1] : memref<4x8xf32> to memref<2x2xf32, strided<[8, 1], offset: 2>>
  return
}
// -----
func.func @f(%n: memref<4x8xf32>) {
  %0 = memref.subview %n[0, 1] [2, 2] [1, 1] : memref<4x8xf32> to memref<2x2xf32, strided<[8, 2], offset: 1>>
  return
}
// -----
func.func @f(%n: memref<4x8xf32>) {
  %0 = memref.subview %n[5, 0] [1, 2] [1, 1] : memref<4x8xf32> to memref<1x2xf32, strided<[8, 1], offset: 40>>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [4], strides: [1] : memref<4xf32> to memref<4xf16>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [5], strides: [1] : memref<4xf32> to memref<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.reinterpret_cast %m to offset: [1], sizes: [4], strides: [1] : memref<4xf32> to memref<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [4], strides: [2] : memref<4xf32> to memref<4xf32, strided<[1]>>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.reinterpret_cast %m to offset: [0, 0], sizes: [4], strides: [1] : memref<4xf32> to memref<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [2, 2], strides: [2, 1] : memref<4xf32> to memref<4xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [4, 8] : tensor<4x8xf32> into tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 2, 4] : tensor<4x8xf32> into tensor<2x2x4xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.expand_shape %a [[0], [1]] output_shape [4, 8] : tensor<4x8xf32> into tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 8] : tensor<4x8xf32> into tensor<2x2x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 4, 8] : tensor<4x8xf32> into tensor<2x2x8xf32>
  return
}
// -----
func.func @f(%d: tensor<?x8xf32>, %i: index) {
  %0 = tensor.expand_shape %d [[0, 1], [2]] output_shape [2, %i, 8] : tensor<?x8xf32> into tensor<2x2x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.collapse_shape %a [[0], [1]] : tensor<4x8xf32> into tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.collapse_shape %a [[1], [0]] : tensor<4x8xf32> into tensor<4x8xf32>
  return
}
// -----
func.func @f(%d: tensor<?x8xf32>) {
  %0 = tensor.collapse_shape %d [[0, 1]] : tensor<?x8xf32> into tensor<32xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<4x8xf32> into tensor<?xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %i: index) {
  %0 = tensor.extract %a[%i, %i, %i] : tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %i: index, %f: f32) {
  %0 = tensor.insert %f into %a[%i] : tensor<4x8xf32>
  return
}
// -----
func.func @f(%i: index, %f: f32) {
  %0 = tensor.generate %i {
  ^bb0(%j: index):
    tensor.yield %f : f32
  } : tensor<4xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) {
  %0 = tensor.concat dim(0) %a, %b : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<12x4xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.concat dim(2) %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = tensor.concat dim(0) %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<9x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %t: tensor<2xindex>) {
  %0 = tensor.reshape %a(%t) : (tensor<4x8xf32>, tensor<2xindex>) -> tensor<4x9xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %t: tensor<2xindex>) {
  %0 = tensor.reshape %a(%t) : (tensor<4x8xf32>, tensor<2xindex>) -> tensor<32xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %f: f32) {
  %0 = tensor.pad %a low[0, 0] high[0, 1] {
  ^bb0(%q: index, %w: index):
    tensor.yield %f : f32
  } : tensor<4x8xf32> to tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %f: f32) {
  %0 = tensor.pad %a low[0, 0] high[0, 0] {
  ^bb0(%q: index):
    tensor.yield %f : f32
  } : tensor<4x8xf32> to tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %x: i32) {
  %0 = tensor.pad %a low[0, 0] high[0, 0] {
  ^bb0(%q: index, %w: index):
    tensor.yield %x : i32
  } : tensor<4x8xf32> to tensor<4x8xf32>
  return
}
// -----
func.func @f(%i: index, %n: memref<4x8xf32>) {
  %0 = memref.load %n[%i] : memref<4x8xf32>
  return
}
// -----
func.func @f(%i: index, %f: f32, %n: memref<4x8xf32>) {
  memref.store %f, %n[%i] : memref<4x8xf32>
  return
}
// -----
func.func @f(%i: index, %f: f32, %m: memref<4xf32>) {
  %0 = memref.atomic_rmw addf %f, %m[%i, %i] : (f32, memref<4xf32>) -> f32
  return
}
// -----
func.func @f(%i: index, %f: f32, %m: memref<4xf32>) {
  %0 = memref.atomic_rmw addi %f, %m[%i] : (f32, memref<4xf32>) -> f32
  return
}
// -----
func.func @f(%i: index, %m: memref<4xf32>) {
  %0 = memref.generic_atomic_rmw %m[%i] : memref<4xf32> {
  ^bb0(%q: f16):
    memref.atomic_yield %q : f16
  }
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  memref.copy %m, %m : memref<4xf32> to memref<4xf32>
  return
}
// -----
func.func @f(%x: i32, %n: memref<4x8xf32>) {
  %0 = memref.dim %n, %x : memref<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = arith.select %a, %a, %a : tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>, %c: tensor<4x4xf32>) {
  %0 = arith.select %c, %a, %a : tensor<4x4xf32>, tensor<4x8xf32>
  return
}
// -----
func.func @f(%f: f32) {
  %0 = arith.extsi %f : f32 to f64
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.extf %x : i32 to f64
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.fptosi %x : i32 to i64
  return
}
// -----
func.func @f(%f: f32) {
  %0 = arith.fptosi %f : f32 to f64
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = arith.trunci %a : tensor<4x8xf32> to tensor<4x8xi8>
  return
}
// -----
func.func @f(%f: f32) {
  %0 = arith.index_cast %f : f32 to index
  return
}
// -----
func.func @f(%i: index) {
  %0 = arith.bitcast %i : index to i64
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = arith.bitcast %a : tensor<4x8xf32> to tensor<8x4xi32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = arith.extf %a : tensor<4x8xf32> to tensor<8x4xf64>
  return
}
// -----
func.func @f() {
  %0 = arith.constant 1 : tensor<4xi32>
  return
}
// -----
func.func @f() {
  %0 = arith.constant dense<1> : i32
  return
}
// -----
func.func @f() {
  %0 = arith.constant true : i32
  return
}
// -----
func.func @f() {
  %0 = arith.constant 1.0 : index
  return
}
// -----
func.func @f() {
  %0 = arith.constant -129 : i8
  return
}
// -----
func.func @f() {
  %0 = arith.constant 255 : i8
  return
}
// -----
func.func @f() {
  %0 = arith.constant 256 : i8
  return
}
// -----
func.func @f() {
  %0 = arith.constant dense<300> : tensor<4xi8>
  return
}
// -----
func.func @f() {
  %0 = arith.constant dense<[[1],[2]]> : tensor<4xi32>
  return
}
// -----
func.func @f() {
  %0 = arith.constant dense<1> : tensor<?xi32>
  return
}
// -----
func.func @f() {
  %0 = arith.constant 0x7F800000 : f32
  return
}
// -----
func.func @f() {
  %0 = arith.constant 0xFFFFFFFFF : f32
  return
}
// -----
func.func @f() {
  %0 = arith.constant 0x1FF : i8
  return
}
// -----
func.func @f(%x: i32) {
  %0 = math.exp %x, %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = math.atan2 %x, %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = math.fma %x, %x, %x : i32
  return
}
// -----
func.func @f(%f: f32) {
  %0 = math.ctpop %f : f32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = math.fpowi %x, %x : i32, i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = math.isnan %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addf %x, %x : i32
  return
}
// -----
func.func @f(%f: f32) {
  %0 = arith.addi %f, %f : f32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x, %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x : i32, i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.cmpi slt, %x, %x
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.cmpi slt %x, %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.maximumf %x, %x : i32
  return
}
// -----
func.func @f(%f: f32) {
  %0 = arith.mulsi_extended %f, %f : f32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.mulsi_extended %x, %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0:3 = arith.mulsi_extended %x, %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = "arith.mulsi_extended"(%x, %x) : (i32, i32) -> i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = "arith.addi"(%x) : (i32) -> i32
  return
}
// -----
func.func @f(%x: i32) {
  "arith.addi"(%x, %x) : (i32, i32) -> ()
  return
}
// -----
func.func @f(%x: i32) {
  %0 = "arith.constant"(%x) <{value = 1 : i32}> : (i32) -> i32
  return
}
// -----
func.func @f(%f: f32) {
  %0 = "math.exp"(%f, %f) : (f32, f32) -> f32
  return
}
// -----
func.func @f(%p: i1) {
  %0 = "scf.if"(%p) ({
  }, {
  }, {
  }) : (i1) -> i32
  return
}
// -----
func.func @f(%i: index) {
  "scf.for"(%i, %i, %i) : (index, index, index) -> ()
  return
}
// -----
func.func @f(%x: i32) {
  %0 = "arith.addi"(%x, %x) ({
  }) : (i32, i32) -> i32
  return
}
// -----
func.func @f(%f: f32) {
  "memref.store"(%f) : (f32) -> ()
  return
}
// -----
func.func @f() {
  "cf.br"()[^bb1, ^bb1] : () -> ()
^bb1:
  return
}
// -----
func.func @f() {
  "func.return"()[^bb1] : () -> ()
^bb1:
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x {a = 1 : i32, b} {c} : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x :
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x : foo
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi x, %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = %x
  return
}
// -----
func.func @f(%x: i32) {
  %x = arith.addi %x, %x : i32
  return
}
// -----
func.func @f(%x: i32, %f: f32) {
  %0 = arith.addi %f#1, %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x : i0
  return
}
// -----
func.func @f() {
  %0 = tensor.empty() : tensor<0x-1xf32>
  return
}
// -----
func.func @f() {
  %0 = tensor.empty() : tensor<4x8>
  return
}
// -----
func.func @f(%i: index) {
  scf.for %q = %i to %i step %i : i32 {
  }
  return
}
// -----
func.func @f(%x: i32, %i: index) {
  scf.for %q = %i to %i step %i iter_args(%r = %x) -> i32 {
    scf.yield %r : i32
  }
  return
}
// -----
func.func @f(%x: i32, %i: index) {
  %0:2 = scf.for %q = %i to %i step %i iter_args(%r = %x) -> (i32) {
    scf.yield %r : i32
  }
  return
}
// -----
func.func @f(%x: i32, %i: index) {
  %0 = scf.for %q = %i to %i step %i iter_args(%r = %x) -> (f32) {
    scf.yield %r : f32
  }
  return
}
// -----
func.func @f(%x: i32, %i: index) {
  %0 = scf.for %q = %i to %i step %i iter_args(%r = %x) -> (i32) {
    scf.yield %r, %r : i32, i32
  }
  return
}
// -----
func.func @f(%x: i32, %p: i1) {
  %0 = scf.if %p -> (i32) {
    scf.yield %x, %x : i32, i32
  } else {
    scf.yield %x : i32
  }
  return
}
// -----
func.func @f(%x: i32, %f: f32, %p: i1) {
  %0 = scf.if %p -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %f : f32
  }
  return
}
// -----
func.func @f(%x: i32, %p: i1) {
  scf.if %p {
    scf.yield %x : i32
  }
  return
}
// -----
func.func @f(%x: i32, %f: f32, %p: i1) {
  %0 = scf.while (%q = %x) : (i32) -> i32 {
    scf.condition(%p) %f : f32
  } do {
  ^bb0(%z: i32):
    scf.yield %z : i32
  }
  return
}
// -----
func.func @f(%x: i32, %f: f32, %p: i1) {
  %0 = scf.while (%q = %x) : (i32) -> i32 {
    scf.condition(%p) %q : i32
  } do {
  ^bb0(%z: i32):
    scf.yield %f : f32
  }
  return
}
// -----
func.func @f(%x: i32, %p: i1) {
  %0 = scf.while (%q = %x) : (i32) -> i32 {
    scf.condition(%p) %q : i32
  } do {
  ^bb0(%z: f32):
    scf.yield %q : i32
  }
  return
}
// -----
func.func @f(%x: i32, %p: i1) {
  cf.cond_br %p, ^bb1(%x : i32), ^bb1
^bb1(%q: i32):
  return
}
// -----
func.func private @callee(i32) -> i32
func.func @f(%x: i32) {
  call @callee(%x) : (f32) -> i32
  return
}
// -----
func.func private @callee(i32) -> i32
func.func @f() {
  %0 = call @callee() : () -> i32
  return
}
// -----
func.func private @callee(i32) -> i32
func.func @f(%f: f32) {
  %0 = call @callee(%f) : (f32) -> i32
  return
}
// -----
func.func @f(%f: f32) {
  %0 = call @nothing(%f) : (f32) -> i32
  return
}
// -----
func.func private @callee(i32) -> i32
func.func @f(%x: i32) {
  call @callee(%x) : (i32) -> ()
  return
}
// -----
func.func @f(%v: vector<4x8xf32>) {
  %0 = vector.broadcast %v : vector<4x8xf32> to vector<4x4xf32>
  return
}
// -----
func.func @f(%v: vector<4x8xf32>) {
  %0 = vector.extract %v[5] : vector<8xf32> from vector<4x8xf32>
  return
}
// -----
func.func @f(%v: vector<4x8xf32>) {
  %0 = vector.extract %v[0, 0, 0] : f32 from vector<4x8xf32>
  return
}
// -----
func.func @f(%v: vector<4x8xf32>) {
  %0 = vector.shape_cast %v : vector<4x8xf32> to vector<31xf32>
  return
}
// -----
func.func @f(%v: vector<4x8xf32>) {
  %0 = vector.reduction <add>, %v : vector<4x8xf32> into f32
  return
}
// -----
func.func @f(%i: index, %m: memref<4xf32>) {
  %0 = vector.load %m[%i, %i] : memref<4xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%i: index, %m: memref<4xf32>) {
  %0 = vector.load %m[%i] : memref<4xf32>, vector<4xf16>
  return
}
// -----
func.func @f(%x: i32) {
  linalg.yield %x : i32
  return
}
// -----
func.func @f() {
  %0 = linalg.index 0 : index
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>) {
  linalg.fill ins(%x : i32) outs(%m : memref<4xf32>)
  return
}
// -----
func.func @f(%m: memref<4xf32>, %n: memref<4x8xf32>) {
  linalg.copy ins(%m : memref<4xf32>) outs(%n : memref<4x8xf32>)
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel"]} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%q: f32, %w: f32):
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%q: f32, %w: i32):
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%q: f32, %w: f32):
    linalg.yield %q, %q : f32, f32
  } -> tensor<4x8xf32>
  return
}
// -----
func.func @f(%a: tensor<4x8xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%q: f32, %w: f32):
    linalg.yield %q : f32
  } -> tensor<4x4xf32>
  return
}
// -----
"func.func"() ({}) {function_type = () -> ()} : () -> ()
// -----
func.func @f(%x: i32, %x: i32) {
  return
}
// -----
func.func @f() -> {
  return
}
// -----
func.func @f(i32)
// -----
func.func nested @f(%x: i32) -> i32 {
  return
}
// -----
module {
  func.func @f() {
    return
  }
// -----
module {
}
}
// -----
hello
// -----
#a = 5 : i
func.func @f() {
  return
}
// -----
func.func @f() {
  return loc(foo)
}
// -----
func.func private @f(memref<4x4xf32, strided<[1]>>)
// -----
func.func private @f(memref<4x4xf32, foo>)
// -----
func.func private @f(tensor<4x4>)
// -----
func.func private @f((i32) -> )
// -----
func.func private @f(tuple<i32, )
// -----
func.func @f() attributes {a = array<i32: 1, foo>} {
  return
}
// -----
func.func @f() attributes {a = 99999999999999999999 : i32} {
  return
}
// -----
func.func @f() attributes {a = 0xFFFFFFFFF : f32} {
  return
}
// -----
func.func @f() {
^bb0(%x: i32):
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x : i32
}
// -----
func.func @f(%x: i32) {
  cf.br ^bb1
^bb1:
}
// -----
func.func @f(%x: i32) -> i32 {
  return %x : i32
}
func.func @f() {
  return
}
// -----
func.func public @f(i32)
// -----
func.func @f(i32) {
  return
}
// -----
func.func @f(%x) {
  return
}
// -----
func.func f() {
  return
}
// -----
func.func @f() -> i32 {
  return
}
// -----
func.func private @f(memref<4xf32, strided<[1], offset: x>>)
// -----
func.func private @f(memref<4xf32, strided<[1, 2]>>)
// -----
func.func private @f(memref<4xf32, affine_map<(d0, d1) -> (d0)>>)
// -----
func.func private @f(vector<0xf32>)
// -----
func.func private @f(vector<?xf32>)
// -----
func.func private @f(tensor<f32, 4>)
// -----
func.func private @f(tensor<4x)
// -----
#a = 5
#a = 6
func.func private @f()
// -----
!a = i32
func.func private @f(!a, !b)
// -----
module {
  return
}
// -----
module @a @b {
}
// -----
%0 = arith.constant 1 : i32
// -----
func.func private @f() attributes {a = [1, 2}
// -----
func.func private @f() attributes {a = {b = 1}
// -----
func.func private @f() attributes {a = 1.5 : i32}
// -----
func.func private @f() attributes {a = unit, a}
// -----
func.func private @f() attributes {a = array<f32: 1>}
// -----
func.func private @f() attributes {a = dense<[1, 2.0]> : tensor<2xi32>}
// -----
func.func private @f() attributes {a = dense<[1, 2]> : i32}
// -----
func.func private @f() attributes {a = dense<1>}
// -----
func.func @f(%x: i32) {
  %0 arith.addi %x, %x : i32
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.broadcast %a : vector<4xf32> to vector<3xf32>
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.extract %a[4] : f32 from vector<4xf32>
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.extract %a[1] : i32 from vector<4xf32>
  return
}
// -----
func.func @f(%a: vector<4xf32>, %b: i32) {
  %0 = vector.insert %b, %a[1] : i32 into vector<4xf32>
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.reduction <and>, %a : vector<4xf32> into f32
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.shuffle %a, %a [0, 9] : vector<4xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%a: vector<4xi32>) {
  %0 = vector.fma %a, %a, %a : vector<4xi32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index) {
  %0 = vector.load %m[%i] : memref<4xf32>, vector<4xi32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %v: vector<4xi32>) {
  vector.store %v, %m[%i] : memref<4xf32>, vector<4xi32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %p: f32) {
  %0 = vector.transfer_read %m[%i, %i], %p : memref<4xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %p: i32) {
  %0 = vector.transfer_read %m[%i], %p : memref<4xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%i: index) {
  %0 = vector.create_mask %i, %i : vector<4xi1>
  return
}
// -----
func.func @f() {
  %0 = vector.constant_mask [5] : vector<4xi1>
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.shape_cast %a : vector<4xf32> to vector<3xf32>
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.bitcast %a : vector<4xf32> to vector<4xi16>
  return
}
// -----
func.func @f() {
  %0 = vector.step : vector<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %v: vector<4xi32>, %k: vector<3xi1>, %p: vector<4xf32>) {
  %0 = vector.gather %m[%i] [%v], %k, %p : memref<4xf32>, vector<4xi32>, vector<3xi1>, vector<4xf32> into vector<4xf32>
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.transpose %a, [1] : vector<4xf32> to vector<4xf32>
  return
}
// -----
func.func @f(%a: vector<4x4xf32>, %b: vector<3xf32>) {
  %0 = vector.multi_reduction <add>, %a, %b [1] : vector<4x4xf32> to vector<3xf32>
  return
}
// -----
func.func @f(%a: vector<4x4xf32>) {
  %0 = vector.transpose %a, [0, 0] : vector<4x4xf32> to vector<4x4xf32>
  return
}
// -----
func.func @f(%a: vector<4x4xf32>) {
  %0 = vector.transpose %a, [0] : vector<4x4xf32> to vector<4x4xf32>
  return
}
// -----
func.func @f(%a: vector<4x4xf32>) {
  %0 = vector.transpose %a, [0, 1] : vector<4x4xf32> to vector<16xf32>
  return
}
// -----
func.func @f(%a: vector<4x8xf32>) {
  %0 = vector.transpose %a, [1, 0] : vector<4x8xf32> to vector<4x8xf32>
  return
}
// -----
func.func @f(%a: vector<4x8xf32>) {
  %0 = vector.transpose %a, [1, 0] : vector<4x8xf32> to vector<8x4xi32>
  return
}
// -----
func.func @f(%a: vector<4xi32>) {
  %0 = vector.reduction <maxnumf>, %a : vector<4xi32> into i32
  return
}
// -----
func.func @f(%a: vector<4xindex>) {
  %0 = vector.reduction <add>, %a : vector<4xindex> into index
  return
}
// -----
func.func @f(%a: vector<4xindex>) {
  %0 = vector.reduction <xor>, %a : vector<4xindex> into index
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.reduction <minsi>, %a : vector<4xf32> into f32
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.reduction <maximumf>, %a : vector<4xf32> into f32
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.bitcast %a : vector<4xf32> to vector<2x2xf32>
  return
}
// -----
func.func @f(%a: vector<4x4xf32>) {
  %0 = vector.bitcast %a : vector<4x4xf32> to vector<2x8xf32>
  return
}
// -----
func.func @f() {
  %0 = vector.constant_mask [1, 1] : vector<4xi1>
  return
}
// -----
func.func @f() {
  %0 = vector.constant_mask [0, 1] : vector<4x4xi1>
  return
}
// -----
func.func @f() {
  %0 = vector.step : vector<4x4xindex>
  return
}
// -----
func.func @f(%a: vector<4x4xf32>, %b: vector<4xf32>) {
  %0 = vector.multi_reduction <add>, %a, %b [2] : vector<4x4xf32> to vector<4xf32>
  return
}
// -----
func.func @f(%a: vector<4x4xf32>, %b: vector<4xi32>) {
  %0 = vector.multi_reduction <add>, %a, %b [1] : vector<4x4xf32> to vector<4xi32>
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.shuffle %a, %a [9, 0] : vector<4xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%a: vector<4xf32>, %b: vector<4xi32>) {
  %0 = vector.shuffle %a, %b [0, 1] : vector<4xf32>, vector<4xi32>
  return
}
// -----
func.func @f(%a: vector<4x4xf32>, %b: f32) {
  %0 = vector.insert %b, %a[1] : f32 into vector<4x4xf32>
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.extract %a[1, 1] : f32 from vector<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %k: vector<3xi1>, %p: vector<4xf32>) {
  %0 = vector.maskedload %m[%i], %k, %p : memref<4xf32>, vector<3xi1>, vector<4xf32> into vector<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %k: vector<4xi1>, %p: vector<4xi32>) {
  %0 = vector.maskedload %m[%i], %k, %p : memref<4xf32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %k: vector<3xi1>, %p: vector<4xf32>) {
  vector.maskedstore %m[%i], %k, %p : memref<4xf32>, vector<3xi1>, vector<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %k: vector<4xi1>, %p: vector<4xi32>) {
  vector.maskedstore %m[%i], %k, %p : memref<4xf32>, vector<4xi1>, vector<4xi32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %k: vector<4xi1>, %p: vector<4xf32>) {
  %0 = vector.maskedload %m[%i, %i], %k, %p : memref<4xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %v: vector<4xf32>) {
  vector.store %v, %m[%i, %i] : memref<4xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %v: vector<3xi32>, %k: vector<4xi1>, %p: vector<4xf32>) {
  %0 = vector.gather %m[%i] [%v], %k, %p : memref<4xf32>, vector<3xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %v: vector<4xi32>, %k: vector<4xi1>, %p: vector<4xi32>) {
  %0 = vector.gather %m[%i] [%v], %k, %p : memref<4xf32>, vector<4xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %v: vector<4xi32>, %k: vector<3xi1>, %p: vector<4xf32>) {
  vector.scatter %m[%i] [%v], %k, %p : memref<4xf32>, vector<4xi32>, vector<3xi1>, vector<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %v: vector<3xi32>, %k: vector<4xi1>, %p: vector<4xf32>) {
  vector.scatter %m[%i] [%v], %k, %p : memref<4xf32>, vector<3xi32>, vector<4xi1>, vector<4xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index, %v: vector<4xi32>, %k: vector<4xi1>, %p: vector<4xi32>) {
  vector.scatter %m[%i] [%v], %k, %p : memref<4xf32>, vector<4xi32>, vector<4xi1>, vector<4xi32>
  return
}
// -----
func.func @f(%a: vector<4xf32>, %b: vector<8xf32>, %c: vector<4x4xf32>) {
  %0 = vector.outerproduct %a, %b, %c : vector<4xf32>, vector<8xf32>
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.interleave %a, %a : vector<4xf32> -> vector<4xf32>
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0, %1 = vector.deinterleave %a : vector<4xf32> -> vector<4xf32>
  return
}
// -----
func.func @f(%a: vector<4x8xf32>, %b: vector<8xf32>) {
  %0:2 = vector.scan <add>, %a, %b {inclusive = true, reduction_dim = 1 : i64} : vector<4x8xf32>, vector<8xf32>
  return
}
// -----
func.func @f(%a: vector<4x8xf32>, %b: vector<8xf32>) {
  %0:2 = vector.scan <add>, %a, %b {inclusive = true, reduction_dim = 2 : i64} : vector<4x8xf32>, vector<8xf32>
  return
}
// -----
func.func @f(%a: vector<3xf32>) {
  %0:2 = vector.to_elements %a : vector<3xf32>
  return
}
// -----
func.func @f(%a: f32) {
  %0 = vector.broadcast %a : f32 to vector<3xi32>
  return
}
// -----
func.func @f(%a: vector<3x3xf32>) {
  %0 = vector.broadcast %a : vector<3x3xf32> to vector<3xf32>
  return
}
// -----
func.func @f(%a: vector<4xf32>) {
  %0 = vector.shape_cast %a : vector<4xf32> to vector<4xi32>
  return
}
// -----
#m = affine_map<(d0) -> (d0 + )>
// -----
#m = affine_map<(d0) -> (+ d0)>
// -----
#m = affine_map<(d0) -> ()
// -----
#m = affine_map<(d0) -> (d0, )>
// -----
#m = affine_map<(d0) -> d0>
// -----
#m = affine_map<(d0) (d0)>
// -----
#m = affine_map<(d0)[s0 -> (d0)>
// -----
#m = affine_map<(d0 -> (d0)>
// -----
#m = affine_map<d0 -> (d0)>
// -----
#m = affine_map<(d0) -> (d0 d0)>
// -----
#m = affine_map<(d0) -> ((d0)>
// -----
#m = affine_map<(d0) -> (x)>
// -----
#m = affine_map<(d0, d0) -> (d0)>
// -----
#m = affine_map<(d0) -> (d0 * d0)>
// -----
#m = affine_map<(d0)[3] -> (d0)>
// -----
#m = affine_map<(3) -> (d0)>
// -----
#m = affine_map<(d0) -> (d0 mod d0)>
// -----
#m = affine_map<(d0) -> (d0 ceildiv s0)>
// -----
#m = affine_map (d0) -> (d0)
// -----
#m = affine_map<(d0) -> (d0)
// -----
#m = affine_set<(d0) : (d0)>
// -----
#m = affine_set<(d0) : (d0 >= )>
// -----
#m = affine_set<(d0) : (d0 > 0)>
// -----
#m = affine_set<(d0) (d0 >= 0)>
// -----
#m = affine_map<(d0) -> (d0 + "x")>
// -----
#m = affine_map<(d0) -> (%d0)>
// -----
#m = affine_map<(d0) -> (d0 * 99999999999999999999)>
// -----
#m = affine_map<() -> ( ())>
// -----
func.func @f(tensor 4xf32>) {
  return
}
// -----
func.func @f(tensor<4xf32) {
  return
}
// -----
func.func @f(memref 4xf32>) {
  return
}
// -----
func.func @f(memref<4xf32) {
  return
}
// -----
func.func @f(vector 4xf32>) {
  return
}
// -----
func.func @f(vector<4xf32) {
  return
}
// -----
func.func @f(complex f32>) {
  return
}
// -----
func.func @f(complex<f32) {
  return
}
// -----
func.func @f(tuple f32>) {
  return
}
// -----
func.func @f(tuple<f32) {
  return
}
// -----
func.func @f(!) {
  return
}
// -----
func.func @f(()) {
  return
}
// -----
func.func @f((i32) {
  return
}
// -----
func.func @f(i32, %b: i32) {
  return
}
// -----
func.func @f(%b: i32, i32) {
  return
}
// -----
func.func @f(%b: i32, ) {
  return
}
// -----
func.func @f(%b i32) {
  return
}
// -----
func.func @f(=) {
  return
}
// -----
func.func @f(%b: i32 {a = #}) {
  return
}
// -----
func.func @f(tensor<4xf32) {
  return
}
// -----
func.func @f(%a: i32, %a: i32) {
  return
}
// -----
func.func @f(%) {
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.subview %m[] [=] [1] : memref<4xf32> to memref<2xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.subview %m[0 [2] [1] : memref<4xf32> to memref<2xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.subview %m[1.5] [2] [1] : memref<4xf32> to memref<2xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.subview %m[x] [2] [1] : memref<4xf32> to memref<2xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.subview %m{0} [2] [1] : memref<4xf32> to memref<2xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.subview %m[0] [2] [1 : memref<4xf32> to memref<2xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.subview %m[0] [2,] [1] : memref<4xf32> to memref<2xf32>
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = arith.extsi %x : i32 too i64
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 := arith.addi %x, %x : i32
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = arith.constant - : i32
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  cf.br : ^bb1(%x : i32)
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  cf.br ^
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = arith.addi %x, % : i32
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = arith.addi %1, %x : i32
  %1 = arith.constant 1 : index
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = arith.constant dense 1 : tensor<2xi32>
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = arith.constant 1 : ()
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = arith.addi %x, %x {1 = 2} : i32
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = arith.addi %x, %x {a = 1, , b} : i32
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = memref.extract_aligned_pointer_as_index %m : memref<4xf32> -> i32
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = linalg.reduce [{ arith.addf } ins(%t : tensor<4x8xf32>) outs(%t : tensor<4x8xf32>) dimensions = [1]
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = linalg.transpose ins(%t : tensor<4x8xf32>) outs(%t : tensor<4x8xf32>) permutaion = [1, 0]
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  scf.for %i = %x too %x step %x {
  }
  return
}
// -----
func.func @f(%x: i32, %m: memref<4xf32>, %t: tensor<4x8xf32>) {
  %0 = tensor.cast %t : tensor<4x8xf32> : tensor<?x8xf32>
  return
}
// -----
func.func @f(%x: i32) {
  cf.br ^bb1
^bb1 cf.br ^bb1
}
// -----
func.func @f(%x: i32) {
  cf.br ^bb1
^bb1:
  %0 = arith.addi %x, %x i32
  return
}
// -----
#m = affine_map<(d0) -> (d0 + * 2)>
// -----
func.func @f(%m: memref<4xf32, 1 : i32) {
  return
}
// -----
func.func @f(%m: memref<4xf32>, %i: index) {
  %0 = memref.load %m[%i] : f32
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  memref.dealloc %m : index
  return
}
// -----
func.func @f(%m: memref<4xf32>, %k: vector<8xi1>, %v: vector<8xf32>, %i: index) {
  vector.maskedstore %m[%i], %k, %v : memref<4xf32>, index, vector<8xf32>
  return
}
// -----
func.func @f(%t: tensor<4xf32>, %i: index) {
  %0 = tensor.extract %t[%i] : si32
  return
}
// -----
func.func @f(%x: i32) -> i32 {
  return %x : indx
}
// -----
func.func @f(%p: i1, %x: i32) -> i32 {
  %0 = scf.if %p -> i32 {
    scf.yield %x :
  } else {
    scf.yield %x : i32
  }
  return %0 : i32
}
// -----
func.func @f(%a: i32, %0#1: f32) {
  return
}
// -----
func.func @f(%a: tensor<99999999999999999999x8xf32>) {
  return
}
// -----
func.func @f(%v: vector<4x8xf32>) {
  %0 = vector.transpose %v, [1, x] : vector<4x8xf32> to vector<8x4xf32>
  return
}
// -----
func.func @f(%v: vector<8xf32>) {
  %0 = vector.shuffle %v, %v [0, -] : vector<8xf32>, vector<8xf32>
  return
}
// -----
func.func @f(%v: vector<8xf32>) {
  %0 = vector.shuffle %v, %v [0, 1] : vector<8xf32>
  return
}
// -----
func.func @f(%m: memref<4xf32>) {
  %0 = memref.expand_shape %m [[?, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  return
}
// -----
func.func @f(%p: i1, %x: i32) {
  %0 = arith.select %p %x, %x : i32
  return
}
// -----
func.func @f(%x: i32) {
  %0 = arith.addi %x, %x : i32 i32
  return
}
// -----
func.func @f(%e: f32, %t: tensor<4xf32>) {
  %0 = linalg.fill ins( : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @f(%e: f32, %t: tensor<4xf32>) {
  %0 = linalg.fill ins(%e : f32) outs(3 : tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @f(%c: index) {
  scf.parallel (%i) = (%c to (%c) step (%c) {
    scf.reduce
  }
  return
}
// -----
func.func @f(%x: i32) {
  %w = scf.while (%a = %x) : i32) -> i32 {
    scf.condition(%a) %a : i32
  } do {
  ^bb0(%b: i32):
    scf.yield %b : i32
  }
  return
}
// -----
func.func @f(%y: f32) {
  %0 = arith.mulf %y, %y fastmath<fat> : f32
  return
}
// -----
func.func @f(%y: f32) attributes {a = -5 : ui8} {
  return
}
// -----
func.func @f(%v: vector<0x10xi32>) {
  return
}
// -----
func.func @f(%y: !foo.bar) {
  return
}
// -----
func.func @f(%y: memref<16xf32,>) {
  return
}
// -----
memref.global "private" constant @g : i1 = dense<1.0>
// -----
func.func @f(%x: i32) {
  cf.br ^bb1(%x : i32)
^bb1(%b: ):
  return
}
// -----
func.func @f(%x: i32) {
  cf.br ^bb1(%x : i32)
^bb1(%b %b: i32):
  return
}
// -----
func.func @f(%x: i32) {
  @%0 = arith.addi %x, %x : i32
  return
}
// -----
func.func @f() {
  %0 = arith.constant dense<[, 2.0]> : tensor<2xf32>
  return
}
// -----
func.func @f(%t: tensor<4x8xf32>, %a: tensor<2x4xf32>) {
  %1 = tensor.insert_slice %a into %t[0, 0] [2, 4] [1, 99999999999999999999] : tensor<2x4xf32> into tensor<4x8xf32>
  return
}

// -----

module attributes {b.c, a = 1} {
}

// -----

func.func @f(%i: index) -> index {
  %0 = affine.min affine_map<(d0) -> (d0, -)>(%i)
  return %0 : index
}

// -----

func.func @f(%i: index) -> index {
  %0 = affine.min affine_map<(d0) -> (d0, - -(d0 + ))>(%i)
  return %0 : index
}

// -----

func.func @f(%i: index) -> index {
  %0 = affine.min affine_map<(d0) -> (d0 * 2 + -)>(%i)
  return %0 : index
}

// -----

func.func @f(%m: memref<4xf32, 3>) -> index {
  return %m : index
}

// -----

func.func @f() {
  %0 = arith.constant dense<> : vector<4xi32>
  return
}

// -----

func.func private @f(memref<4xf32, strided<[1], offset 3>>)

// -----

func.func private @f(memref<4xf32, strided<[1], off: 3>>)

// -----

func.func @f(%n: index, %m: memref<8xf32>, %z: f32) {
  %c1 = arith.constant 1 : index
  memref.store %z, %m[%i] : memref<8xf32>
  scf.for %i = %c1 to %n step %c1 {
    memref.store %z, %m[%i] : memref<8xf32>
  }
  return
}

// -----

func.func @f(%p: i1, %x: i32) -> i32 {
  cf.cond_br %p, ^bb1(%x : i32), ^bb2
^bb1(%a: i32):
  %0 = arith.muli %a, %a : i32
  cf.br ^bb3(%0 : i32)
^bb2:
  cf.br ^bb3(%a : i32)
^bb3(%r: i32):
  return %r : i32
}

// -----

func.func @f(%p: i1, %x: i32) -> i32 {
  cf.cond_br %p, ^bb1(%x : i32), ^bb2
^bb1(%a: i32):
  %0 = arith.muli %a, %a : i32
  cf.br ^bb3(%0 : i32)
^bb2:
  cf.br ^bb3(%0 : i32)
^bb3(%r: i32):
  return %r : i32
}

// -----

func.func @f(%p: i1, %x: i32) -> i32 {
  %1 = arith.muli %0, %x : i32
  %0 = arith.muli %x, %x : i32
  return %1 : i32
}

// -----

func.func @f(%p: i1, %x: i32) -> i32 {
  scf.if %p {
  %1 = arith.muli %0, %x : i32
  }
  %0 = arith.muli %x, %x : i32
  return %0 : i32
}

// -----

func.func @f(%p: i1, %x: i32) -> i32 {
  "scf.if" (%p) ({
  %1 = arith.muli %x, %x : i32
  scf.yield
  }, {}) : (i1) -> ()
  return %1 : i32
}

// -----

func.func @f(%p: i1, %x: index) -> index {
  cf.cond_br %p, ^bb1(%x : index), ^bb2
^bb1(%a: index):
  return %a : index
^bb2:
  scf.for %i = %x to %x step %x {
    %0 = arith.muli %a, %x : index
  }
  return %x : index
}

// -----

func.func @f(%p: i1, %x: index) -> index {
  scf.if %p {
    %2 = arith.muli %x, %x : index
  } else {
    %3 = arith.muli %2, %x : index
  }
  return %x : index
}

// -----

func.func @f() -> memref<4xf32> {
  %0 = memref.get_global @g : memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

memref.global "private" constant @g : memref<5xf32> = dense<1.0>
func.func @f() -> memref<4xf32> {
  %0 = memref.get_global @g : memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

func.func private @g()
func.func @f() -> memref<4xf32> {
  %0 = memref.get_global @g : memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c0) {
    scf.reduce
  }
  return
}

// -----

func.func @f(%v: memref<16xf32>, %i: index, %x: vector<8xf32>) {
  vector.transfer_write %x, %v[%i %i] : vector<8xf32>, memref<16xf32>
  return
}

// -----

func.func @f(%i: index) {
  %0 = affine.apply affine_map<(d0) -> (d0)>(%i %i)
  return
}

// -----

func.func @f(%i: index) {
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%i
  return
}

// -----

#map affine_map<(d0) -> (d0)>
func.func @f(%i: index) {
  return
}

// -----

!t i32
func.func @f(%i: !t) {
  return
}

// -----

func.func @f(%m: memref<4xf32>) {
  %0 = memref.dealloc %m : memref<4xf32>
  return
}

// -----

func.func @f(%i: i1) {
  %0, %1 = cf.assert %i, "x"
  return
}

// -----

func.func @f(%b: vector<8xf32>) {
  %4 = vector.extract_strided_slice %b {offsets = [2], sizes = [4], strides = [2]} : vector<8xf32> to vector<4xf32>
  return
}

// -----

func.func @f(%a: vector<4xf32>, %b: vector<8xf32>) {
  %5 = vector.insert_strided_slice %a, %b {offsets = [2], strides = [3]} : vector<4xf32> into vector<8xf32>
  return
}
