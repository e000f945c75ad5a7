// RUN: tilewright-opt %s --split-input-file --triton-to-unstructured | filecheck %s
// RUN: tilewright-opt %s --split-input-file --inline="insists-on-pointers" | filecheck %s --check-prefix=INLINED

// Addresses of a kernel without pointer arguments are counted from one that no launch passes.

// CHECK-LABEL: tt.func public @k(
// CHECK-SAME:  %arg0: i64, %arg1: !tt.ptr<i8> {tilewright.address_zero, tt.divisibility = 1073741824 : i32}) {
// CHECK:       %[[BASE:.*]] = tt.bitcast %arg1 : !tt.ptr<i8> -> !tt.ptr<f32>
// CHECK:       tts.scatter %{{.*}} into %[[BASE]][%{{.*}}]
tt.func public @k(%a: i64) {
  %v = arith.constant 1.000000e+00 : f32
  %p = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
}

// -----

// Where there is a pointer argument, it serves.

// CHECK-LABEL: tt.func public @beside(
// CHECK-SAME:  %arg0: i64, %arg1: !tt.ptr<f32>) {
// CHECK:       tts.scatter %{{.*}} into %arg1[%{{.*}}]
tt.func public @beside(%a: i64, %p: !tt.ptr<f32>) {
  %v = arith.constant 1.000000e+00 : f32
  %q = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
  tt.store %q, %v : !tt.ptr<f32>
  tt.return
}

// -----

// A function that no pointer is passed to is inlined on its account; one that makes no pointers may stay.

// INLINED-LABEL: tt.func public @calls(
// INLINED:         tt.store
// INLINED:         tt.call @number
// INLINED-NOT:   tt.func private @stores
tt.func public @calls(%a: i64) -> i64 {
  tt.call @stores(%a) : (i64) -> ()
  %0 = tt.call @number(%a) : (i64) -> i64
  tt.return %0 : i64
}
tt.func private @stores(%a: i64) attributes {noinline = true} {
  %v = arith.constant 1.000000e+00 : f32
  %p = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
}
tt.func private @number(%a: i64) -> i64 attributes {noinline = true} {
  %0 = arith.addi %a, %a : i64
  tt.return %0 : i64
}
