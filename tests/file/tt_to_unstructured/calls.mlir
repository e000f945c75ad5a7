// RUN: tilewright-opt %s --triton-to-unstructured | filecheck %s

// Calls pass a base, and an offset where one of them does not pass a base.

// CHECK-LABEL: tt.func public @k
// CHECK:       %[[N:.*]] = arith.extsi %arg1 : i32 to i64
// CHECK:       tt.call @moved(%arg0, %[[N]]) : (!tt.ptr<f32>, i64) -> ()
// CHECK:       tt.call @base(%arg0) : (!tt.ptr<f32>) -> ()
// CHECK-NOT:   tt.addptr
tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {
  %q = tt.addptr %p, %n : !tt.ptr<f32>, i32
  tt.call @moved(%q) : (!tt.ptr<f32>) -> ()
  tt.call @base(%p) : (!tt.ptr<f32>) -> ()
  tt.return
}

// CHECK-LABEL: tt.func private @moved(
// CHECK-SAME:  %arg0: !tt.ptr<f32>, %arg1: i64
// CHECK:       tts.scatter %{{.*}} into %arg0[%arg1]
tt.func private @moved(%p: !tt.ptr<f32>) attributes {noinline = true} {
  %x = arith.constant 1.0 : f32
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func private @base(%arg0: !tt.ptr<f32>)
tt.func private @base(%p: !tt.ptr<f32>) attributes {noinline = true} {
  %x = arith.constant 1.0 : f32
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
}
