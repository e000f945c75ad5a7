// RUN: tilewright-opt %s --triton-to-unstructured | filecheck %s
// RUN: tilewright-opt %s --triton-to-unstructured="offset-bit-width=32" | filecheck %s --check-prefix=NARROW
// RUN: tilewright-opt %s --triton-to-unstructured="offset-bit-width=64" | filecheck %s --check-prefix=WIDE

// One offset keeps its width, a sum does not overflow; a width asked for is used, but never cuts off a wide offset.

// CHECK-LABEL:  tt.func public @widths
// CHECK:        tts.gather %arg0[%arg1] : (<f32>, i32) -> f32
// CHECK:        tts.gather %arg0[%{{.*}}] : (<f32>, i64) -> f32
// CHECK:        tts.gather %arg0[%arg2] : (<f32>, i64) -> f32

// NARROW-LABEL: tt.func public @widths
// NARROW:       tts.gather %arg0[%arg1] : (<f32>, i32) -> f32
// NARROW:       tts.gather %arg0[%{{.*}}] : (<f32>, i32) -> f32
// NARROW:       tts.gather %arg0[%arg2] : (<f32>, i64) -> f32

// WIDE-LABEL:   tt.func public @widths
// WIDE-NOT:     (<f32>, i32)
tt.func public @widths(%x: !tt.ptr<f32>, %i: i32, %j: i64) {
  %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
  %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
  %r = tt.addptr %x, %j : !tt.ptr<f32>, i64
  %a = tt.load %p : !tt.ptr<f32>
  %b = tt.load %q : !tt.ptr<f32>
  %c = tt.load %r : !tt.ptr<f32>
  %ab = arith.addf %a, %b : f32
  %abc = arith.addf %ab, %c : f32
  tt.store %r, %abc : !tt.ptr<f32>
  tt.return
}
