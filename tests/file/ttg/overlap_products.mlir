// The first product of the next iteration, and the arithmetic behind it, beside the last product of this one.
// RUN: tilewright-opt %s --tritongpu-schedule-loops --tritongpu-overlap-products=mode=always --verify-each --remarks 2>&1 | filecheck %s
// RUN: tilewright-opt %s --tritongpu-schedule-loops --tritongpu-overlap-products --verify-each --remarks 2>&1 | filecheck %s --check-prefix=AUTO

// AUTO-DAG: remark: {{.*}} matmuls of this loop do not overlap: it would hide 256 clocks of a round, and take 512 more

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A round of the loop starts the product with the next %k, then that of %p with %v, and makes the next %p meanwhile;
  // %v is loaded a round later than before.
  // CHECK-LABEL: @chain
  // CHECK: [[X:%[a-z0-9_]+]] = tt.load %{{.*}} {loop.cluster = [[C:[0-9]+]] : i32, loop.stage = 0 : i32}
  // CHECK: ttng.warp_group_dot %{{.*}} {{.*}}loop.cluster = 0 : i32, loop.stage = 2 : i32
  // CHECK: math.exp2 {{.*}} {loop.cluster = 2 : i32, loop.stage = 2 : i32}
  // CHECK: tt.load %{{.*}} {loop.cluster = [[C]] : i32, loop.stage = 1 : i32}
  // CHECK: ttng.warp_group_dot %{{.*}} {{.*}}loop.cluster = 1 : i32, loop.stage = 3 : i32
  // CHECK: {tt.scheduled_max_stage = 3 : i32, ttg.meet_at_mbarriers}
  // AUTO-LABEL: @chain
  // AUTO: {tt.scheduled_max_stage = 2 : i32}
  tt.func @chain(%q: !ttg.memdesc<128x64xf16, #shared, #smem>, %pk: tensor<64x64x!tt.ptr<f16>, #rows>, %pv: tensor<64x64x!tt.ptr<f16>, #rows>, %c: tensor<128x64xf32, #mma>, %n: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<128x64xf32, #mma>) : i32 {
      %x = tt.load %pk {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #rows>
      %k = ttg.local_alloc %x : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %s = ttng.warp_group_dot %q, %k, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      %e = math.exp2 %s : tensor<128x64xf32, #mma>
      %h = arith.truncf %e : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %p = ttg.convert_layout %h : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #dot>
      %y = tt.load %pv {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #rows>
      %v = ttg.local_alloc %y : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %o = ttng.warp_group_dot %p, %v, %acc {inputPrecision = 0 : i32} : tensor<128x64xf16, #dot> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      scf.yield %o : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}
