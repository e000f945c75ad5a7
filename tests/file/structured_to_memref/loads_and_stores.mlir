// RUN: tilewright-opt %s --structured-to-memref --canonicalize --cse | filecheck %s

// CHECK-LABEL: @whole
// CHECK: %[[M:.*]] = builtin.unrealized_conversion_cast %arg0 : !tt.ptr<f32> to memref<*xf32>
// CHECK: %[[P:.*]] = memref.reinterpret_cast %[[M]] to offset: [12], sizes: [4, 8], strides: [16, 1] : memref<*xf32> to memref<4x8xf32, strided<[16, 1], offset: 12>>
// CHECK: %[[B:.*]] = memref.alloc() : memref<4x8xf32>
// CHECK-NEXT: memref.copy %[[P]], %[[B]]
// CHECK-NEXT: %[[T:.*]] = bufferization.to_tensor %[[B]] restrict writable : memref<4x8xf32> to tensor<4x8xf32>
// CHECK: bufferization.materialize_in_destination %[[T]] in writable %{{.*}} : (tensor<4x8xf32>, memref<4x8xf32, strided<[16, 1], offset: 12>>) -> ()
func.func @whole(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %p = tts.make_tptr %x to sizes: [4, 8], strides: [16, 1], offsets: [8, 4], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>) -> tensor<4x8xf32>
  %q = tts.make_tptr %y to sizes: [4, 8], strides: [16, 1], offsets: [8, 4], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  "tts.store"(%q, %v) <{static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
  return
}

// One dynamic and one static count: one comparison, a fill where it says so, and a copy of the live box.
// CHECK-LABEL: @masked(
// CHECK: %[[S:.*]] = arith.cmpi slt, %arg3, %c8 : index
// CHECK-NEXT: scf.if %[[S]] {
// CHECK-NEXT: linalg.fill ins(%{{.*}} : bf16) outs(%[[B:.*]] : memref<4x8xbf16>)
// CHECK: memref.subview %{{.*}}[0, 0] [4, %arg3] [1, 1] : memref<4x8xbf16, strided<[?, 1]>> to memref<4x?xbf16, strided<[?, 1]>>
// CHECK: memref.subview %[[B]][0, 0] [4, %arg3] [1, 1] : memref<4x8xbf16> to memref<4x?xbf16, strided<[8, 1]>>
// CHECK: memref.copy
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [4, %arg3] [1, 1] : tensor<4x8xbf16> to tensor<4x?xbf16>
// CHECK: bufferization.materialize_in_destination
func.func @masked(%x: !tt.ptr<bf16>, %y: !tt.ptr<bf16>, %ld: index, %n: index, %other: bf16) {
  %p = tts.make_tptr %x to sizes: [4, 8], strides: [%ld, 1], offsets: [0, 0], shape: [0, 0], order: [] : <bf16> to tensor<4x8x!tt.ptr<bf16>>
  %v = "tts.load"(%p, %n, %other) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 4, -9223372036854775808>}> : (tensor<4x8x!tt.ptr<bf16>>, index, bf16) -> tensor<4x8xbf16>
  %q = tts.make_tptr %y to sizes: [4, 8], strides: [%ld, 1], offsets: [0, 0], shape: [0, 0], order: [] : <bf16> to tensor<4x8x!tt.ptr<bf16>>
  "tts.store"(%q, %v, %n) <{static_mask_dims = array<i64: 4, -9223372036854775808>}> : (tensor<4x8x!tt.ptr<bf16>>, tensor<4x8xbf16>, index) -> ()
  return
}

// Known to be partial: the fill has no condition. Without other it is zero.
// CHECK-LABEL: @known_partial
// CHECK: %[[Z:.*]] = arith.constant 0 : i8
// CHECK-NOT: scf.if
// CHECK: linalg.fill ins(%[[Z]] : i8) outs(%{{.*}} : memref<16xi8>)
// CHECK: memref.subview %{{.*}}[0] [10] [1] : memref<16xi8, strided<[1]>> to memref<10xi8, strided<[1]>>
func.func @known_partial(%x: !tt.ptr<i8>) -> tensor<16xi8> {
  %p = tts.make_tptr %x to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <i8> to tensor<16x!tt.ptr<i8>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64: 10>}> : (tensor<16x!tt.ptr<i8>>) -> tensor<16xi8>
  return %v : tensor<16xi8>
}

// A block pointer of any order is a strided box like the others; a box may start anywhere.
// CHECK-LABEL: @column_major_block
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [8, 4], strides: [1, %{{.*}}] : memref<*xf32> to memref<8x4xf32, strided<[1, ?], offset: ?>>
// CHECK: memref.subview %{{.*}}[%[[LO:.*]], 0] [%[[N:.*]], 4] [1, 1] : memref<8x4xf32, strided<[1, ?], offset: ?>> to memref<?x4xf32, strided<[1, ?], offset: ?>>
// CHECK: memref.subview %{{.*}}[%[[LO]], 0] [%[[N]], 4] [1, 1] : memref<8x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
func.func @column_major_block(%x: !tt.ptr<f32>, %ld: index, %o: index, %lo: index, %n: index) -> tensor<8x4xf32> {
  %p = tts.make_tptr %x to sizes: [8, 4], strides: [1, %ld], offsets: [%o, 0], shape: [%ld, %ld], order: [0, 1] : <f32> to !tt.ptr<tensor<8x4xf32>>
  %v = "tts.masked_load"(%p, %lo, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_mask_starts = array<i64: -9223372036854775808, 0>, static_mask_dims = array<i64: -9223372036854775808, 4>}> : (!tt.ptr<tensor<8x4xf32>>, index, index) -> tensor<8x4xf32>
  return %v : tensor<8x4xf32>
}

// A dimension of extent 1 with stride 0 is written with what lies inside of it.
// CHECK-LABEL: @unit_dimension
// CHECK: strides: [16, 1] : memref<*xf32> to memref<1x16xf32, strided<[16, 1]>>
func.func @unit_dimension(%x: !tt.ptr<f32>) -> tensor<1x16xf32> {
  %p = tts.make_tptr %x to sizes: [1, 16], strides: [0, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<1x16x!tt.ptr<f32>>
  %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<1x16x!tt.ptr<f32>>) -> tensor<1x16xf32>
  return %v : tensor<1x16xf32>
}
