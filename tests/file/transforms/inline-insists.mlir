// With `insists`, functions that ask to stay are inlined as well: with tiles as arguments, and pointers into arrays.
// RUN: tilewright-opt %s --inline="insists" | filecheck %s
// RUN: tilewright-opt %s --inline="insists-on-pointers" | filecheck %s --check-prefix=STAYS
// RUN: tilewright-opt %s --inline | filecheck %s --check-prefix=STAYS

// CHECK: tt.func public @k
// CHECK-NOT: tt.call
// CHECK: tt.store
// CHECK-NOT: tt.func
// STAYS: tt.call @store(
// STAYS: tt.func private @store(
tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %q = tt.addptr %p, %n : !tt.ptr<f32>, i32
  tt.call @store(%q, %i) : (!tt.ptr<f32>, tensor<16xi32>) -> ()
  tt.return
}
tt.func private @store(%p: !tt.ptr<f32>, %i: tensor<16xi32>) attributes {noinline = true} {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %1 = tt.addptr %0, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %cst = arith.constant dense<1.000000e+00> : tensor<16xf32>
  tt.store %1, %cst : tensor<16x!tt.ptr<f32>>
  tt.return
}
