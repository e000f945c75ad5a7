// RUN: tilewright-opt %s --gluon-resolve-auto-encodings | filecheck %s
// RUN: tilewright-opt %s --gluon-resolve-auto-encodings --gluon-drop-layouts --canonicalize | filecheck %s --check-prefix=DROPPED

#blocked = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

// The layouts of rows and of their offsets follow from that of the sum, against the direction of the computation.
// CHECK-LABEL: @follows
// CHECK: tt.make_range {{.*}} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
// CHECK: tt.expand_dims {{.*}} -> tensor<16x1xi32, #blocked>
// CHECK: tt.broadcast {{.*}} -> tensor<16x64xi32, #blocked>
// CHECK-NOT: gluon.

// DROPPED-LABEL: @follows
// DROPPED: tt.make_range {{.*}} : tensor<16xi32>
// DROPPED: tt.expand_dims {{.*}} -> tensor<16x1xi32>
// DROPPED-NOT: #blocked
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @follows(%p: !tt.ptr<i32>) {
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #gluon.auto_encoding>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi32, #gluon.auto_encoding> -> tensor<16x1xi32, #gluon.auto_encoding>
    %2 = tt.broadcast %1 : tensor<16x1xi32, #gluon.auto_encoding> -> tensor<16x64xi32, #gluon.auto_encoding>
    %3 = gluon.set_auto_layout %2 : tensor<16x64xi32, #gluon.auto_encoding> -> tensor<16x64xi32, #blocked>
    %4 = tt.splat %p : !tt.ptr<i32> -> tensor<16x64x!tt.ptr<i32>, #blocked>
    %5 = tt.addptr %4, %3 : tensor<16x64x!tt.ptr<i32>, #blocked>, tensor<16x64xi32, #blocked>
    tt.store %5, %3 : tensor<16x64x!tt.ptr<i32>, #blocked>
    tt.return
  }

  // A reshape derives a linear layout from the blocked one of its result, and from that the same one in another form.
  // CHECK-LABEL: @reshaped
  // CHECK: tt.make_range {{.*}} : tensor<1024xi32, #linear>
  // CHECK: tt.reshape {{.*}} -> tensor<16x64xi32, #blocked>
  tt.func public @reshaped(%p: !tt.ptr<i32>) {
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #gluon.auto_encoding>
    %1 = tt.reshape %0 : tensor<1024xi32, #gluon.auto_encoding> -> tensor<16x64xi32, #gluon.auto_encoding>
    %2 = gluon.set_auto_layout %1 : tensor<16x64xi32, #gluon.auto_encoding> -> tensor<16x64xi32, #blocked>
    %3 = tt.splat %p : !tt.ptr<i32> -> tensor<16x64x!tt.ptr<i32>, #blocked>
    %4 = tt.addptr %3, %2 : tensor<16x64x!tt.ptr<i32>, #blocked>, tensor<16x64xi32, #blocked>
    tt.store %4, %2 : tensor<16x64x!tt.ptr<i32>, #blocked>
    tt.return
  }

  // What nothing uses needs no layout.
  // CHECK-LABEL: @unused
  // CHECK-NEXT: tt.return
  tt.func public @unused() {
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #gluon.auto_encoding>
    tt.return
  }

  // A layout that is set says what it is computed from has it, whether or not its result is used.
  // CHECK-LABEL: @set_and_unused
  // CHECK: scf.if {{.*}} -> (tensor<16x64xi32, #blocked>)
  tt.func public @set_and_unused(%p: !tt.ptr<i32>, %c: i1) {
    %0 = tt.splat %p : !tt.ptr<i32> -> tensor<16x64x!tt.ptr<i32>, #gluon.auto_encoding>
    %1 = scf.if %c -> (tensor<16x64xi32, #gluon.auto_encoding>) {
      %2 = tt.load %0 : tensor<16x64x!tt.ptr<i32>, #gluon.auto_encoding>
      %3 = gluon.set_auto_layout %2 : tensor<16x64xi32, #gluon.auto_encoding> -> tensor<16x64xi32, #blocked>
      scf.yield %2 : tensor<16x64xi32, #gluon.auto_encoding>
    } else {
      %4 = arith.constant dense<0> : tensor<16x64xi32, #gluon.auto_encoding>
      scf.yield %4 : tensor<16x64xi32, #gluon.auto_encoding>
    }
    tt.store %0, %1 : tensor<16x64x!tt.ptr<i32>, #gluon.auto_encoding>
    tt.return
  }
}
