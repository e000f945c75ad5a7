// A of a pipelined `wgmma` in registers: read from shared memory slice by slice along K while the product of the slice
// before runs; what the last round started is complete before the registers are written again. One wait for the copies
// of both operands.
// RUN: tilewright-opt %s --tritongpu-assign-latencies --tritongpu-schedule-loops --tritongpu-pipeline --verify-each | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 8]}>
#linear = #ttg.linear<{register = [[0, 8], [4, 0], [8, 0]], lane = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16], [0, 32]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 32}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 32}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: [[BUFFER:#shared[0-9]*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>
  // CHECK-LABEL: @product
  // CHECK: scf.for
  // CHECK-NOT: scf.yield
  // CHECK: [[W:%[a-z0-9_]+]] = ttg.async_wait {{%[a-z0-9_]+, %[a-z0-9_]+|%[a-z0-9_]+}} {num = 1 : i32}
  // CHECK: [[T:%[a-z0-9_]+]] = ttg.memdesc_trans {{.*}} : !ttg.memdesc<16x64xf32, [[BUFFER]],
  // CHECK: [[A0:%[a-z0-9_]+]] = ttg.memdesc_subslice [[T]][0, 0]
  // CHECK: [[B0:%[a-z0-9_]+]] = ttg.memdesc_subslice {{.*}}[0, 0]
  // CHECK: [[ACC:%[a-z0-9_]+]] = ttng.warp_group_dot_wait {{.*}} {pendings = 0 : i32}
  // CHECK: [[R0:%[a-z0-9_]+]] = ttg.local_load [[A0]] token [[W]]
  // CHECK: [[D0:%[a-z0-9_]+]] = ttng.warp_group_dot [[R0]], [[B0]], [[ACC]] {{.*}}isAsync = true
  // CHECK: [[A1:%[a-z0-9_]+]] = ttg.memdesc_subslice [[T]][0, 8]
  // CHECK: [[B1:%[a-z0-9_]+]] = ttg.memdesc_subslice {{.*}}[8, 0]
  // CHECK: [[R1:%[a-z0-9_]+]] = ttg.local_load [[A1]] token [[W]]
  // CHECK: ttng.warp_group_dot [[R1]], [[B1]], [[D0]] {{.*}}isAsync = true
  // CHECK-NOT: ttng.warp_group_dot_wait
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.yield
  // CHECK: ttng.warp_group_dot_wait {{.*}} {pendings = 0 : i32}
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
}
