// Barriers around asynchronous units: TMA with mbarriers, wgmma, stores; what the back end's filter lets pass.
// RUN: tilewright-opt %s --test-print-membar | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {

// Initialising a barrier and saying what it expects is the work of one thread; all others have to know of it before they
// use it. The copy's end is what the wait is for: reads need no further barrier.
// CHECK-LABEL: @load
// CHECK: ttng.init_barrier
// CHECK-NEXT: ttng.barrier_expect
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: ttng.wait_barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttng.inval_barrier
tt.func @load(%d: !tt.tensordesc<64x64xf16, #shared>, %i: i32, %p: i1) -> tensor<64x64xf16, #blocked> {
  %c0 = arith.constant 0 : i32
  %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #line, #smem, mutable>
  ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #line, #smem, mutable>
  ttng.barrier_expect %b, 8192, %p : !ttg.memdesc<1xi64, #line, #smem, mutable>
  ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttng.wait_barrier %b, %c0 : !ttg.memdesc<1xi64, #line, #smem, mutable>
  %0 = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
  ttng.inval_barrier %b : !ttg.memdesc<1xi64, #line, #smem, mutable>
  tt.return %0 : tensor<64x64xf16, #blocked>
}

// Two copies into two buffers on one barrier follow each other; a copy into a buffer that threads still read does not.
// CHECK-LABEL: @two_loads
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK: ttng.wait_barrier
// CHECK-NEXT: ttg.local_load
// CHECK: ttg.barrier local
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
tt.func @two_loads(%d: !tt.tensordesc<64x64xf16, #shared>, %i: i32, %p: i1, %b: !ttg.memdesc<1xi64, #line, #smem, mutable>) -> tensor<64x64xf16, #blocked> {
  %c0 = arith.constant 0 : i32
  %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %n = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttng.async_tma_copy_global_to_local %d[%i, %i] %n, %b, %p : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttng.wait_barrier %b, %c0 : !ttg.memdesc<1xi64, #line, #smem, mutable>
  %0 = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
  ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %1 = ttg.local_load %n : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
  %2 = arith.addf %0, %1 : tensor<64x64xf16, #blocked>
  tt.return %2 : tensor<64x64xf16, #blocked>
}

// What threads write, wgmma reads after a barrier; its reads are over where it was waited for, and others know of that after
// another barrier.
// CHECK-LABEL: @products
// CHECK: ttg.local_store
// CHECK: ttg.barrier local
// CHECK-NEXT: ttng.warp_group_dot
// CHECK-NEXT: ttng.warp_group_dot_wait
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_store
tt.func @products(%x: tensor<64x64xf16, #blocked>, %acc: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
  %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %0 = ttng.warp_group_dot %m, %m, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
  %1 = ttng.warp_group_dot_wait %0 {pendings = 0 : i32} : tensor<64x64xf32, #mma>
  ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return %1 : tensor<64x64xf32, #mma>
}

// A copy out of shared memory: after what threads wrote, and over for all after the wait and a barrier.
// CHECK-LABEL: @store
// CHECK: ttg.local_store
// CHECK: ttg.barrier local
// CHECK: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: ttng.async_tma_store_wait
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_store
tt.func @store(%d: !tt.tensordesc<64x64xf16, #shared>, %i: i32, %x: tensor<64x64xf16, #blocked>) {
  %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttng.fence_async_shared {bCluster = false}
  ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttng.async_tma_store_wait {pendings = 0 : i32}
  ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return
}

// Who waits may not be overtaken, but may come before the signal.
// CHECK-LABEL: @arrivals
// CHECK: ttng.arrive_barrier
// CHECK-NEXT: ttng.wait_barrier
tt.func @arrivals(%b: !ttg.memdesc<1xi64, #line, #smem, mutable>) {
  %c0 = arith.constant 0 : i32
  ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #line, #smem, mutable>
  ttng.wait_barrier %b, %c0 : !ttg.memdesc<1xi64, #line, #smem, mutable>
  tt.return
}

// What a callee left undone is done before the caller goes on, through callees of callees.
// CHECK-LABEL: @leaf
// CHECK-NOT: ttg.barrier local
// CHECK-LABEL: @between
// CHECK: tt.call @leaf
// CHECK-NEXT: tt.return
// CHECK-LABEL: @root
// CHECK: tt.call @between
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_load
tt.func private @leaf(%x: tensor<64x64xf16, #blocked>, %m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) attributes {noinline = true} {
  ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return
}
tt.func private @between(%x: tensor<64x64xf16, #blocked>, %m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) attributes {noinline = true} {
  tt.call @leaf(%x, %m) : (tensor<64x64xf16, #blocked>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) -> ()
  tt.return
}
tt.func public @root(%x: tensor<64x64xf16, #blocked>) -> tensor<64x64xf16, #blocked> {
  %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.call @between(%x, %m) : (tensor<64x64xf16, #blocked>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) -> ()
  %0 = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
  tt.return %0 : tensor<64x64xf16, #blocked>
}
}
