// RUN: not tilewright-opt %s --test-print-alignment --split-input-file 2>&1 | filecheck %s
// RUN: not tilewright-opt %s --allocate-shared-memory --split-input-file 2>&1 | filecheck %s

// CHECK: recursion.mlir:7:3: error
// CHECK-SAME: function '@f' calls itself: recursion is not supported on the device
tt.func public @f() {
  tt.call @f() : () -> ()
  tt.return
}

// -----

// CHECK: functions call each other in a circle: @g -> @h -> @g; recursion is not supported on the device
tt.func public @k() {
  tt.call @g() : () -> ()
  tt.return
}
tt.func private @g() {
  tt.call @h() : () -> ()
  tt.return
}
tt.func private @h() {
  tt.call @g() : () -> ()
  tt.return
}
