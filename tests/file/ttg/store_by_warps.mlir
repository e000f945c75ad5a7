// Each warp has its own rows of a result copied, where programs are done one after the other and warp groups take turns.
// RUN: tilewright-opt %s --tritongpu-store-by-warps --verify-each 2>&1 | filecheck %s
// RUN: tilewright-opt %s --tritongpu-store-by-warps --allocate-shared-memory --membar --verify-each 2>&1 | filecheck %s --check-prefix=MEMBAR

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @in_turns
  // CHECK-SAME: ttg.copy_rows = 16 : i32
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, perWarp, read_only}
  // CHECK: ttng.async_tma_copy_local_to_global {{.*}} {warpRows = 16 : i32}
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, perWarp, read_only}
  // MEMBAR-LABEL: @in_turns
  // MEMBAR: scf.for
  // MEMBAR-NOT: ttg.barrier local
  // MEMBAR: } {ttg.tiles}
  tt.func public @in_turns(%d: !tt.tensordesc<128x64xf16, #shared>, %n: i32, %true: i1, %x: tensor<128x64xf16, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.pass_turn %true
      ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
      ttg.local_store %x, %m : tensor<128x64xf16, #mma> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %d[%i, %c0] %m : !tt.tensordesc<128x64xf16, #shared>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    } {ttg.tiles}
    ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
    ttg.local_dealloc %m : !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    tt.return
  }

  // Rows of 4 each, in the order of blocks: a warp has rows that lie apart from one another.
  // CHECK-LABEL: @of_all_warps
  // CHECK-NOT: warpRows
  // CHECK-NOT: perWarp
  // CHECK: tt.return
  // MEMBAR-LABEL: @of_all_warps
  // MEMBAR: ttng.async_tma_store_wait
  // MEMBAR: ttg.barrier local
  // MEMBAR: ttg.local_store
  // MEMBAR: ttg.barrier local
  // MEMBAR: ttng.async_tma_copy_local_to_global
  tt.func public @of_all_warps(%d: !tt.tensordesc<128x64xf16, #shared>, %n: i32, %true: i1, %x: tensor<128x64xf16, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.pass_turn %true
      ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
      ttg.local_store %x, %m : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %d[%i, %c0] %m : !tt.tensordesc<128x64xf16, #shared>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    } {ttg.tiles}
    ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
    tt.return
  }

  // Another loop, and one whose groups work side by side.
  // CHECK-LABEL: @side_by_side
  // CHECK-NOT: warpRows
  tt.func public @side_by_side(%d: !tt.tensordesc<128x64xf16, #shared>, %n: i32, %x: tensor<128x64xf16, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
      ttg.local_store %x, %m : tensor<128x64xf16, #mma> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %d[%i, %c0] %m : !tt.tensordesc<128x64xf16, #shared>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    } {ttg.tiles}
    tt.return
  }
}
