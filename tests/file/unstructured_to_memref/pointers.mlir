// RUN: tilewright-opt %s --triton-ptr-to-memref | filecheck %s

// CHECK-LABEL: func.func @signature(%arg0: memref<*xf32> {tt.divisibility = 16 : i32}, %arg1: i32)
func.func @signature(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  return
}

// CHECK-LABEL: func.func private @helper(memref<*xi8>) -> memref<*xi8>
func.func private @helper(!tt.ptr<i8>) -> !tt.ptr<i8>

// Pointers that branches, loops and calls carry are memory too.
// CHECK-LABEL: func.func @carried(%arg0: i1, %arg1: memref<*xi8>, %arg2: memref<*xi8>) -> memref<*xi8>
// CHECK: %[[A:.*]] = scf.if %arg0 -> (memref<*xi8>) {
// CHECK: scf.yield %arg1 : memref<*xi8>
// CHECK: %[[B:.*]] = arith.select %arg0, %[[A]], %arg2 : memref<*xi8>
// CHECK: %[[C:.*]] = call @helper(%[[B]]) : (memref<*xi8>) -> memref<*xi8>
// CHECK: return %[[C]] : memref<*xi8>
func.func @carried(%c: i1, %x: !tt.ptr<i8>, %y: !tt.ptr<i8>) -> !tt.ptr<i8> {
  %a = scf.if %c -> (!tt.ptr<i8>) {
    scf.yield %x : !tt.ptr<i8>
  } else {
    scf.yield %y : !tt.ptr<i8>
  }
  %b = arith.select %c, %a, %y : !tt.ptr<i8>
  %r = func.call @helper(%b) : (!tt.ptr<i8>) -> !tt.ptr<i8>
  return %r : !tt.ptr<i8>
}

// Memory of i1 that is only ever read as i8 is memory of i8.
// CHECK-LABEL: func.func @bits(%arg0: memref<*xi8>)
// CHECK-NEXT: %[[E:.*]] = memref.reinterpret_cast %arg0
func.func @bits(%x: !tt.ptr<i1>) -> memref<1xi8, strided<[1]>> {
  %b = tt.bitcast %x : !tt.ptr<i1> -> !tt.ptr<i8>
  %m = builtin.unrealized_conversion_cast %b : !tt.ptr<i8> to memref<*xi8>
  %e = memref.reinterpret_cast %m to offset: [0], sizes: [1], strides: [1] : memref<*xi8> to memref<1xi8, strided<[1]>>
  return %e : memref<1xi8, strided<[1]>>
}
