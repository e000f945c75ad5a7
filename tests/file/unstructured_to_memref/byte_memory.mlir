// RUN: tilewright-opt %s --triton-ptr-to-memref | filecheck %s

// Memory that is read as two types is bytes, with a view for each type.
// CHECK-LABEL: func.func @two_types(%arg0: memref<*xi8> {tt.divisibility = 16 : i32}) -> (memref<*xf32>, memref<*xi16>)
// CHECK: %[[ROW:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [%{{.*}}], strides: [1] : memref<*xi8> to memref<?xi8>
// CHECK: %[[VIEW:.*]] = memref.view %[[ROW]][%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?xi16>
// CHECK: %[[I:.*]] = memref.cast %[[VIEW]] : memref<?xi16> to memref<*xi16>
// CHECK: %[[F:.*]] = memref.cast %{{.*}} : memref<?xf32> to memref<*xf32>
// CHECK-NOT: tt.bitcast
// CHECK: return %[[F]], %[[I]] : memref<*xf32>, memref<*xi16>
func.func @two_types(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) -> (memref<*xf32>, memref<*xi16>) {
  %f = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to memref<*xf32>
  %q = tt.bitcast %x : !tt.ptr<f32> -> !tt.ptr<i16>
  %i = builtin.unrealized_conversion_cast %q : !tt.ptr<i16> to memref<*xi16>
  return %f, %i : memref<*xf32>, memref<*xi16>
}

// What control flow and calls merge with it is bytes as well; a pointer that is never cast keeps its type.
// CHECK-LABEL: func.func @merged(%arg0: i1, %arg1: memref<*xi8>, %arg2: memref<*xi8>, %arg3: memref<*xf32>)
// CHECK: %[[P:.*]] = arith.select %arg0, %arg1, %arg2 : memref<*xi8>
// CHECK: call @callee(%[[P]]) : (memref<*xi8>) -> memref<*xi8>
func.func @merged(%c: i1, %x: !tt.ptr<f32>, %y: !tt.ptr<i64>, %z: !tt.ptr<f32>) -> (memref<*xi64>, memref<*xf32>) {
  %q = tt.bitcast %y : !tt.ptr<i64> -> !tt.ptr<f32>
  %p = arith.select %c, %x, %q : !tt.ptr<f32>
  %r = func.call @callee(%p) : (!tt.ptr<f32>) -> !tt.ptr<f32>
  %a = builtin.unrealized_conversion_cast %y : !tt.ptr<i64> to memref<*xi64>
  %b = builtin.unrealized_conversion_cast %z : !tt.ptr<f32> to memref<*xf32>
  return %a, %b : memref<*xi64>, memref<*xf32>
}

// CHECK-LABEL: func.func private @callee(%arg0: memref<*xi8>) -> memref<*xi8>
func.func private @callee(%x: !tt.ptr<f32>) -> !tt.ptr<f32> {
  return %x : !tt.ptr<f32>
}

// Memory of a function without a body is what that function says: the cast stays.
// CHECK-LABEL: func.func @declared
// CHECK: tt.bitcast
func.func private @outside(!tt.ptr<i32>)
func.func @declared(%x: !tt.ptr<f32>) -> memref<*xf32> {
  %q = tt.bitcast %x : !tt.ptr<f32> -> !tt.ptr<i32>
  func.call @outside(%q) : (!tt.ptr<i32>) -> ()
  %f = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to memref<*xf32>
  return %f : memref<*xf32>
}
