// Fences between what threads write to shared memory and the units that read or overwrite it.
// RUN: tilewright-opt %s --triton-nvidia-gpu-proxy-fence-insertion | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!box = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #line, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {

// CHECK-LABEL: @store
// CHECK: ttg.local_store
// CHECK-NEXT: ttng.fence_async_shared {bCluster = false}
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NOT: fence
tt.func @store(%d: !tt.tensordesc<64x64xf16, #shared>, %x: tensor<64x64xf16, #blocked>, %i: i32) {
  %m = ttg.local_alloc : () -> !box
  ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !box
  ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xf16, #shared>, !box
  ttng.async_tma_store_wait {pendings = 0 : i32}
  ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xf16, #shared>, !box
  tt.return
}

// What the kernel says itself is enough, and other buffers need nothing.
// CHECK-LABEL: @said
// CHECK-COUNT-1: fence_async_shared
// CHECK-NOT: fence_async_shared
tt.func @said(%d: !tt.tensordesc<64x64xf16, #shared>, %x: tensor<64x64xf16, #blocked>, %i: i32) {
  %m = ttg.local_alloc : () -> !box
  %n = ttg.local_alloc : () -> !box
  ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !box
  ttng.fence_async_shared {bCluster = false}
  ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xf16, #shared>, !box
  ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !box
  ttng.async_tma_copy_local_to_global %d[%i, %i] %n : !tt.tensordesc<64x64xf16, #shared>, !box
  ttg.local_dealloc %n : !box
  ttg.local_dealloc %m : !box
  tt.return
}

// Around a loop: the store of one iteration is what the copy of the next reads.
// CHECK-LABEL: @around
// CHECK: scf.for
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NOT: fence
tt.func @around(%d: !tt.tensordesc<64x64xf16, #shared>, %x: tensor<64x64xf16, #blocked>, %i: i32) {
  %m = ttg.local_alloc : () -> !box
  scf.for %k = %i to %i step %i : i32 {
    ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xf16, #shared>, !box
    ttng.async_tma_store_wait {pendings = 0 : i32}
    ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !box
  }
  tt.return
}

// A product reads what threads have written; what TMA has copied, it sees.
// CHECK-LABEL: @product
// CHECK: ttng.wait_barrier
// CHECK-NEXT: ttng.warp_group_dot
// CHECK: ttg.local_store
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.warp_group_dot
tt.func @product(%d: !tt.tensordesc<64x64xf16, #shared>, %x: tensor<64x64xf16, #blocked>, %acc: tensor<64x64xf32, #mma>, %b: !bar, %i: i32, %p: i1) -> tensor<64x64xf32, #mma> {
  %m = ttg.local_alloc : () -> !box
  ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p : !tt.tensordesc<64x64xf16, #shared>, !bar -> !box
  ttng.wait_barrier %b, %i : !bar
  %0 = ttng.warp_group_dot %m, %m, %acc : !box * !box -> tensor<64x64xf32, #mma>
  ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !box
  %1 = ttng.warp_group_dot %m, %m, %0 : !box * !box -> tensor<64x64xf32, #mma>
  tt.return %1 : tensor<64x64xf32, #mma>
}

// In functions: the caller's copy reads what the callee has written, and the other way round.
// CHECK-LABEL: @writes
// CHECK-NOT: fence
// CHECK-LABEL: @copies
// CHECK-NOT: fence
// CHECK-LABEL: @calls
// CHECK: tt.call @writes
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK: ttg.local_store
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: tt.call @copies
tt.func private @writes(%m: !box, %x: tensor<64x64xf16, #blocked>) {
  ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !box
  tt.return
}
tt.func private @copies(%m: !box, %d: !tt.tensordesc<64x64xf16, #shared>, %i: i32) {
  ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xf16, #shared>, !box
  tt.return
}
tt.func @calls(%d: !tt.tensordesc<64x64xf16, #shared>, %x: tensor<64x64xf16, #blocked>, %i: i32) {
  %m = ttg.local_alloc : () -> !box
  tt.call @writes(%m, %x) : (!box, tensor<64x64xf16, #blocked>) -> ()
  ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xf16, #shared>, !box
  ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !box
  tt.call @copies(%m, %d, %i) : (!box, !tt.tensordesc<64x64xf16, #shared>, i32) -> ()
  tt.return
}

}
