// A kernel that is nothing but roles: the copying warp prepares its first copies before it waits for the others.
// RUN: tilewright-opt %s --tritongpu-enter-roles-directly --verify-each 2>&1 | filecheck %s

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#barrier = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What follows from the program's number is carried; what the first copy of each kind reads is fetched.
  // CHECK-LABEL: @over_programs
  // CHECK: ttng.init_barrier
  // CHECK: ttg.warp_specialize({{.*}}) attributes {ttg.direct}
  // CHECK: partition0
  // CHECK: [[ROW:%[a-z0-9_]+]] = arith.muli [[FIRST:%[a-z0-9_]+]], %c128
  // CHECK: [[B:%[a-z0-9_]+]] = ttg.memdesc_index
  // CHECK-NEXT: ttng.async_tma_prefetch %{{.*}}{{\[}}[[ROW]], %c0{{.*}}] [[B]]
  // CHECK-NEXT: ttng.start_role
  // CHECK-NEXT: scf.for [[I:%[a-z0-9_]+]] = [[FIRST]] to {{.*}} step [[STEP:%[a-z0-9_]+]] iter_args([[CARRIED:%[a-z0-9_]+]] = [[ROW]])
  // CHECK-NEXT: scf.for [[K:%[a-z0-9_]+]] =
  // CHECK: ttng.async_tma_copy_global_to_local %{{.*}}{{\[}}[[CARRIED]], [[K]]]
  // CHECK: [[NEXT:%[a-z0-9_]+]] = arith.addi [[I]], [[STEP]]
  // CHECK-NEXT: [[LATER:%[a-z0-9_]+]] = arith.muli [[NEXT]], %c128
  // CHECK-NEXT: scf.yield [[LATER]]
  // CHECK-NOT: ttng.inval_barrier
  // CHECK: tt.return
  tt.func public @over_programs(%d: !tt.tensordesc<128x64xf16, #shared>, %n: i32, %k: i32) {
    %ring = ttg.local_alloc : () -> !ttg.memdesc<1x128x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #barrier, #smem, mutable>
    ttng.init_barrier %full, 1 : !ttg.memdesc<1xi64, #barrier, #smem, mutable>
    ttg.warp_specialize(%d, %n, %k, %ring, %full)
    default {
      ttg.warp_yield
    }
    partition0(%e: !tt.tensordesc<128x64xf16, #shared>, %all: i32, %deep: i32, %buffers: !ttg.memdesc<1x128x64xf16, #shared, #smem, mutable>, %filled: !ttg.memdesc<1xi64, #barrier, #smem, mutable>) num_warps(1) {
      %c0 = arith.constant 0 : i32
      %c64 = arith.constant 64 : i32
      %c128 = arith.constant 128 : i32
      %true = arith.constant true
      %first = tt.get_program_id x : i32
      %count = tt.get_num_programs x : i32
      scf.for %i = %first to %all step %count : i32 {
        %row = arith.muli %i, %c128 : i32
        scf.for %j = %c0 to %deep step %c64 : i32 {
          %b = ttg.memdesc_index %buffers[%c0] : !ttg.memdesc<1x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
          ttng.async_tma_copy_global_to_local %e[%row, %j] %b, %filled, %true : !tt.tensordesc<128x64xf16, #shared>, !ttg.memdesc<1xi64, #barrier, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
        }
      }
      ttg.warp_return
    } : (!tt.tensordesc<128x64xf16, #shared>, i32, i32, !ttg.memdesc<1x128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #barrier, #smem, mutable>) -> ()
    ttng.inval_barrier %full : !ttg.memdesc<1xi64, #barrier, #smem, mutable>
    tt.return
  }

  // Where a copy begins is read from memory: the partition waits for the others before that.
  // CHECK-LABEL: @from_memory
  // CHECK: partition0
  // CHECK: ttng.start_role
  // CHECK: tt.load
  // CHECK-NOT: ttng.async_tma_prefetch
  // CHECK: tt.return
  tt.func public @from_memory(%p: !tt.ptr<i32>) {
    ttg.warp_specialize(%p)
    default {
      ttg.warp_yield
    }
    partition0(%q: !tt.ptr<i32>) num_warps(1) {
      %x = tt.load %q : !tt.ptr<i32>
      tt.store %q, %x : !tt.ptr<i32>
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    tt.return
  }

  // More comes after the roles: all warps meet there.
  // CHECK-LABEL: @and_more
  // CHECK-NOT: ttg.direct
  // CHECK-NOT: ttng.start_role
  // CHECK: tt.return
  tt.func public @and_more(%p: !tt.ptr<i32>, %n: i32) {
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.store %p, %n : !tt.ptr<i32>
    tt.return
  }
}
