// Which conversions go away, and where the others move.
// RUN: tilewright-opt %s --split-input-file --tritongpu-remove-layout-conversions --verify-each | filecheck %s

// Anchors: what large loads and stores are laid out like goes forward; the conversion in between goes.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#w = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#t = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @forward
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.load {{.*}} #[[W:blocked[0-9]*]]>
  // CHECK-NEXT: arith.addf {{.*}} #[[W]]>
  // CHECK: tt.store {{.*}} #[[W]]>
  tt.func @forward(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %1 = tt.addptr %0, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    %2 = ttg.convert_layout %1 : tensor<1024x!tt.ptr<f32>, #b> -> tensor<1024x!tt.ptr<f32>, #w>
    %3 = tt.load %2 : tensor<1024x!tt.ptr<f32>, #w>
    %4 = ttg.convert_layout %3 : tensor<1024xf32, #w> -> tensor<1024xf32, #b>
    %5 = arith.addf %4, %4 : tensor<1024xf32, #b>
    %6 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %7 = tt.addptr %6, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    %8 = ttg.convert_layout %7 : tensor<1024x!tt.ptr<f32>, #b> -> tensor<1024x!tt.ptr<f32>, #w>
    %9 = ttg.convert_layout %5 : tensor<1024xf32, #b> -> tensor<1024xf32, #w>
    tt.store %8, %9 : tensor<1024x!tt.ptr<f32>, #w>
    tt.return
  }

  // A load of fewer elements than there are threads holds on to nothing: it is made once more where it is wanted.
  // CHECK-LABEL: @small_load
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.load {{.*}} : tensor<64x!tt.ptr<f32>, #[[W]]>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @small_load(%p: !tt.ptr<f32>) -> tensor<64xf32, #w> {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #b>
    %1 = tt.addptr %0, %r : tensor<64x!tt.ptr<f32>, #b>, tensor<64xi32, #b>
    %2 = tt.load %1 : tensor<64x!tt.ptr<f32>, #b>
    %3 = ttg.convert_layout %2 : tensor<64xf32, #b> -> tensor<64xf32, #w>
    tt.return %3 : tensor<64xf32, #w>
  }

  // A volatile one is not: it would be seen twice.
  // CHECK-LABEL: @volatile_load
  // CHECK: tt.load {{.*}}isVolatile = true
  // CHECK: ttg.convert_layout
  // CHECK: tt.return
  tt.func @volatile_load(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) -> tensor<64xf32, #w> {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #b>
    %1 = tt.addptr %0, %r : tensor<64x!tt.ptr<f32>, #b>, tensor<64xi32, #b>
    %2 = tt.load %1 {isVolatile = true} : tensor<64x!tt.ptr<f32>, #b>
    %3 = ttg.convert_layout %2 : tensor<64xf32, #b> -> tensor<64xf32, #w>
    %4 = "tt.reduce"(%2) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %s = arith.maxnumf %x, %y : f32
      tt.reduce.return %s : f32
    }) : (tensor<64xf32, #b>) -> f32
    tt.store %q, %4 : !tt.ptr<f32>
    tt.return %3 : tensor<64xf32, #w>
  }

  // Arguments of functions are anchors.
  // CHECK-LABEL: @arguments
  // CHECK: arith.addf %arg0, %arg0 : tensor<1024xf32, #[[B:blocked[0-9]*]]>
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: tt.return
  tt.func @arguments(%x: tensor<1024xf32, #b>) -> tensor<1024xf32, #w> {
    %0 = ttg.convert_layout %x : tensor<1024xf32, #b> -> tensor<1024xf32, #w>
    %1 = arith.addf %0, %0 : tensor<1024xf32, #w>
    tt.return %1 : tensor<1024xf32, #w>
  }

  // Atomics are anchors, and happen once.
  // CHECK-LABEL: @atomics
  // CHECK-COUNT-1: tt.atomic_rmw
  // CHECK: ttg.convert_layout
  // CHECK: tt.return
  tt.func @atomics(%p: !tt.ptr<i32>) -> tensor<64xi32, #w> {
    %m = arith.constant dense<true> : tensor<64xi1, #b>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
    %0 = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #b>
    %1 = tt.addptr %0, %r : tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>
    %2 = tt.atomic_rmw add, relaxed, gpu, %1, %r, %m : (tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>, tensor<64xi1, #b>) -> tensor<64xi32, #b>
    %3 = ttg.convert_layout %2 : tensor<64xi32, #b> -> tensor<64xi32, #w>
    tt.return %3 : tensor<64xi32, #w>
  }

  // Assembly that is not pure runs once.
  // CHECK-LABEL: @impure_assembly
  // CHECK-COUNT-1: tt.elementwise_inline_asm
  // CHECK: ttg.convert_layout
  // CHECK-NOT: tt.elementwise_inline_asm
  // CHECK: tt.return
  tt.func @impure_assembly(%p: !tt.ptr<i32>) -> tensor<1024xi32, #w> {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %x = tt.elementwise_inline_asm "atom $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %r : tensor<1024xi32, #b> -> tensor<1024xi32, #b>
    %m = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %c: i32):
      %s = arith.maxsi %a, %c : i32
      tt.reduce.return %s : i32
    }) : (tensor<1024xi32, #b>) -> i32
    %y = ttg.convert_layout %x : tensor<1024xi32, #b> -> tensor<1024xi32, #w>
    tt.store %p, %m : !tt.ptr<i32>
    tt.return %y : tensor<1024xi32, #w>
  }

  // A gather with a layout of its own, and a reshape that may reorder, are anchors.
  // CHECK-LABEL: @gather_and_reshape
  // CHECK: tt.gather {{.*}}efficient_layout
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: tt.return
  tt.func @gather_and_reshape(%x: tensor<1024xf32, #b>, %i: tensor<1024xi32, #b>) -> tensor<1024xf32, #w> {
    %0 = tt.gather %x[%i] {axis = 0 : i32, efficient_layout} : (tensor<1024xf32, #b>, tensor<1024xi32, #b>) -> tensor<1024xf32, #b>
    %1 = ttg.convert_layout %0 : tensor<1024xf32, #b> -> tensor<1024xf32, #w>
    tt.return %1 : tensor<1024xf32, #w>
  }

  // CHECK-LABEL: @reshape_in_any_order
  // CHECK: tt.reshape {{.*}} allow_reorder {{.*}} -> tensor<1024xf32, #[[B]]>
  // CHECK: arith.addf {{.*}} : tensor<1024xf32, #[[B]]>
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: tt.return
  tt.func @reshape_in_any_order(%x: tensor<32x32xf32, #t>) -> tensor<1024xf32, #w> {
    %0 = tt.reshape %x allow_reorder efficient_layout : tensor<32x32xf32, #t> -> tensor<1024xf32, #b>
    %1 = ttg.convert_layout %0 : tensor<1024xf32, #b> -> tensor<1024xf32, #w>
    %2 = arith.addf %1, %1 : tensor<1024xf32, #w>
    tt.return %2 : tensor<1024xf32, #w>
  }

  // What costs less than the way through shared memory is computed twice: here the range and a sum.
  // CHECK-LABEL: @cheap_twice
  // CHECK-COUNT-2: arith.addi
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @cheap_twice(%o: tensor<1024xi32, #b>) -> (tensor<1024xi32, #b>, tensor<1024xi32, #w>) {
    %c = arith.constant dense<7> : tensor<1024xi32, #b>
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %0 = arith.addi %r, %c : tensor<1024xi32, #b>
    %1 = ttg.convert_layout %0 : tensor<1024xi32, #b> -> tensor<1024xi32, #w>
    tt.return %0, %1 : tensor<1024xi32, #b>, tensor<1024xi32, #w>
  }

  // Several functions of the special function unit cost more.
  // CHECK-LABEL: @expensive_once
  // CHECK-COUNT-5: math.exp
  // CHECK: ttg.convert_layout
  // CHECK: tt.return
  tt.func @expensive_once() -> (tensor<1024xf32, #b>, tensor<1024xf32, #w>) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %0 = arith.sitofp %r : tensor<1024xi32, #b> to tensor<1024xf32, #b>
    %1 = math.exp %0 : tensor<1024xf32, #b>
    %2 = math.exp %1 : tensor<1024xf32, #b>
    %3 = math.exp %2 : tensor<1024xf32, #b>
    %4 = math.exp %3 : tensor<1024xf32, #b>
    %5 = math.exp %4 : tensor<1024xf32, #b>
    %6 = ttg.convert_layout %5 : tensor<1024xf32, #b> -> tensor<1024xf32, #w>
    tt.return %5, %6 : tensor<1024xf32, #b>, tensor<1024xf32, #w>
  }

  // Unless nobody wants the first: then it is not computed twice, only elsewhere.
  // CHECK-LABEL: @expensive_elsewhere
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @expensive_elsewhere() -> tensor<1024xf32, #w> {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %0 = arith.sitofp %r : tensor<1024xi32, #b> to tensor<1024xf32, #b>
    %1 = math.exp %0 : tensor<1024xf32, #b>
    %2 = math.exp %1 : tensor<1024xf32, #b>
    %3 = math.exp %2 : tensor<1024xf32, #b>
    %4 = math.exp %3 : tensor<1024xf32, #b>
    %5 = math.exp %4 : tensor<1024xf32, #b>
    %6 = ttg.convert_layout %5 : tensor<1024xf32, #b> -> tensor<1024xf32, #w>
    tt.return %6 : tensor<1024xf32, #w>
  }

  // Through loops: the loop carries the value in the other layout.
  // CHECK-LABEL: @loop
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.for {{.*}} -> (tensor<1024xi32, #[[W]]>)
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @loop(%n: i32, %q: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %0 = tt.splat %q : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #w>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %r) -> (tensor<1024xi32, #b>) : i32 {
      %2 = ttg.convert_layout %a : tensor<1024xi32, #b> -> tensor<1024xi32, #w>
      tt.store %0, %2 : tensor<1024x!tt.ptr<i32>, #w>
      %3 = arith.addi %a, %r : tensor<1024xi32, #b>
      scf.yield %3 : tensor<1024xi32, #b>
    }
    tt.return
  }

  // What a loop gives is converted once, behind it.
  // CHECK-LABEL: @behind_loop
  // CHECK: scf.for
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.yield
  // CHECK: ttg.convert_layout
  // CHECK: tt.store
  tt.func @behind_loop(%n: i32, %q: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %r) -> (tensor<1024xi32, #b>) : i32 {
      %1 = arith.addi %a, %r : tensor<1024xi32, #b>
      scf.yield %1 : tensor<1024xi32, #b>
    }
    %2 = ttg.convert_layout %0 : tensor<1024xi32, #b> -> tensor<1024xi32, #w>
    %3 = tt.splat %q : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #w>
    tt.store %3, %2 : tensor<1024x!tt.ptr<i32>, #w>
    tt.return
  }

  // Through conditionals.
  // CHECK-LABEL: @conditional
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.if {{.*}} -> (tensor<1024xi32, #[[W]]>)
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @conditional(%c: i1, %q: !tt.ptr<i32>) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %0 = scf.if %c -> (tensor<1024xi32, #b>) {
      %1 = arith.addi %r, %r : tensor<1024xi32, #b>
      scf.yield %1 : tensor<1024xi32, #b>
    } else {
      scf.yield %r : tensor<1024xi32, #b>
    }
    %2 = ttg.convert_layout %0 : tensor<1024xi32, #b> -> tensor<1024xi32, #w>
    %3 = tt.splat %q : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #w>
    tt.store %3, %2 : tensor<1024x!tt.ptr<i32>, #w>
    tt.return
  }

  // Before the value grows.
  // CHECK-LABEL: @extension
  // CHECK: ttg.convert_layout %arg0 : tensor<1024xf16
  // CHECK: arith.extf {{.*}} : tensor<1024xf16, #[[W]]> to tensor<1024xf32, #[[W]]>
  // CHECK: tt.store
  tt.func @extension(%x: tensor<1024xf16, #b>, %q: !tt.ptr<f32>) {
    %0 = arith.extf %x : tensor<1024xf16, #b> to tensor<1024xf32, #b>
    %1 = arith.addf %0, %0 : tensor<1024xf32, #b>
    %2 = ttg.convert_layout %1 : tensor<1024xf32, #b> -> tensor<1024xf32, #w>
    %3 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #w>
    tt.store %3, %2 : tensor<1024x!tt.ptr<f32>, #w>
    tt.return
  }

  // Into the branch that needs it, inside a loop: the other branch pays nothing.
  // CHECK-LABEL: @branch
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK-NOT: ttg.convert_layout
  // CHECK: else
  // CHECK: ttg.convert_layout
  // CHECK-NEXT: scf.yield
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @branch(%n: i32, %q: !tt.ptr<f32>, %x: tensor<1024xf32, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #b>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %c = arith.cmpi eq, %i, %c0 : i32
      %0 = scf.if %c -> (tensor<1024xf32, #b>) {
        scf.yield %zero : tensor<1024xf32, #b>
      } else {
        %5 = tt.load %q : !tt.ptr<f32>
        %6 = tt.splat %5 : f32 -> tensor<1024xf32, #b>
        %7 = arith.addf %6, %x : tensor<1024xf32, #b>
        scf.yield %7 : tensor<1024xf32, #b>
      }
      %2 = ttg.convert_layout %0 : tensor<1024xf32, #b> -> tensor<1024xf32, #w>
      %3 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #w>
      tt.store %3, %2 : tensor<1024x!tt.ptr<f32>, #w>
    }
    tt.return
  }
}

// -----

// Reductions: computed twice where the order does not matter, never where it does.
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#w = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#sb = #ttg.slice<{dim = 1, parent = #b}>
#sw = #ttg.slice<{dim = 1, parent = #w}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @float_sums
  // CHECK-COUNT-1: "tt.reduce"
  // CHECK: ttg.convert_layout
  // CHECK-NOT: "tt.reduce"
  // CHECK: tt.return
  tt.func @float_sums(%s: f32) -> (tensor<128xf32, #sb>, tensor<128xf32, #sw>) {
    %x = tt.splat %s : f32 -> tensor<128x32xf32, #b>
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %c: f32):
      %t = arith.addf %a, %c : f32
      tt.reduce.return %t : f32
    }) : (tensor<128x32xf32, #b>) -> tensor<128xf32, #sb>
    %1 = ttg.convert_layout %0 : tensor<128xf32, #sb> -> tensor<128xf32, #sw>
    tt.return %0, %1 : tensor<128xf32, #sb>, tensor<128xf32, #sw>
  }

  // CHECK-LABEL: @maxima
  // CHECK-COUNT-2: "tt.reduce"
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @maxima(%s: f32) -> (tensor<128xf32, #sb>, tensor<128xf32, #sw>) {
    %x = tt.splat %s : f32 -> tensor<128x32xf32, #b>
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %c: f32):
      %t = arith.maxnumf %a, %c : f32
      tt.reduce.return %t : f32
    }) : (tensor<128x32xf32, #b>) -> tensor<128xf32, #sb>
    %1 = ttg.convert_layout %0 : tensor<128xf32, #sb> -> tensor<128xf32, #sw>
    tt.return %0, %1 : tensor<128xf32, #sb>, tensor<128xf32, #sw>
  }

  // A row is converted before it is broadcast.
  // CHECK-LABEL: @broadcast
  // CHECK: ttg.convert_layout %{{.*}} : tensor<128x{{.*}}
  // CHECK: tt.broadcast
  // CHECK-NOT: ttg.convert_layout {{.*}}128x64
  // CHECK: tt.store
  tt.func @broadcast(%x: tensor<128xf32, #sb>, %q: !tt.ptr<f32>) {
    %0 = tt.expand_dims %x {axis = 1 : i32} : tensor<128xf32, #sb> -> tensor<128x1xf32, #b>
    %1 = tt.broadcast %0 : tensor<128x1xf32, #b> -> tensor<128x64xf32, #b>
    %2 = ttg.convert_layout %1 : tensor<128x64xf32, #b> -> tensor<128x64xf32, #w>
    %3 = tt.splat %q : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>, #w>
    tt.store %3, %2 : tensor<128x64x!tt.ptr<f32>, #w>
    tt.return
  }
}

// -----

// Matrix products: anchors; other values prefer their layout, loads prefer a blocked one.
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#da = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#db = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // The accumulator stays in the product's layout through the loop, its bias is converted, and the result only at the end.
  // CHECK-LABEL: @accumulator
  // CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<f32>, #blocked>
  // CHECK: scf.for {{.*}} -> (tensor<64x64xf32, #mma>)
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.dot
  // CHECK-NEXT: scf.yield
  // CHECK: arith.addf {{.*}} : tensor<64x64xf32, #mma>
  // CHECK-NEXT: arith.truncf
  // CHECK-NEXT: ttg.convert_layout {{.*}} : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
  // CHECK-NEXT: tt.store
  tt.func @accumulator(%n: i32, %x: tensor<64x64xf16, #da>, %y: tensor<64x64xf16, #db>, %p: tensor<64x64x!tt.ptr<f32>, #b>, %q: tensor<64x64x!tt.ptr<f16>, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #b>
    %bias = tt.load %p : tensor<64x64x!tt.ptr<f32>, #b>
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #b>) : i32 {
      %1 = ttg.convert_layout %acc : tensor<64x64xf32, #b> -> tensor<64x64xf32, #mma>
      %2 = tt.dot %x, %y, %1 : tensor<64x64xf16, #da> * tensor<64x64xf16, #db> -> tensor<64x64xf32, #mma>
      %3 = ttg.convert_layout %2 : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #b>
      scf.yield %3 : tensor<64x64xf32, #b>
    }
    %4 = arith.addf %0, %bias : tensor<64x64xf32, #b>
    %5 = arith.truncf %4 : tensor<64x64xf32, #b> to tensor<64x64xf16, #b>
    tt.store %q, %5 : tensor<64x64x!tt.ptr<f16>, #b>
    tt.return
  }

  // An operand of a product is converted next to its load, and computed in its own layout from there.
  // CHECK-LABEL: @operand
  // CHECK: %[[X:.*]] = tt.load
  // CHECK-NEXT: ttg.convert_layout %[[X]] : tensor<64x64xi8, #blocked> -> tensor<64x64xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  // CHECK: arith.sitofp {{.*}} to tensor<64x64xf16, #ttg.dot_op
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.dot
  tt.func @operand(%p: tensor<64x64x!tt.ptr<i8>, #b>, %y: tensor<64x64xf16, #db>, %acc: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %0 = tt.load %p : tensor<64x64x!tt.ptr<i8>, #b>
    %1 = arith.sitofp %0 : tensor<64x64xi8, #b> to tensor<64x64xf16, #b>
    %2 = ttg.convert_layout %1 : tensor<64x64xf16, #b> -> tensor<64x64xf16, #da>
    %3 = tt.dot %2, %y, %acc : tensor<64x64xf16, #da> * tensor<64x64xf16, #db> -> tensor<64x64xf32, #mma>
    tt.return %3 : tensor<64x64xf32, #mma>
  }

  // The first product of a chain becomes the operand of the second in registers: this conversion is left alone.
  // CHECK-LABEL: @chain
  // CHECK: tt.dot
  // CHECK: arith.truncf {{.*}} to tensor<64x64xf16, #mma>
  // CHECK-NEXT: ttg.convert_layout {{.*}} : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  // CHECK-NEXT: tt.dot
  tt.func @chain(%x: tensor<64x64xf16, #da>, %y: tensor<64x64xf16, #db>, %acc: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %0 = tt.dot %x, %y, %acc : tensor<64x64xf16, #da> * tensor<64x64xf16, #db> -> tensor<64x64xf32, #mma>
    %1 = arith.truncf %0 : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %2 = ttg.convert_layout %1 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #da>
    %3 = tt.dot %2, %y, %acc : tensor<64x64xf16, #da> * tensor<64x64xf16, #db> -> tensor<64x64xf32, #mma>
    tt.return %3 : tensor<64x64xf32, #mma>
  }
}
