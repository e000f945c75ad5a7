// RUN: tilewright-opt %s --structured-to-memref --canonicalize --cse | filecheck %s

// Each element is read by itself, as often as the load stands there: in each round of the loop.
// CHECK-LABEL: @until_all_are_set
// CHECK: scf.while
// CHECK: linalg.generic
// CHECK: memref.load %{{.*}} {tilewright.volatile}
// CHECK: scf.condition
func.func @until_all_are_set(%x: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %p = tts.make_tptr %x to sizes: [4], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<4x!tt.ptr<i32>>
  scf.while : () -> () {
    %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> {isVolatile = true} : (tensor<4x!tt.ptr<i32>>) -> tensor<4xi32>
    %e = tensor.extract %v[%c0] : tensor<4xi32>
    %more = arith.cmpi ne, %e, %one : i32
    scf.condition(%more)
  } do {
    scf.yield
  }
  return
}

// With a mask: dead lanes are not read. Two loads of one place are two.
// CHECK-LABEL: @twice
// CHECK-COUNT-2: memref.load %{{.*}} {tilewright.volatile}
// CHECK-NOT: memref.copy
func.func @twice(%x: !tt.ptr<i32>, %n: index, %y: !tt.ptr<i32>) {
  %z = arith.constant 7 : i32
  %p = tts.make_tptr %x to sizes: [4], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<4x!tt.ptr<i32>>
  %q = tts.make_tptr %y to sizes: [4], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<4x!tt.ptr<i32>>
  %a = "tts.load"(%p, %n, %z) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> {isVolatile = true} : (tensor<4x!tt.ptr<i32>>, index, i32) -> tensor<4xi32>
  %b = "tts.load"(%p, %n, %z) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> {isVolatile = true} : (tensor<4x!tt.ptr<i32>>, index, i32) -> tensor<4xi32>
  %s = arith.subi %a, %b : tensor<4xi32>
  "tts.store"(%q, %s) <{static_mask_dims = array<i64>}> : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>) -> ()
  return
}
