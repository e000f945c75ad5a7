// Results for which there is too little shared memory are stored in parts, in a loop over programs.
// RUN: tilewright-opt %s --tritongpu-pipeline --verify-each | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 256, 16]}>
#narrow = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [2, 4], order = [1, 0]}>
#rows = #ttg.linear<{register = [[1, 0], [0, 8], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16], [0, 32], [0, 64]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Columns in registers, through two buffers, each of which is waited for before it is written again. A conversion is
  // not made whole. 34 KiB are left.
  // CHECK-LABEL: @columns
  // CHECK-NOT: ttg.copy_rows
  // CHECK: %[[M:.*]] = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
  // CHECK-NEXT: %[[N:.*]] = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
  // CHECK-NEXT: scf.for %[[I:.*]] = 
  // CHECK: %[[A:.*]], %[[B:.*]] = tt.split %{{.*}} : tensor<128x128x2xf16
  // CHECK: %[[A0:.*]], %[[A1:.*]] = tt.split %{{.*}} : tensor<128x64x2xf16
  // CHECK: %[[B0:.*]], %[[B1:.*]] = tt.split %{{.*}} : tensor<128x64x2xf16
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
  // CHECK-NEXT: ttg.local_store %[[A0]], %[[M]]
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global %{{.*}}[%[[I]], %c0_i32] %[[M]] : !tt.tensordesc<128x256xf16, #shared>, !ttg.memdesc<128x64xf16
  // CHECK: %[[C:.*]] = arith.constant 64 : i32
  // CHECK-NEXT: %[[AT:.*]] = arith.addi %c0_i32, %[[C]]
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
  // CHECK-NEXT: ttg.local_store %[[A1]], %[[N]]
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global %{{.*}}[%[[I]], %[[AT]]] %[[N]]
  // CHECK: ttg.local_store %[[B0]], %[[M]]
  // CHECK: ttg.local_store %[[B1]], %[[N]]
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // CHECK-NEXT: } {ttg.tiles}
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_dealloc %[[M]]
  // CHECK-NEXT: ttg.local_dealloc %[[N]]
  tt.func public @columns(%d: !tt.tensordesc<128x256xf16, #shared>, %x: tensor<128x256xf16, #mma>, %n: i32) {
    %c0_i32 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<12x128x64xf16, #shared, #smem, mutable>
    scf.for %i = %c0_i32 to %n step %c1 : i32 {
      %y = ttg.convert_layout %x : tensor<128x256xf16, #mma> -> tensor<128x256xf16, #blocked>
      tt.descriptor_store %d[%i, %c0_i32], %y : !tt.tensordesc<128x256xf16, #shared>, tensor<128x256xf16, #blocked>
    } {ttg.tiles}
    ttg.local_dealloc %ring : !ttg.memdesc<12x128x64xf16, #shared, #smem, mutable>
    tt.return
  }

  // Rows, where these are in registers: the launcher makes the tensor map for boxes of so many. 82 KiB are left.
  // CHECK-LABEL: @rows
  // CHECK-SAME: ttg.copy_rows = 64 : i32
  // CHECK-COUNT-2: ttg.local_alloc : () -> !ttg.memdesc<64x128xf32
  // CHECK-COUNT-4: ttng.async_tma_copy_local_to_global {{.*}} !tt.tensordesc<256x128xf32, #shared1>, !ttg.memdesc<64x128xf32
  // CHECK: } {ttg.tiles}
  tt.func public @rows(%d: !tt.tensordesc<256x128xf32, #wide>, %x: tensor<256x128xf32, #rows>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<9x128x64xf16, #shared, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<256x128xf32, #wide>, tensor<256x128xf32, #rows>
    } {ttg.tiles}
    ttg.local_dealloc %ring : !ttg.memdesc<9x128x64xf16, #shared, #smem, mutable>
    tt.return
  }

  // Of less room, eight parts.
  // CHECK-LABEL: @few_rows
  // CHECK-SAME: ttg.copy_rows = 32 : i32
  // CHECK-COUNT-8: ttng.async_tma_copy_local_to_global {{.*}} !ttg.memdesc<32x128xf32
  tt.func public @few_rows(%d: !tt.tensordesc<256x128xf32, #wide>, %x: tensor<256x128xf32, #rows>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<12x128x64xf16, #shared, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<256x128xf32, #wide>, tensor<256x128xf32, #rows>
    } {ttg.tiles}
    ttg.local_dealloc %ring : !ttg.memdesc<12x128x64xf16, #shared, #smem, mutable>
    tt.return
  }

  // Parts of 16 columns are too small for the lines of the swizzle: one buffer then, of 32.
  // CHECK-LABEL: @one_buffer
  // CHECK-NOT: copy_rows
  // CHECK: %[[M:.*]] = ttg.local_alloc : () -> !ttg.memdesc<256x32xf32
  // CHECK-NEXT: scf.for
  // CHECK-COUNT-4: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK: } {ttg.tiles}
  tt.func public @one_buffer(%d: !tt.tensordesc<256x128xf32, #wide>, %x: tensor<256x128xf32, #narrow>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<12x128x64xf16, #shared, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<256x128xf32, #wide>, tensor<256x128xf32, #narrow>
    } {ttg.tiles}
    ttg.local_dealloc %ring : !ttg.memdesc<12x128x64xf16, #shared, #smem, mutable>
    tt.return
  }

  // What fits stays whole, and so do rows through a map that others read through, what warps share out, and loops over
  // anything else.
  // CHECK-LABEL: @whole
  // CHECK-NOT: copy_rows
  // CHECK-NOT: tt.split
  tt.func public @whole(%d: !tt.tensordesc<128x256xf16, #shared>, %x: tensor<128x256xf16, #mma>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<9x128x64xf16, #shared, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<128x256xf16, #shared>, tensor<128x256xf16, #mma>
    } {ttg.tiles}
    ttg.local_dealloc %ring : !ttg.memdesc<9x128x64xf16, #shared, #smem, mutable>
    tt.return
  }
  tt.func public @shared_map(%d: !tt.tensordesc<256x128xf32, #wide>, %x: tensor<256x128xf32, #rows>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<9x128x64xf16, #shared, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<256x128xf32, #wide>, tensor<256x128xf32, #rows>
    } {ttg.tiles}
    ttg.local_dealloc %ring : !ttg.memdesc<9x128x64xf16, #shared, #smem, mutable>
    tt.descriptor_store %d[%n, %c0], %x : !tt.tensordesc<256x128xf32, #wide>, tensor<256x128xf32, #rows>
    tt.return
  }
  tt.func public @shared_out(%d: !tt.tensordesc<128x256xf16, #shared>, %x: tensor<128x256xf16, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<12x128x64xf16, #shared, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<128x256xf16, #shared>, tensor<128x256xf16, #blocked>
    } {ttg.tiles}
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %c0], %x : !tt.tensordesc<128x256xf16, #shared>, tensor<128x256xf16, #blocked>
    }
    ttg.local_dealloc %ring : !ttg.memdesc<12x128x64xf16, #shared, #smem, mutable>
    tt.return
  }
}
