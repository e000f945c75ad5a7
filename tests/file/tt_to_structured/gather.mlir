// RUN: tilewright-opt %s --triton-to-structured | filecheck %s
// RUN: tilewright-opt %s --triton-to-structured="enable-make-gather-scatter=false" | filecheck %s --check-prefix=NO_GATHER

// Rows of an embedding table, picked by an index tensor, bumped along the columns in a loop.

// CHECK-LABEL: tt.func public @rows
// CHECK:       %[[LD:.*]] = arith.index_cast %arg1 : i32 to index
// CHECK:       scf.for {{.*}} iter_args(%[[COL:.*]] = %c0) -> (index)
// CHECK:       %[[P:.*]] = tts.make_gather_scatter_tptr %arg0 to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %arg2, strides: [%[[LD]], 1], offsets: [0, %[[COL]]] : tensor<8xi32> <f32> to !tt.ptr<tensor<8x16xf32>>
// CHECK:       "tts.load"(%[[P]])
// CHECK-NOT:   tt.addptr

// NO_GATHER-NOT: tts.make_gather_scatter_tptr
// NO_GATHER:     tt.load
tt.func public @rows(%x: !tt.ptr<f32>, %ld: i32, %rows: tensor<8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %step = arith.constant dense<16> : tensor<8x16xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %re = tt.expand_dims %rows {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %lds = tt.splat %ld : i32 -> tensor<8x1xi32>
  %rs = arith.muli %re, %lds : tensor<8x1xi32>
  %rb = tt.broadcast %rs : tensor<8x1xi32> -> tensor<8x16xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %cb = tt.broadcast %ce : tensor<1x16xi32> -> tensor<8x16xi32>
  %o = arith.addi %rb, %cb : tensor<8x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %o : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %r = scf.for %i = %c0 to %n step %c16 iter_args(%q = %p) -> (tensor<8x16x!tt.ptr<f32>>)  : i32 {
    %v = tt.load %q : tensor<8x16x!tt.ptr<f32>>
    tt.store %q, %v : tensor<8x16x!tt.ptr<f32>>
    %next = tt.addptr %q, %step : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    scf.yield %next : tensor<8x16x!tt.ptr<f32>>
  }
  tt.return
}
