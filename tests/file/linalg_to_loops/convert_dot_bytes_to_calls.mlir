// RUN: tilewright-opt %s --convert-dot-bytes-to-calls | filecheck %s

// One declaration for all calls of a function; scalars and vectors have functions of their own.
// CHECK-LABEL: @dots
// CHECK: %[[A:.*]] = call @[[WIDE:[a-z0-9_]+]](%arg0, %arg1) : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
// CHECK: %[[B:.*]] = call @[[WIDE]](%[[A]], %arg1)
// CHECK: %[[C:.*]] = call @[[SMALL:[a-z0-9_]+]](%[[B]], %arg1)
// CHECK: call @[[ONE:[a-z0-9_]+]](%arg2, %arg2) : (i32, i32) -> i32
// CHECK-NOT: linalg_ext
// CHECK-COUNT-3: func.func private @{{.*}}
// CHECK-NOT: func.func private
func.func @dots(%a: vector<8xi32>, %b: vector<8xi32>, %c: i32) -> (vector<8xi32>, i32) {
  %0 = linalg_ext.dot_bytes unsigned_lhs %a, %b : vector<8xi32>
  %1 = linalg_ext.dot_bytes unsigned_lhs %0, %b : vector<8xi32>
  %2 = linalg_ext.dot_bytes unsigned_lhs small_lhs %1, %b : vector<8xi32>
  %3 = linalg_ext.dot_bytes %c, %c : i32
  return %2, %3 : vector<8xi32>, i32
}
