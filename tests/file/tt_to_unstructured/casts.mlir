// RUN: tilewright-opt %s --triton-to-unstructured | filecheck %s

// Lanes that need not be multiples of their size are read as narrower integers; where they are, at once.

// CHECK-LABEL: tt.func public @lanes
// CHECK-COUNT-2: -> tensor<8xi32>
// CHECK-NOT:   tts.gather
// CHECK:       tts.scatter
tt.func public @lanes(%x: !tt.ptr<i32>, %y: !tt.ptr<i64>, %n: tensor<8xi32>) {
  %s = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %p = tt.addptr %s, %n : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %q = tt.bitcast %p : tensor<8x!tt.ptr<i32>> -> tensor<8x!tt.ptr<i64>>
  %v = tt.load %q : tensor<8x!tt.ptr<i64>>
  %t = tt.splat %y : !tt.ptr<i64> -> tensor<8x!tt.ptr<i64>>
  tt.store %t, %v : tensor<8x!tt.ptr<i64>>
  tt.return
}

// CHECK-LABEL: tt.func public @even_lanes
// CHECK-COUNT-1: tts.gather {{.*}} -> tensor<8xi64>
// CHECK-NOT:   tts.gather
tt.func public @even_lanes(%x: !tt.ptr<i64>, %y: !tt.ptr<i64>, %n: tensor<8xi32>) {
  %two = arith.constant dense<2> : tensor<8xi32>
  %even = arith.muli %n, %two : tensor<8xi32>
  %narrow = tt.bitcast %x : !tt.ptr<i64> -> !tt.ptr<i32>
  %s = tt.splat %narrow : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %p = tt.addptr %s, %even : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %q = tt.bitcast %p : tensor<8x!tt.ptr<i32>> -> tensor<8x!tt.ptr<i64>>
  %v = tt.load %q : tensor<8x!tt.ptr<i64>>
  %t = tt.splat %y : !tt.ptr<i64> -> tensor<8x!tt.ptr<i64>>
  tt.store %t, %v : tensor<8x!tt.ptr<i64>>
  tt.return
}

// A scalar cast in a loop is a base of its own.

// CHECK-LABEL: tt.func public @scalar
// CHECK:       scf.for
// CHECK:       %[[P:.*]] = tt.addptr %arg0
// CHECK:       %[[Q:.*]] = tt.bitcast %[[P]] : !tt.ptr<i32> -> !tt.ptr<i64>
// CHECK:       tts.gather %[[Q]][
tt.func public @scalar(%x: !tt.ptr<i32>, %y: !tt.ptr<i64>, %n: i32, %one: i32) {
  scf.for %k = %one to %n step %one : i32 {
    %p = tt.addptr %x, %k : !tt.ptr<i32>, i32
    %q = tt.bitcast %p : !tt.ptr<i32> -> !tt.ptr<i64>
    %v = tt.load %q : !tt.ptr<i64>
    tt.store %y, %v : !tt.ptr<i64>
  }
  tt.return
}
