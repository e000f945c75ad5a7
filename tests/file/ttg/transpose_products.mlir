// f32 products whose B lies along N: the transpose of the product of the transposes, with B in registers; the loop
// carries the transposed sum.
// RUN: tilewright-opt %s --tritongpu-accelerate-matmul --verify-each | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>

// CHECK-DAG: [[MMA:#mma[0-9]*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @loop
  // CHECK: [[INIT:%[a-z0-9_]+]] = tt.trans {{.*}} : tensor<128x64xf32, {{.*}} -> tensor<64x128xf32
  // CHECK-NEXT: [[LOOP:%[a-z0-9_]+]] = scf.for {{.*}} iter_args([[ACC:%[a-z0-9_]+]] = [[INIT]]) -> (tensor<64x128xf32
  // CHECK: [[X:%[a-z0-9_]+]] = tt.load
  // CHECK: [[Y:%[a-z0-9_]+]] = tt.load
  // CHECK-NOT: tt.trans [[ACC]]
  // CHECK: [[YT:%[a-z0-9_]+]] = tt.trans [[Y]] {order = array<i32: 1, 0>} : tensor<32x64xf32
  // CHECK: [[XT:%[a-z0-9_]+]] = tt.trans [[X]] {order = array<i32: 1, 0>} : tensor<128x32xf32
  // CHECK: [[A:%[a-z0-9_]+]] = ttg.convert_layout [[YT]] : {{.*}} -> tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = [[MMA]], kWidth = 1}>>
  // CHECK: [[B:%[a-z0-9_]+]] = ttg.local_alloc [[XT]]
  // CHECK: ttng.warp_group_dot [[A]], [[B]]
  // CHECK-NOT: tt.trans
  // CHECK: scf.yield
  // CHECK: tt.trans [[LOOP]] {{.*}} : tensor<64x128xf32, {{.*}} -> tensor<128x64xf32
  tt.func @loop(%p: tensor<128x32x!tt.ptr<f32>, #rows>, %q: tensor<32x64x!tt.ptr<f32>, #rows>, %c: tensor<128x64xf32, #blocked>, %n: i32) -> tensor<128x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<128x64xf32, #blocked>) : i32 {
      %x = tt.load %p : tensor<128x32x!tt.ptr<f32>, #rows>
      %y = tt.load %q : tensor<32x64x!tt.ptr<f32>, #rows>
      %a = ttg.convert_layout %x : tensor<128x32xf32, #rows> -> tensor<128x32xf32, #a>
      %b = ttg.convert_layout %y : tensor<32x64xf32, #rows> -> tensor<32x64xf32, #b>
      %d = tt.dot %a, %b, %acc, inputPrecision = tf32 : tensor<128x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<128x64xf32, #blocked>
      scf.yield %d : tensor<128x64xf32, #blocked>
    }
    tt.return %r : tensor<128x64xf32, #blocked>
  }

  // K contiguous in both: nothing to gain. A along M goes to registers as it is.
  // CHECK-LABEL: @along_k
  // CHECK-NOT: tt.trans
  // CHECK-COUNT-2: ttg.local_alloc
  // CHECK: ttng.warp_group_dot
  // CHECK: ttg.convert_layout {{.*}} -> tensor<128x32xf32, #ttg.dot_op<{opIdx = 0, parent = #mma{{[0-9]*}}, kWidth = 1}>>
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK-NOT: tt.trans
  tt.func @along_k(%p: tensor<128x32x!tt.ptr<f32>, #rows>, %s: tensor<128x32x!tt.ptr<f32>, #columns>, %q: tensor<32x64x!tt.ptr<f32>, #columns>, %c: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> {
    %x = tt.load %p : tensor<128x32x!tt.ptr<f32>, #rows>
    %y = tt.load %q : tensor<32x64x!tt.ptr<f32>, #columns>
    %a = ttg.convert_layout %x : tensor<128x32xf32, #rows> -> tensor<128x32xf32, #a>
    %b = ttg.convert_layout %y : tensor<32x64xf32, #columns> -> tensor<32x64xf32, #b>
    %0 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<128x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<128x64xf32, #blocked>
    %z = tt.load %s : tensor<128x32x!tt.ptr<f32>, #columns>
    %m = ttg.convert_layout %z : tensor<128x32xf32, #columns> -> tensor<128x32xf32, #a>
    %1 = tt.dot %m, %b, %0, inputPrecision = tf32 : tensor<128x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<128x64xf32, #blocked>
    tt.return %1 : tensor<128x64xf32, #blocked>
  }
}
