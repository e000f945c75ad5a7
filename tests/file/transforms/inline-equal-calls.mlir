// Calls that compute the same are inlined once, nested ones too; calls that touch memory, or whose function is defined
// elsewhere, are not merged.
// RUN: tilewright-opt %s --inline | filecheck %s

// CHECK-LABEL: @numbers
// CHECK-COUNT-2: arith.divsi
// CHECK-NOT: arith.divsi
// CHECK-LABEL: @memory
// CHECK-COUNT-2: tt.atomic_rmw
// CHECK-LABEL: @elsewhere
// CHECK-COUNT-3: tt.call
tt.func private @half(%x: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %0 = arith.divsi %x, %c2 : i32
  tt.return %0 : i32
}
tt.func private @quarter(%x: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %0 = arith.addi %x, %c1 : i32
  %1 = tt.call @half(%0) : (i32) -> i32
  %2 = tt.call @half(%1) : (i32) -> i32
  tt.return %2 : i32
}
tt.func public @numbers(%x: i32) -> (i32, i32) {
  %0 = tt.call @quarter(%x) : (i32) -> i32
  %1 = tt.call @quarter(%x) : (i32) -> i32
  tt.return %0, %1 : i32, i32
}
tt.func private @next(%p: !tt.ptr<i32>) -> i32 {
  %c1 = arith.constant 1 : i32
  %true = arith.constant true
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return %0 : i32
}
tt.func public @memory(%p: !tt.ptr<i32>) -> (i32, i32) {
  %0 = tt.call @next(%p) : (!tt.ptr<i32>) -> i32
  %1 = tt.call @next(%p) : (!tt.ptr<i32>) -> i32
  tt.return %0, %1 : i32, i32
}
tt.func private @external(%x: i32) -> i32
tt.func public @elsewhere(%x: i32) -> (i32, i32, i32, i32) {
  %0 = tt.call @quarter(%x) : (i32) -> i32
  %1 = tt.call @quarter(%x) : (i32) -> i32
  %2 = tt.call @external(%x) : (i32) -> i32
  %3 = tt.call @external(%x) : (i32) -> i32
  %4 = tt.call @external(%x) : (i32) -> i32
  %5 = arith.addi %0, %1 : i32
  tt.return %2, %3, %4, %5 : i32, i32, i32, i32
}
