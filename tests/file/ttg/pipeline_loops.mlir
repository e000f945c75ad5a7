// Loops over several iterations: copies, buffers, waits, and what runs for iterations that do not exist.
// RUN: tilewright-opt %s --tritongpu-schedule-loops --tritongpu-pipeline --canonicalize --verify-each | filecheck %s

#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#dot_a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot_b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#mma3 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Operands of one product are copied together, two iterations ahead, into two buffers each, laid out for the tensor
  // cores. Copies of iterations that do not exist are masked. One group may be under way at the wait.
  // CHECK-LABEL: @product
  // CHECK: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x128x32xf16, #[[SA:shared[0-9]*]], #smem, mutable>
  // CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #[[SB:shared[0-9]*]], #smem, mutable>
  // CHECK: ttg.async_copy_global_to_local {{.*}} mask
  // CHECK: ttg.async_copy_global_to_local {{.*}} mask
  // CHECK: ttg.async_commit_group tokens %{{.*}}, %
  // CHECK: ttg.async_commit_group tokens %{{.*}}, %
  // CHECK: scf.for
  // CHECK: %[[EXISTS:.*]] = arith.cmpi slt
  // CHECK: %[[TOKEN:.*]] = ttg.async_wait %{{.*}} {num = 1 : i32}
  // CHECK: ttg.memdesc_index %[[A]]
  // CHECK: ttg.local_load %{{.*}} token %[[TOKEN]] : {{.*}} -> tensor<128x32xf16, #ttg.dot_op<{opIdx = 0
  // CHECK: ttg.local_load %{{.*}} token %[[TOKEN]] : {{.*}} -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1
  // CHECK: tt.dot
  // CHECK: %[[EARLY:.*]] = tt.splat %{{.*}} : i1 -> tensor<128x32xi1
  // CHECK: %[[ALL:.*]] = tt.splat %[[EXISTS]]
  // CHECK: %[[BOTH:.*]] = arith.andi %[[ALL]], %[[EARLY]]
  // CHECK: ttg.async_copy_global_to_local {{.*}} mask %[[BOTH]]
  // CHECK: ttg.async_commit_group
  // CHECK: ttg.async_wait {num = 0 : i32}
  // CHECK: ttg.local_dealloc %[[A]]
  // CHECK: ttg.local_dealloc %[[B]]
  tt.func public @product(%pa0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %pb0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %few: i32, %zero: tensor<128x32xf32, #mma>) -> tensor<128x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #a}>>
    %row = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #a}>> -> tensor<1x32xi32, #a>
    %pa1 = tt.splat %pa0 : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>, #a>
    %pa2 = tt.broadcast %row : tensor<1x32xi32, #a> -> tensor<128x32xi32, #a>
    %pa = tt.addptr %pa1, %pa2 : tensor<128x32x!tt.ptr<f16>, #a>, tensor<128x32xi32, #a>
    %pb1 = tt.splat %pb0 : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #a>
    %pb2 = tt.broadcast %row : tensor<1x32xi32, #a> -> tensor<32x32xi32, #a>
    %pb = tt.addptr %pb1, %pb2 : tensor<32x32x!tt.ptr<f16>, #a>, tensor<32x32xi32, #a>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x32xf32, #mma>) : i32 {
      %is_early = arith.cmpi slt, %i, %few : i32
      %mask = tt.splat %is_early : i1 -> tensor<128x32xi1, #a>
      %x = tt.load %pa, %mask {tt.latency = 2 : i32} : tensor<128x32x!tt.ptr<f16>, #a>
      %y = tt.load %pb {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #a>
      %a = ttg.convert_layout %x : tensor<128x32xf16, #a> -> tensor<128x32xf16, #dot_a>
      %b = ttg.convert_layout %y : tensor<32x32xf16, #a> -> tensor<32x32xf16, #dot_b>
      %d = tt.dot %a, %b, %acc : tensor<128x32xf16, #dot_a> * tensor<32x32xf16, #dot_b> -> tensor<128x32xf32, #mma>
      scf.yield %d : tensor<128x32xf32, #mma>
    }
    tt.return %r : tensor<128x32xf32, #mma>
  }

  // Copies fill with zeros: anything else is chosen when the buffer is read.
  // CHECK-LABEL: @filled
  // CHECK: scf.for
  // CHECK: %[[X:.*]] = ttg.local_load
  // CHECK: arith.select %{{.*}}, %[[X]], %cst
  // CHECK: ttg.async_copy_global_to_local
  tt.func public @filled(%p0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %few: i32, %none: tensor<512xf32, #line>) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %seven = arith.constant dense<7.0> : tensor<512xf32, #line>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #line>
    %all = tt.splat %p0 : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    %p = tt.addptr %all, %range : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> (tensor<512xf32, #line>) : i32 {
      %is_early = arith.cmpi slt, %i, %few : i32
      %mask = tt.splat %is_early : i1 -> tensor<512xi1, #line>
      %x = tt.load %p, %mask, %seven {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %sum, %x : tensor<512xf32, #line>
      scf.yield %more : tensor<512xf32, #line>
    }
    tt.return %r : tensor<512xf32, #line>
  }

  // A load whose address is loaded runs between the two; with nothing committed in between both are waited for at once.
  // Divisors of iterations that do not exist are made 1: a divisor may be 0 when no iteration does.
  // CHECK-LABEL: @indirect
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<1x512xi32
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<1x512xf32
  // CHECK: scf.for
  // CHECK: ttg.async_wait %{{.*}}, %{{.*}} {num = 0 : i32}
  // CHECK: ttg.local_load {{.*}} -> tensor<512xf32
  // CHECK: %[[ROWS:.*]] = ttg.local_load {{.*}} -> tensor<512xi32
  // CHECK: tt.addptr %{{.*}}, %[[ROWS]]
  // CHECK: ttg.async_copy_global_to_local {{.*}} -> <512xf32
  // CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %arg3, %c1_i32
  // CHECK: arith.divsi %{{.*}}, %[[SAFE]]
  // CHECK: ttg.async_copy_global_to_local {{.*}} -> <512xi32
  tt.func public @indirect(%rows0: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %many: i32, %none: tensor<512xf32, #line>) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c512 = arith.constant 512 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #line>
    %all = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> (tensor<512xf32, #line>) : i32 {
      %which = arith.divsi %i, %many : i32
      %first = arith.muli %which, %c512 : i32
      %rows1 = tt.addptr %rows0, %first : !tt.ptr<i32>, i32
      %rows2 = tt.splat %rows1 : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #line>
      %rows = tt.addptr %rows2, %range : tensor<512x!tt.ptr<i32>, #line>, tensor<512xi32, #line>
      %row = tt.load %rows {tt.latency = 1 : i32} : tensor<512x!tt.ptr<i32>, #line>
      %q = tt.addptr %all, %row : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      %x = tt.load %q {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %sum, %x : tensor<512xf32, #line>
      scf.yield %more : tensor<512xf32, #line>
    }
    tt.return %r : tensor<512xf32, #line>
  }

  // A load of two bytes at a time stays one, in registers, and runs ahead all the same: its mask says for whom. Nothing
  // is masked before a loop that surely runs.
  // CHECK-LABEL: @in_registers
  // CHECK-NOT: ttg.local_alloc
  // CHECK: %[[FIRST:.*]] = tt.load %arg0 : tensor<512x!tt.ptr<f16>
  // CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %[[FIRST]],
  // CHECK: arith.addf %{{.*}}, %[[X]]
  // CHECK: %[[EXISTS:.*]] = tt.splat
  // CHECK: tt.load %arg0, %[[EXISTS]] : tensor<512x!tt.ptr<f16>
  tt.func public @in_registers(%p: tensor<512x!tt.ptr<f16>, #line>, %none: tensor<512xf16, #line>) -> tensor<512xf16, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c9 = arith.constant 9 : i32
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%sum = %none) -> (tensor<512xf16, #line>) : i32 {
      %x = tt.load %p {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f16>, #line>
      %more = arith.addf %sum, %x : tensor<512xf16, #line>
      scf.yield %more : tensor<512xf16, #line>
    }
    tt.return %r : tensor<512xf16, #line>
  }

  // Blocks through descriptors come by TMA, both for one barrier of as many bytes; its phase flips with each turn around
  // the buffers. The product runs on until its buffers are needed again, which is one buffer later.
  // CHECK-LABEL: @descriptors
  // CHECK: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared
  // CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared
  // CHECK: %[[BARS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64
  // CHECK-COUNT-3: ttng.init_barrier
  // CHECK: ttng.barrier_expect %{{.*}}, 16384, %
  // CHECK: ttng.async_tma_copy_global_to_local %arg0
  // CHECK: ttng.async_tma_copy_global_to_local %arg1
  // CHECK: scf.for
  // CHECK: %[[WRAPS:.*]] = arith.cmpi sge, %{{.*}}, %c3_i32
  // CHECK: %[[OTHER:.*]] = arith.xori %[[OLD:.*]], %c1_i32
  // CHECK: %[[PHASE:.*]] = arith.select %[[WRAPS]], %[[OTHER]], %[[OLD]]
  // CHECK: ttng.wait_barrier %{{.*}}, %[[PHASE]]
  // CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}} {inputPrecision = 0 : i32, isAsync = true}
  // CHECK: ttng.warp_group_dot_wait %[[D]], %{{.*}}, %{{.*}} {pendings = 1 : i32}
  // CHECK: ttng.barrier_expect %{{.*}}, 16384, %
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.warp_group_dot_wait %{{.*}} {pendings = 0 : i32}
  // CHECK-COUNT-3: ttng.inval_barrier
  // CHECK: ttg.local_dealloc %[[BARS]]
  tt.func public @descriptors(%a: !tt.tensordesc<64x64xf16, #nvmma>, %b: !tt.tensordesc<64x64xf16, #nvmma>, %n: i32, %zero: tensor<64x64xf32, #mma3>) -> tensor<64x64xf32, #mma3> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma3>) : i32 {
      %x = tt.descriptor_load %a[%c0, %i] {tt.latency = 2 : i32} : !tt.tensordesc<64x64xf16, #nvmma> -> tensor<64x64xf16, #a>
      %y = tt.descriptor_load %b[%i, %c0] {tt.latency = 2 : i32} : !tt.tensordesc<64x64xf16, #nvmma> -> tensor<64x64xf16, #a>
      %mx = ttg.local_alloc %x : (tensor<64x64xf16, #a>) -> !ttg.memdesc<64x64xf16, #nvmma, #smem>
      %my = ttg.local_alloc %y : (tensor<64x64xf16, #a>) -> !ttg.memdesc<64x64xf16, #nvmma, #smem>
      %d = ttng.warp_group_dot %mx, %my, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #nvmma, #smem> * !ttg.memdesc<64x64xf16, #nvmma, #smem> -> tensor<64x64xf32, #mma3>
      scf.yield %d : tensor<64x64xf32, #mma3>
    }
    tt.return %r : tensor<64x64xf32, #mma3>
  }

  // Sums that only the end of a tile looks at are waited for there, and stay in their registers.
  // CHECK-LABEL: @looked_at_in_a_branch
  // CHECK: scf.for
  // CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: %[[W:.*]]:3 = ttng.warp_group_dot_wait %[[D]], {{.*}} {pendings = 1 : i32}
  // CHECK: %[[NEXT:.*]] = scf.if
  // CHECK: %[[DONE:.*]]:3 = ttng.warp_group_dot_wait %[[W]]#0, {{.*}} {pendings = 0 : i32}
  // CHECK: tt.store %{{.*}}, %[[DONE]]#0
  // CHECK: scf.yield %[[DONE]]#0
  // CHECK: } else {
  // CHECK: scf.yield %[[W]]#0
  // CHECK: scf.yield {{.*}}%[[NEXT]]
  tt.func public @looked_at_in_a_branch(%a: !tt.tensordesc<64x64xf16, #nvmma>, %b: !tt.tensordesc<64x64xf16, #nvmma>, %n: i32, %last: i32, %out: tensor<64x64x!tt.ptr<f32>, #mma3>, %zero: tensor<64x64xf32, #mma3>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma3>) : i32 {
      %x = tt.descriptor_load %a[%c0, %i] {tt.latency = 2 : i32} : !tt.tensordesc<64x64xf16, #nvmma> -> tensor<64x64xf16, #a>
      %y = tt.descriptor_load %b[%i, %c0] {tt.latency = 2 : i32} : !tt.tensordesc<64x64xf16, #nvmma> -> tensor<64x64xf16, #a>
      %mx = ttg.local_alloc %x : (tensor<64x64xf16, #a>) -> !ttg.memdesc<64x64xf16, #nvmma, #smem>
      %my = ttg.local_alloc %y : (tensor<64x64xf16, #a>) -> !ttg.memdesc<64x64xf16, #nvmma, #smem>
      %d = ttng.warp_group_dot %mx, %my, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #nvmma, #smem> * !ttg.memdesc<64x64xf16, #nvmma, #smem> -> tensor<64x64xf32, #mma3>
      %is_last = arith.cmpi eq, %i, %last : i32
      scf.if %is_last {
        tt.store %out, %d : tensor<64x64x!tt.ptr<f32>, #mma3>
      }
      scf.yield %d : tensor<64x64xf32, #mma3>
    }
    tt.return
  }

  // Stores through descriptors wait for the one before, in one buffer. A loop of one stage waits in place.
  // CHECK-LABEL: @stores
  // CHECK: %[[M:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared{{[0-9]*}}, #smem, mutable>
  // CHECK: scf.for
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_store %arg1, %[[M]]
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global %arg0[%c0_i32, %{{.*}}] %[[M]]
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_store %arg1, %[[M]]
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_reduce add, %arg0
  // CHECK: }
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_dealloc %[[M]]
  // CHECK: scf.for
  // CHECK-NEXT: tt.descriptor_store
  tt.func public @stores(%d: !tt.tensordesc<64x64xf16, #nvmma>, %x: tensor<64x64xf16, #a>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%c0, %i], %x : !tt.tensordesc<64x64xf16, #nvmma>, tensor<64x64xf16, #a>
      tt.descriptor_reduce add, %d[%i, %c0], %x : !tt.tensordesc<64x64xf16, #nvmma>, tensor<64x64xf16, #a>
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%c0, %i], %x : !tt.tensordesc<64x64xf16, #nvmma>, tensor<64x64xf16, #a>
    } {tt.num_stages = 1 : i32}
    tt.return
  }
}
