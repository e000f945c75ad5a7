// A of a pipelined `wgmma` in registers: read from shared memory, or computed, slice by slice along K while the products of
// the slices before run, those of the round before too; the registers of the last slice are carried to the wait at which
// its product has read them. One wait for the copies of both operands.
// RUN: tilewright-opt %s --tritongpu-assign-latencies --tritongpu-schedule-loops --tritongpu-pipeline --verify-each | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 8]}>
#linear = #ttg.linear<{register = [[0, 8], [4, 0], [8, 0]], lane = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16], [0, 32]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 32}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 32}>
#smem = #ttg.shared_memory
#rows2 = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma2 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma2, kWidth = 2}>
#groups = #ttg.linear<{register = [[0, 0, 1], [8, 0, 0], [0, 0, 8], [0, 1, 0]], lane = [[0, 0, 2], [0, 0, 4], [1, 0, 0], [2, 0, 0], [4, 0, 0]], warp = [[16, 0, 0], [32, 0, 0]], block = []}>
#shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: [[BUFFER:#shared[0-9]*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>
  // CHECK-LABEL: @product
  // CHECK: [[NONE:%[a-z0-9_]+]] = arith.constant dense<0.000000e+00> : tensor<64x8xf32,
  // CHECK: scf.for {{.*}}[[BEFORE:%[a-z0-9_]+]] = [[NONE]])
  // CHECK-NOT: scf.yield
  // CHECK: [[W:%[a-z0-9_]+]] = ttg.async_wait {{%[a-z0-9_]+, %[a-z0-9_]+|%[a-z0-9_]+}} {num = 1 : i32}
  // CHECK: [[M0:%[a-z0-9_]+]] = ttg.memdesc_subslice [[T:%[a-z0-9_]+]][0, 0] : !ttg.memdesc<16x64xf32, [[BUFFER]],
  // CHECK: [[L0:%[a-z0-9_]+]] = ttg.local_load [[M0]] token [[W]]
  // CHECK: [[R0:%[a-z0-9_]+]] = tt.trans [[L0]]
  // CHECK: [[B0:%[a-z0-9_]+]] = ttg.memdesc_subslice {{.*}}[0, 0]
  // CHECK: [[D0:%[a-z0-9_]+]] = ttng.warp_group_dot [[R0]], [[B0]], {{%[a-z0-9_]+}} {{.*}}isAsync = true
  // CHECK: [[S0:%[a-z0-9_]+]]:3 = ttng.warp_group_dot_wait [[D0]], [[B0]], [[BEFORE]] {pendings = 1 : i32}
  // CHECK: [[M1:%[a-z0-9_]+]] = ttg.memdesc_subslice [[T]][8, 0]
  // CHECK: [[L1:%[a-z0-9_]+]] = ttg.local_load [[M1]] token [[W]]
  // CHECK: [[R1:%[a-z0-9_]+]] = tt.trans [[L1]]
  // CHECK: [[B1:%[a-z0-9_]+]] = ttg.memdesc_subslice {{.*}}[8, 0]
  // CHECK: [[D1:%[a-z0-9_]+]] = ttng.warp_group_dot [[R1]], [[B1]], [[S0]]#0 {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait [[D1]], [[B1]] {pendings = 1 : i32}
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.yield {{.*}}, [[R1]] :
  // CHECK: ttng.warp_group_dot_wait {{%[0-9]+#[0-9]+, %[0-9]+#[0-9]+}} {pendings = 0 : i32} : tensor<64x128xf32, #mma>, tensor<64x8xf32,
  tt.func @product(%p: tensor<128x16x!tt.ptr<f32>, #rows>, %q: tensor<16x64x!tt.ptr<f32>, #rows>, %c: tensor<64x128xf32, #mma>, %n: i32) -> tensor<64x128xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x128xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x16x!tt.ptr<f32>, #rows>
      %y = tt.load %q : tensor<16x64x!tt.ptr<f32>, #rows>
      %m = ttg.local_alloc %x : (tensor<128x16xf32, #rows>) -> !ttg.memdesc<128x16xf32, #shared, #smem>
      %b = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<128x16xf32, #shared, #smem> -> !ttg.memdesc<16x128xf32, #shared1, #smem>
      %l = ttg.convert_layout %y : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #linear>
      %a = tt.trans %l {order = array<i32: 1, 0>} : tensor<16x64xf32, #linear> -> tensor<64x16xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>>
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : tensor<64x16xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>> * !ttg.memdesc<16x128xf32, #shared1, #smem> -> tensor<64x128xf32, #mma>
      scf.yield %d : tensor<64x128xf32, #mma>
    }
    tt.return %r : tensor<64x128xf32, #mma>
  }

  // CHECK-LABEL: @computed
  // CHECK: tt.load {{.*}} : tensor<64x!tt.ptr<f16>,
  // CHECK: scf.for
  // CHECK: [[L0:%[a-z0-9_]+]] = ttg.local_load {{.*}} -> tensor<64x16xi8,
  // CHECK: [[L1:%[a-z0-9_]+]] = ttg.local_load {{.*}} -> tensor<64x16xi8,
  // CHECK: [[H0:%[a-z0-9_]+]] = arith.sitofp [[L0]] : tensor<64x16xi8
  // CHECK: [[X0:%[a-z0-9_]+]] = arith.mulf [[H0]], {{%[0-9]+}} : tensor<64x16xf16
  // CHECK: ttng.warp_group_dot [[X0]],
  // CHECK: ttng.warp_group_dot_wait {{.*}} {pendings = 1 : i32}
  // CHECK: [[H1:%[a-z0-9_]+]] = arith.sitofp [[L1]] : tensor<64x16xi8
  // CHECK: [[X1:%[a-z0-9_]+]] = arith.mulf [[H1]], {{%[0-9]+}} : tensor<64x16xf16
  // CHECK: ttng.warp_group_dot [[X1]],
  // CHECK: tt.load {{.*}} : tensor<64x!tt.ptr<f16>,
  // CHECK: scf.yield {{.*}}[[X1]]
  tt.func @computed(%p: tensor<64x32x!tt.ptr<i8>, #rows2> {tt.divisibility = 16 : i32, tt.contiguity = 16 : i32}, %s: tensor<64x!tt.ptr<f16>, #ttg.slice<{dim = 1, parent = #dot}>>, %m: !ttg.memdesc<32x128xf16, #shared2, #smem>, %c: tensor<64x128xf32, #mma2>, %n: i32) -> tensor<64x128xf32, #mma2> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x128xf32, #mma2>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<i8>, #rows2>
      %y = tt.load %s : tensor<64x!tt.ptr<f16>, #ttg.slice<{dim = 1, parent = #dot}>>
      %l = ttg.convert_layout %x : tensor<64x32xi8, #rows2> -> tensor<64x32xi8, #dot>
      %h = arith.sitofp %l : tensor<64x32xi8, #dot> to tensor<64x32xf16, #dot>
      %e = tt.expand_dims %y {axis = 1 : i32} : tensor<64xf16, #ttg.slice<{dim = 1, parent = #dot}>> -> tensor<64x1xf16, #dot>
      %b = tt.broadcast %e : tensor<64x1xf16, #dot> -> tensor<64x32xf16, #dot>
      %a = arith.mulf %h, %b : tensor<64x32xf16, #dot>
      %d = ttng.warp_group_dot %a, %m, %acc {inputPrecision = 0 : i32} : tensor<64x32xf16, #dot> * !ttg.memdesc<32x128xf16, #shared2, #smem> -> tensor<64x128xf32, #mma2>
      scf.yield %d : tensor<64x128xf32, #mma2>
    }
    tt.return %r : tensor<64x128xf32, #mma2>
  }

  // A scale for each 16 elements of a row, of which a slice along K needs one: the layout that holds them loses the
  // registers of the others, and is that of what the scale is repeated for.
  // CHECK-LABEL: @scaled
  // CHECK: scf.for
  // CHECK: [[E:%[a-z0-9_]+]] = tt.expand_dims {{.*}} : tensor<64x1xf16, #ttg.slice<{dim = 2, parent = [[PART:#linear[0-9]*]]}>> -> tensor<64x1x1xf16, [[PART]]>
  // CHECK: [[R:%[a-z0-9_]+]] = tt.broadcast [[E]] : tensor<64x1x1xf16, [[PART]]> -> tensor<64x1x16xf16, [[PART]]>
  // CHECK: [[X:%[a-z0-9_]+]] = tt.reshape [[R]] : tensor<64x1x16xf16, [[PART]]> -> tensor<64x16xf16, #ttg.dot_op<{opIdx = 0
  // CHECK: arith.mulf {{.*}}[[X]] : tensor<64x16xf16
  tt.func @scaled(%p: tensor<64x32x!tt.ptr<i8>, #rows2> {tt.divisibility = 16 : i32, tt.contiguity = 16 : i32}, %m: !ttg.memdesc<32x128xf16, #shared2, #smem>, %c: tensor<64x128xf32, #mma2>, %n: i32) -> tensor<64x128xf32, #mma2> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %scale = arith.constant dense<2.000000e+00> : tensor<64x2xf16, #ttg.slice<{dim = 2, parent = #groups}>>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x128xf32, #mma2>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<i8>, #rows2>
      %a = ttg.convert_layout %x : tensor<64x32xi8, #rows2> -> tensor<64x32xi8, #dot>
      %h = arith.sitofp %a : tensor<64x32xi8, #dot> to tensor<64x32xf16, #dot>
      %e = tt.expand_dims %scale {axis = 2 : i32} : tensor<64x2xf16, #ttg.slice<{dim = 2, parent = #groups}>> -> tensor<64x2x1xf16, #groups>
      %b = tt.broadcast %e : tensor<64x2x1xf16, #groups> -> tensor<64x2x16xf16, #groups>
      %f = tt.reshape %b : tensor<64x2x16xf16, #groups> -> tensor<64x32xf16, #dot>
      %y = arith.mulf %h, %f : tensor<64x32xf16, #dot>
      %d = ttng.warp_group_dot %y, %m, %acc {inputPrecision = 0 : i32} : tensor<64x32xf16, #dot> * !ttg.memdesc<32x128xf16, #shared2, #smem> -> tensor<64x128xf32, #mma2>
      scf.yield %d : tensor<64x128xf32, #mma2>
    }
    tt.return %r : tensor<64x128xf32, #mma2>
  }
}
