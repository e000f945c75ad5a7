// RUN: tilewright-opt %s --triton-to-structured="run-prepass-only" | filecheck %s --check-prefix=PREPASS
// RUN: tilewright-opt %s --triton-to-structured="run-prepass-only" | tilewright-opt --triton-to-structured | filecheck %s
// RUN: tilewright-opt %s --triton-to-structured="skip-prepass" | filecheck %s --check-prefix=SKIP

// The prepass marks what the loop carries; the pass itself carries the one number that changes; without the prepass what
// a loop carries has no structure.

// PREPASS-LABEL: tt.func public @carried
// PREPASS:       %[[INIT:.*]]:3 = "tts.get_structured_state"(%{{.*}}) <{resultSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<8x!tt.ptr<f32>>) -> (tensor<8x!tt.ptr<f32>>, index, index)
// PREPASS:       scf.for {{.*}} iter_args(%[[P:.*]] = %[[INIT]]#0, %{{.*}} = %[[INIT]]#1, %{{.*}} = %[[INIT]]#2) -> (tensor<8x!tt.ptr<f32>>, index, index)
// PREPASS:       tt.load %[[P]]
// PREPASS:       %[[NEXT:.*]]:3 = "tts.get_structured_state"
// PREPASS:       scf.yield %[[NEXT]]#0, %[[NEXT]]#1, %[[NEXT]]#2

// CHECK-LABEL: tt.func public @carried
// CHECK-NOT:   tts.get_structured_state
// CHECK:       scf.for {{.*}} iter_args(%[[O:.*]] = %c0) -> (index)
// CHECK:       tts.make_tptr %arg0 to sizes: [8], strides: [1], offsets: [%[[O]]]

// SKIP-LABEL:  tt.func public @carried
// SKIP:        tt.load
tt.func public @carried(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<8> : tensor<8xi32>
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %xs, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> (tensor<8x!tt.ptr<f32>>)  : i32 {
    %v = tt.load %q : tensor<8x!tt.ptr<f32>>
    tt.store %q, %v : tensor<8x!tt.ptr<f32>>
    %next = tt.addptr %q, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %next : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}
