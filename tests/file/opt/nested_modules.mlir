// A pass runs on a module and on each module nested in it, as an anchor below the module would.
// RUN: tilewright-opt %s --remove-dead-values | filecheck %s --check-prefixes=BOTH,STORES
// RUN: tilewright-opt %s --triton-to-unstructured --verify-each | filecheck %s --check-prefixes=BOTH,SCATTER
// RUN: tilewright-opt %s --triton-to-linalg --verify-each | filecheck %s --check-prefix=LINALG
// RUN: tilewright-opt %s --triton-to-linalg --one-shot-bufferize | filecheck %s --check-prefix=BUFFERS
// RUN: tilewright-opt %s --convert-triton-to-tritongpu="target=cuda:80" --tritongpu-coalesce --tritongpu-remove-layout-conversions --check-stage=ttg | filecheck %s --check-prefix=TTG
// RUN: not tilewright-opt %s --tritongpu-coalesce 2>&1 | filecheck %s --check-prefix=STAGE

// BOTH: module @a {
// STORES: tt.store
// SCATTER: tts.scatter
// BOTH: module @b {
// STORES: tt.store
// SCATTER: tts.scatter

// LINALG: module @a {
// LINALG: bufferization.materialize_in_destination
// LINALG: module @b {
// LINALG: memref.store
// LINALG: func.func @outer
// LINALG: memref.store

// BUFFERS: module @a {
// BUFFERS-NOT: tensor<
// BUFFERS: module @b {

// TTG: module @a attributes {{{.*}}"ttg.num-warps"
// TTG: tt.load {{.*}} #blocked
// TTG: module @b attributes
// TTG: tt.store

// STAGE: nested_modules.mlir:{{[0-9]+}}:{{[0-9]+}}: error: pass tritongpu-coalesce, 'tt.make_range': {{.*}}: run convert-triton-to-tritongpu first

module {
  module @a {
    tt.func public @f(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
      %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
      %p = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %q = tt.addptr %p, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %v = tt.load %q : tensor<16x!tt.ptr<f32>>
      %s = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %t = tt.addptr %s, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      tt.store %t, %v : tensor<16x!tt.ptr<f32>>
      tt.return
    }
  }
  module @b {
    tt.func public @g(%o: !tt.ptr<f32>, %v: f32) {
      tt.store %o, %v : !tt.ptr<f32>
      tt.return
    }
  }
  tt.func public @outer(%o: !tt.ptr<f32>, %v: f32) {
    tt.store %o, %v : !tt.ptr<f32>
    tt.return
  }
}
