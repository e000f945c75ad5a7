// Matrix products move to tensor cores.
// RUN: tilewright-opt %s --tritongpu-accelerate-matmul --verify-each | filecheck %s
// RUN: tilewright-opt %s --tritongpu-accelerate-matmul="widen-in-registers=false" --verify-each | filecheck %s --check-prefix=MEMORY

#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#columns1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#batch = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 4, 8], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
#a3 = #ttg.dot_op<{opIdx = 0, parent = #batch}>
#b3 = #ttg.dot_op<{opIdx = 1, parent = #batch}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Both operands are loads: both go to shared memory, in the order they were loaded in.
  // CHECK-LABEL: @hopper
  // CHECK: ttg.local_alloc %{{.*}} : (tensor<128x64xf16, #[[ROWS:blocked[0-9]*]]>) -> !ttg.memdesc<128x64xf16, #[[K:shared[0-9]*]], #smem>
  // CHECK: ttg.local_alloc %{{.*}} : (tensor<64x128xf16, #[[COLUMNS:blocked[0-9]*]]>) -> !ttg.memdesc<64x128xf16, #[[T:shared[0-9]*]], #smem>
  // CHECK: ttng.warp_group_dot {{.*}} -> tensor<128x128xf32, #mma{{[0-9]*}}>
  // CHECK: ttg.convert_layout {{.*}} #blocked{{[0-9]*}}>
  tt.func @hopper(%pa: tensor<128x64x!tt.ptr<f16>, #rows>, %pb: tensor<64x128x!tt.ptr<f16>, #columns>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %0 = tt.load %pa : tensor<128x64x!tt.ptr<f16>, #rows>
    %1 = tt.load %pb : tensor<64x128x!tt.ptr<f16>, #columns>
    %2 = ttg.convert_layout %0 : tensor<128x64xf16, #rows> -> tensor<128x64xf16, #a>
    %3 = ttg.convert_layout %1 : tensor<64x128xf16, #columns> -> tensor<64x128xf16, #b>
    %4 = tt.dot %2, %3, %c : tensor<128x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<128x128xf32, #blocked>
    tt.return %4 : tensor<128x128xf32, #blocked>
  }

  // 32-bit elements need K contiguous in shared memory, however they were loaded.
  // CHECK-LABEL: @tf32
  // CHECK: ttg.local_alloc %{{.*}} : (tensor<32x128xf32, #{{.*}}>) -> !ttg.memdesc<32x128xf32, #[[F:shared[0-9]*]], #smem>
  // CHECK: ttng.warp_group_dot
  tt.func @tf32(%pa: tensor<128x32x!tt.ptr<f32>, #rows>, %pb: tensor<32x128x!tt.ptr<f32>, #rows>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %0 = tt.load %pa : tensor<128x32x!tt.ptr<f32>, #rows>
    %1 = tt.load %pb : tensor<32x128x!tt.ptr<f32>, #rows>
    %2 = ttg.convert_layout %0 : tensor<128x32xf32, #rows> -> tensor<128x32xf32, #a>
    %3 = ttg.convert_layout %1 : tensor<32x128xf32, #rows> -> tensor<32x128xf32, #b>
    %4 = tt.dot %2, %3, %c, inputPrecision = tf32 : tensor<128x32xf32, #a> * tensor<32x128xf32, #b> -> tensor<128x128xf32, #blocked>
    tt.return %4 : tensor<128x128xf32, #blocked>
  }

  // Exact f32 products stay where they are.
  // CHECK-LABEL: @ieee
  // CHECK-NOT: mma
  // CHECK: tt.dot {{.*}} -> tensor<128x128xf32, #blocked{{[0-9]*}}>
  tt.func @ieee(%x: tensor<128x32xf32, #a>, %y: tensor<32x128xf32, #b>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %0 = tt.dot %x, %y, %c : tensor<128x32xf32, #a> * tensor<32x128xf32, #b> -> tensor<128x128xf32, #blocked>
    tt.return %0 : tensor<128x128xf32, #blocked>
  }

  // An operand that is computed stays in registers.
  // CHECK-LABEL: @computed
  // CHECK: arith.addf
  // CHECK: ttng.warp_group_dot {{.*}} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma{{[0-9]*}}, kWidth = 2}>> * !ttg.memdesc
  tt.func @computed(%x: tensor<64x64xf16, #a>, %y: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %0 = arith.addf %x, %x : tensor<64x64xf16, #a>
    %1 = tt.dot %0, %y, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %1 : tensor<64x64xf32, #blocked>
  }

  // B that is computed from narrower elements is A of the product of the transposes, in registers.
  // CHECK-LABEL: @widened
  // CHECK: ttng.warp_group_dot {{.*}} : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma{{[0-9]*}}, kWidth = 2}>> * !ttg.memdesc<64x64xf16
  // CHECK: tt.trans
  // MEMORY-LABEL: @widened
  // MEMORY: ttng.warp_group_dot {{.*}} : !ttg.memdesc<64x64xf16, {{.*}} * !ttg.memdesc<64x128xf16
  tt.func @widened(%px: tensor<64x64x!tt.ptr<f16>, #rows>, %pw: tensor<128x64x!tt.ptr<i8>, #rows>, %c: tensor<64x128xf32, #blocked>) -> tensor<64x128xf32, #blocked> {
    %x = tt.load %px : tensor<64x64x!tt.ptr<f16>, #rows>
    %w = tt.load %pw : tensor<128x64x!tt.ptr<i8>, #rows>
    %wide = arith.sitofp %w : tensor<128x64xi8, #rows> to tensor<128x64xf16, #rows>
    %t = tt.trans %wide {order = array<i32: 1, 0>} : tensor<128x64xf16, #rows> -> tensor<64x128xf16, #columns1>
    %a = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #a>
    %b = ttg.convert_layout %t : tensor<64x128xf16, #columns1> -> tensor<64x128xf16, #b>
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #blocked>
    tt.return %d : tensor<64x128xf32, #blocked>
  }

  // Too few rows for a warp group, and batches: mma.sync.
  // CHECK-LABEL: @few_rows
  // CHECK: tt.dot {{.*}} -> tensor<32x64xf32, #mma{{[0-9]*}}>
  tt.func @few_rows(%x: tensor<32x64xf16, #a>, %y: tensor<64x64xf16, #b>, %c: tensor<32x64xf32, #blocked>) -> tensor<32x64xf32, #blocked> {
    %0 = tt.dot %x, %y, %c : tensor<32x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<32x64xf32, #blocked>
    tt.return %0 : tensor<32x64xf32, #blocked>
  }
  // CHECK-LABEL: @batches
  // CHECK: tt.dot {{.*}} : tensor<4x64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma{{[0-9]*}}, kWidth = 2}>>
  tt.func @batches(%x: tensor<4x64x32xf16, #a3>, %y: tensor<4x32x64xf16, #b3>, %c: tensor<4x64x64xf32, #batch>) -> tensor<4x64x64xf32, #batch> {
    %0 = tt.dot %x, %y, %c : tensor<4x64x32xf16, #a3> * tensor<4x32x64xf16, #b3> -> tensor<4x64x64xf32, #batch>
    tt.return %0 : tensor<4x64x64xf32, #batch>
  }

  // 8-bit floats that may not be summed imprecisely take mma.sync, which has f16 for them on this GPU. Four stay together in
  // a thread, as they were loaded.
  // CHECK-LABEL: @exact_fp8
  // CHECK-COUNT-2: tt.fp_to_fp {{.*}} -> tensor<64x64xf16
  // CHECK: tt.dot {{.*}} : tensor<64x64xf16, {{.*}}kWidth = 4}>>
  tt.func @exact_fp8(%x: tensor<64x64xf8E4M3FN, #a>, %y: tensor<64x64xf8E4M3FN, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %0 = tt.dot %x, %y, %c : tensor<64x64xf8E4M3FN, #a> * tensor<64x64xf8E4M3FN, #b> -> tensor<64x64xf32, #blocked>
    tt.return %0 : tensor<64x64xf32, #blocked>
  }

  // K of 8 is too short for 16-bit instructions: ordinary arithmetic in f32.
  // CHECK-LABEL: @short
  // CHECK: arith.extf
  // CHECK: tt.dot {{.*}} : tensor<16x8xf32, #ttg.dot_op<{opIdx = 0, parent = #blocked{{[0-9]*}}}>>
  tt.func @short(%x: tensor<16x8xf16, #a>, %y: tensor<8x16xf16, #b>, %c: tensor<16x16xf32, #blocked>) -> tensor<16x16xf32, #blocked> {
    %0 = tt.dot %x, %y, %c : tensor<16x8xf16, #a> * tensor<8x16xf16, #b> -> tensor<16x16xf32, #blocked>
    tt.return %0 : tensor<16x16xf32, #blocked>
  }
}
