// Values live in registers for a short time.
// RUN: tilewright-opt %s --tritongpu-reorder-instructions --verify-each | filecheck %s

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#c = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#da = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#db = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#turned = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // What is used once, in a loop, is made there; what is used twice, or in a buffer that may change, stays.
  // CHECK-LABEL: @into_loops
  // CHECK: ttg.local_load %arg3
  // CHECK: ttg.local_load %{{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1
  // CHECK: scf.for
  // CHECK: ttg.local_load %{{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0
  // CHECK: ttg.convert_layout %arg5
  // CHECK: tt.dot
  tt.func @into_loops(%n: i32, %x: tensor<64x64xf16, #b>, %y: tensor<64x64xf16, #b>, %m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %z: tensor<64x64xf32, #mma>, %w: tensor<64x64xf16, #b>) -> (tensor<64x64xf32, #mma>, tensor<64x64xf16, #db>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc %x : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %1 = ttg.local_alloc %y : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %once = ttg.local_load %0 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #da>
    %changing = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #db>
    %twice = ttg.local_load %1 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #db>
    %converted = ttg.convert_layout %w : tensor<64x64xf16, #b> -> tensor<64x64xf16, #da>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = tt.dot %once, %twice, %acc : tensor<64x64xf16, #da> * tensor<64x64xf16, #db> -> tensor<64x64xf32, #mma>
      %e = tt.dot %converted, %changing, %d : tensor<64x64xf16, #da> * tensor<64x64xf16, #db> -> tensor<64x64xf32, #mma>
      scf.yield %e : tensor<64x64xf32, #mma>
    }
    tt.return %r, %twice : tensor<64x64xf32, #mma>, tensor<64x64xf16, #db>
  }

  // What each of several loops uses once is made in each of them.
  // CHECK-LABEL: @into_several_loops
  // CHECK-NOT: ttg.local_load
  // CHECK: scf.for
  // CHECK: ttg.local_load
  // CHECK-NEXT: tt.dot
  // CHECK: scf.for
  // CHECK: ttg.local_load
  // CHECK-NEXT: tt.dot
  tt.func @into_several_loops(%n: i32, %x: tensor<64x64xf16, #b>, %y: tensor<64x64xf16, #db>, %z: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc %x : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %a = ttg.local_load %0 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #da>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = tt.dot %a, %y, %acc : tensor<64x64xf16, #da> * tensor<64x64xf16, #db> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %r) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = tt.dot %a, %y, %acc : tensor<64x64xf16, #da> * tensor<64x64xf16, #db> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %s : tensor<64x64xf32, #mma>
  }

  // A buffer is filled right behind the load; its value need not stay in registers.
  // CHECK-LABEL: @allocations
  // CHECK: %[[X:.*]] = tt.load %arg0
  // CHECK-NEXT: ttg.local_alloc %[[X]]
  // CHECK-NEXT: %[[Y:.*]] = tt.load %arg1
  // CHECK-NEXT: ttg.local_alloc %[[Y]]
  tt.func @allocations(%p: tensor<64x64x!tt.ptr<f16>, #b>, %q: tensor<64x64x!tt.ptr<f16>, #b>) -> (tensor<64x64xf16, #da>, tensor<64x64xf16, #db>) {
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #b>
    %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #b>
    %0 = ttg.local_alloc %x : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %1 = ttg.local_alloc %y : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %2 = ttg.local_load %0 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #da>
    %3 = ttg.local_load %1 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #db>
    tt.return %2, %3 : tensor<64x64xf16, #da>, tensor<64x64xf16, #db>
  }

  // A transpose stands next to what it transposes.
  // CHECK-LABEL: @transposes
  // CHECK: %[[X:.*]] = tt.load %arg0
  // CHECK-NEXT: tt.trans %[[X]]
  // CHECK: %[[M:.*]] = ttg.local_alloc
  // CHECK-NEXT: ttg.memdesc_trans %[[M]]
  // CHECK-NEXT: tt.store
  tt.func @transposes(%p: tensor<64x64x!tt.ptr<f16>, #b>, %q: tensor<64x64x!tt.ptr<f16>, #b>, %y: tensor<64x64xf16, #b>) -> (tensor<64x64xf16, #c>, !ttg.memdesc<64x64xf16, #turned, #smem>) {
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #b>
    %0 = ttg.local_alloc %y : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    tt.store %q, %y : tensor<64x64x!tt.ptr<f16>, #b>
    %1 = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16, #b> -> tensor<64x64xf16, #c>
    %2 = ttg.memdesc_trans %0 {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #turned, #smem>
    tt.return %1, %2 : tensor<64x64xf16, #c>, !ttg.memdesc<64x64xf16, #turned, #smem>
  }

  // B after A.
  // CHECK-LABEL: @operands
  // CHECK: ttg.local_load {{.*}}opIdx = 0
  // CHECK-NEXT: ttg.local_load {{.*}}opIdx = 1
  // CHECK-NEXT: tt.dot
  tt.func @operands(%ma: !ttg.memdesc<64x64xf16, #shared, #smem>, %mb: !ttg.memdesc<64x64xf16, #shared, #smem>, %z: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %b = ttg.local_load %mb : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #db>
    %a = ttg.local_load %ma : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #da>
    %d = tt.dot %a, %b, %z : tensor<64x64xf16, #da> * tensor<64x64xf16, #db> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}
