// A warp that copies what the loop multiplies.
// RUN: tilewright-opt %s --split-input-file --tritongpu-schedule-loops --tritongpu-specialize-warps=mode=always --verify-each --remarks 2>&1 | filecheck %s
// RUN: tilewright-opt %s --split-input-file --tritongpu-schedule-loops --tritongpu-specialize-warps=mode=always --tritongpu-pipeline --verify-each 2>&1 | filecheck %s --check-prefix=PIPE
// RUN: tilewright-opt %s --split-input-file --tritongpu-schedule-loops --tritongpu-specialize-warps --verify-each --remarks 2>&1 | filecheck %s --check-prefix=AUTO

// CHECK: remark: {{.*}} the warps of this loop all do the same: not only products of warp groups read what it copies

// AUTO-DAG: remark: {{.*}} the warps of this loop all do the same: it has no chain of products, whose arithmetic others could fill
// AUTO-NOT: ttg.warp_specialize

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Both operands share the barriers of a ring; eight warps say that they have read a buffer. Where the loop begins is
  // captured or computed again.
  // CHECK-LABEL: @product
  // CHECK: [[A:%[a-z0-9_]+]] = ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf16
  // CHECK: ttng.init_barrier {{.*}}, 1
  // CHECK: ttng.init_barrier {{.*}}, 8
  // CHECK: ttg.warp_specialize({{.*}}) attributes {requestedRegisters = array<i32: 24>}
  // CHECK: default {
  // CHECK: scf.for {{.*}} iter_args([[ACC:%[a-z0-9_]+]] = {{.*}}, [[LAST:%[a-z0-9_]+]] = %c-1_i32{{.*}}, [[TURN:%[a-z0-9_]+]] = %c0
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.warp_group_dot
  // CHECK: ttng.arrive_barrier {{.*}}, 1 {{.*}}perWarp
  // CHECK: ttg.copied_by_others
  // CHECK: ttg.warp_yield
  // CHECK: partition0({{.*}}) num_warps(1)
  // CHECK: scf.for
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.barrier_expect {{.*}}, 24576
  // CHECK-COUNT-2: ttng.async_tma_copy_global_to_local
  // CHECK: ttg.warp_return
  // CHECK: ttng.inval_barrier

  // The product runs on; the buffer of the one before is given back behind the wait for it.
  // PIPE-LABEL: @product
  // PIPE: scf.for {{.*}} iter_args({{.*}}, [[BEFORE:%[a-z0-9_]+]] = %c-1_i32{{[a-z0-9_]*}})
  // PIPE: ttng.warp_group_dot {{.*}}isAsync = true
  // PIPE: ttng.warp_group_dot_wait {{.*}} {pendings = 1 : i32}
  // PIPE: [[ONE:%[a-z0-9_]+]] = arith.cmpi sge, [[BEFORE]]
  // PIPE: [[B:%[a-z0-9_]+]] = ttg.memdesc_index
  // PIPE: ttng.arrive_barrier [[B]], 1, [[ONE]] {perWarp}
  // PIPE: scf.yield
  tt.func public @product(%a: !tt.tensordesc<128x64xf16, #shared>, %b: !tt.tensordesc<64x64xf16, #shared>, %n: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %row = tt.get_program_id x : i32
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %x = tt.descriptor_load %a[%row, %i] {tt.latency = 2 : i32} : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
      %y = tt.descriptor_load %b[%i, %c0] {tt.latency = 2 : i32} : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
      %ma = ttg.local_alloc %x : (tensor<128x64xf16, #rows>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %mb = ttg.local_alloc %y : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttng.warp_group_dot %ma, %mb, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      scf.yield %d : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

// CHECK-LABEL: @read_by_threads
// CHECK-NOT: ttg.warp_specialize
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @read_by_threads(%a: !tt.tensordesc<128x64xf16, #shared>, %n: i32) -> tensor<128x64xf16, #rows> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf16, #rows>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf16, #rows>) : i32 {
      %x = tt.descriptor_load %a[%c0, %i] {tt.latency = 2 : i32} : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
      %d = arith.addf %x, %acc : tensor<128x64xf16, #rows>
      scf.yield %d : tensor<128x64xf16, #rows>
    }
    tt.return %r : tensor<128x64xf16, #rows>
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

// In a loop over programs the ring goes on from one to the next, for the warp that copies as for those that multiply:
// the loop around carries its slot and turn. Where a program begins is computed again.
// CHECK-LABEL: @programs
// CHECK: default {
// CHECK: scf.for {{.*}} iter_args([[S:%[a-z0-9_]+]] = %c-1{{[a-z0-9_]*}}, [[T:%[a-z0-9_]+]] = %c0{{[a-z0-9_]*}})
// CHECK: scf.for {{.*}} iter_args({{.*}}, {{%[a-z0-9_]+}} = [[S]], {{%[a-z0-9_]+}} = [[T]])
// CHECK: ttng.wait_barrier
// CHECK: ttng.warp_group_dot
// CHECK: partition0
// CHECK: scf.for [[N:%[a-z0-9_]+]] = {{.*}} iter_args([[S:%[a-z0-9_]+]] = %c-1{{[a-z0-9_]*}}, [[T:%[a-z0-9_]+]] = %c1{{[a-z0-9_]*}})
// CHECK: [[ROW:%[a-z0-9_]+]] = arith.muli [[N]]
// CHECK: scf.for {{.*}} iter_args({{%[a-z0-9_]+}} = [[S]], {{%[a-z0-9_]+}} = [[T]])
// CHECK: ttng.async_tma_copy_global_to_local {{%[a-z0-9_]+}}{{.}}[[ROW]]
// CHECK: ttg.warp_return

// After a program's products are done, the buffer of its last round is given back, too.
// PIPE-LABEL: @programs
// PIPE: [[R:%[a-z0-9_]+]]:4 = scf.for
// PIPE: scf.yield
// PIPE: ttng.warp_group_dot_wait [[R]]#0 {pendings = 0 : i32}
// PIPE: [[ONE:%[a-z0-9_]+]] = arith.cmpi sge, [[R]]#3
// PIPE: [[B:%[a-z0-9_]+]] = ttg.memdesc_index {{%[a-z0-9_]+}}{{.}}[[R]]#3
// PIPE: ttng.arrive_barrier [[B]], 1, [[ONE]] {perWarp}
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @programs(%a: !tt.tensordesc<128x64xf16, #shared>, %b: !tt.tensordesc<64x64xf16, #shared>, %p: !tt.ptr<f32>, %n: i32, %all: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %pointers = tt.splat %p : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>, #mma>
    %first = tt.get_program_id x : i32
    %count = tt.get_num_programs x : i32
    scf.for %number = %first to %all step %count : i32 {
      %row = arith.muli %number, %c128 : i32
      %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
        %x = tt.descriptor_load %a[%row, %i] {tt.latency = 2 : i32} : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
        %y = tt.descriptor_load %b[%i, %c0] {tt.latency = 2 : i32} : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
        %ma = ttg.local_alloc %x : (tensor<128x64xf16, #rows>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
        %mb = ttg.local_alloc %y : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
        %d = ttng.warp_group_dot %ma, %mb, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
        scf.yield %d : tensor<128x64xf32, #mma>
      }
      tt.store %pointers, %r : tensor<128x64x!tt.ptr<f32>, #mma>
    } {ttg.tiles}
    tt.return
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What a program keeps for all products of its loop has a ring of two buffers, where there is room for both: the next
  // program's is filled while this one works. It is filled first, and given back after the loop.
  // CHECK-LABEL: @keeping
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x128x64xf16
  // CHECK: default {
  // CHECK: scf.for
  // CHECK: ttng.wait_barrier
  // CHECK: [[X:%[a-z0-9_]+]] = ttg.memdesc_index {{.*}}2x128x64xf16
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot [[X]],
  // CHECK: ttg.copied_by_others
  // CHECK: ttng.arrive_barrier
  // CHECK: ttg.tiles
  // CHECK: partition0
  // CHECK: scf.for
  // CHECK: ttng.barrier_expect {{.*}}, 16384
  // CHECK: ttng.async_tma_copy_global_to_local
  // CHECK: scf.for
  // CHECK: ttng.barrier_expect {{.*}}, 8192
  tt.func public @keeping(%a: !tt.tensordesc<128x64xf16, #shared>, %b: !tt.tensordesc<64x64xf16, #shared>, %c: !tt.tensordesc<128x64xf32, #shared>, %n: i32, %all: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %first = tt.get_program_id x : i32
    %step = tt.get_num_programs x : i32
    scf.for %tile = %first to %all step %step : i32 {
      %row = arith.muli %tile, %c64 : i32
      %x = tt.descriptor_load %a[%row, %c0] : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
      %ma = ttg.local_alloc %x : (tensor<128x64xf16, #rows>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
        %y = tt.descriptor_load %b[%i, %c0] {tt.latency = 2 : i32} : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
        %mb = ttg.local_alloc %y : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
        %d = ttng.warp_group_dot %ma, %mb, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
        scf.yield %d : tensor<128x64xf32, #mma>
      }
      tt.descriptor_store %c[%row, %c0], %r : !tt.tensordesc<128x64xf32, #shared>, tensor<128x64xf32, #mma>
    } {ttg.tiles}
    tt.return
  }
}
