// Accesses through descriptors, with layouts that TMA writes.
// RUN: tilewright-opt %s --triton-nvidia-optimize-descriptor-encoding --triton-nvidia-tma-lowering --verify-each | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @copy
  // CHECK-SAME: !tt.tensordesc<128x64xf16, #shared>
  // CHECK: ttng.init_barrier
  // CHECK: ttng.barrier_expect %{{.*}}, 16384, %true
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.inval_barrier
  // CHECK: ttg.local_load
  // CHECK: ttg.local_alloc %
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  tt.func @copy(%a: !tt.tensordesc<128x64xf16>, %b: !tt.tensordesc<128x64xf16>, %i: i32) {
    %0 = tt.descriptor_load %a[%i, %i] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16, #blocked>
    tt.descriptor_store %b[%i, %i], %0 : !tt.tensordesc<128x64xf16>, tensor<128x64xf16, #blocked>
    tt.return
  }

  // CHECK-LABEL: @made
  // CHECK: ttg.global_scratch_alloc
  // CHECK: ttng.tensormap_create {{.*}} {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32}
  // CHECK: ttng.tensormap_fenceproxy_acquire
  // CHECK: ttng.reinterpret_tensor_descriptor
  // CHECK: ttng.async_tma_reduce add
  tt.func @made(%p: !tt.ptr<f16>, %n: i32, %s: i64, %x: tensor<128x64xf16, #blocked>) {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <tensor<128x64xf16>>
    tt.descriptor_reduce add, %d[%n, %n], %x : !tt.tensordesc<128x64xf16>, tensor<128x64xf16, #blocked>
    tt.return
  }
}
