// Operands of products read slice by slice, the first slice of an iteration at the end of the one before.
// RUN: tilewright-opt %s --tritongpu-prefetch --verify-each | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#bytes = #ttg.swizzled_shared<{vec = 16, perPhase = 4, maxPhase = 2, order = [1, 0]}>
#cut = #ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 8, order = [1, 0]}>
#dot_a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot_b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#dot_a4 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#dot_b4 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Two slices of 16: the head is carried, the tail is read in the loop.
  // CHECK-LABEL: @slices
  // CHECK: %[[HA:.*]] = ttg.memdesc_subslice %arg1[0, 0] : {{.*}} -> !ttg.memdesc<128x16xf16, #shared, #smem, mutable, 128x32>
  // CHECK: %[[A0:.*]] = ttg.local_load %[[HA]] token %{{.*}} -> tensor<128x16xf16
  // CHECK: ttg.memdesc_subslice %arg2[0, 0] : {{.*}} -> !ttg.memdesc<16x64xf16, #shared1, #smem, mutable, 32x64>
  // CHECK: %[[B0:.*]] = ttg.local_load %{{.*}} token %{{.*}} -> tensor<16x64xf16
  // CHECK: scf.for {{.*}} %[[XA:.*]] = %[[A0]], %[[XB:.*]] = %[[B0]])
  // CHECK: ttg.memdesc_subslice %{{.*}}[0, 16]
  // CHECK: %[[TA:.*]] = ttg.local_load
  // CHECK: ttg.memdesc_subslice %{{.*}}[16, 0]
  // CHECK: %[[TB:.*]] = ttg.local_load
  // CHECK: %[[D0:.*]] = tt.dot %[[XA]], %[[XB]], %[[ACC:.*]], inputPrecision = tf32
  // CHECK: %[[NEXT:.*]] = ttg.async_wait
  // CHECK: ttg.memdesc_subslice %{{.*}}[0, 0]
  // CHECK: %[[NA:.*]] = ttg.local_load %{{.*}} token %[[NEXT]]
  // CHECK: %[[NB:.*]] = ttg.local_load %{{.*}} token %[[NEXT]]
  // CHECK: %[[D1:.*]] = tt.dot %[[TA]], %[[TB]], %[[D0]], inputPrecision = tf32
  // CHECK: scf.yield %[[D1]], {{.*}}, %[[NA]], %[[NB]] :
  tt.func public @slices(%n: i32, %a0: !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, %b0: !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>, %a1: !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, %b1: !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>, %zero: tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t0 = ttg.async_wait {num = 0 : i32}
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sa = %a0, %sb = %b0, %t = %t0) -> (tensor<128x64xf32, #mma>, !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>, !ttg.async.token) : i32 {
      %a = ttg.local_load %sa token %t : !ttg.memdesc<128x32xf16, #shared, #smem, mutable> -> tensor<128x32xf16, #dot_a>
      %b = ttg.local_load %sb token %t : !ttg.memdesc<32x64xf16, #shared1, #smem, mutable> -> tensor<32x64xf16, #dot_b>
      %d = tt.dot %a, %b, %acc, inputPrecision = tf32 : tensor<128x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<128x64xf32, #mma>
      %tn = ttg.async_wait {num = 0 : i32}
      scf.yield %d, %a1, %b1, %tn : tensor<128x64xf32, #mma>, !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>, !ttg.async.token
    }
    tt.return %r#0 : tensor<128x64xf32, #mma>
  }

  // Bytes become f16 in registers: each slice is converted by itself, and has 8 * kWidth = 32 elements along K.
  // CHECK-LABEL: @converted
  // CHECK: ttg.local_load {{.*}} -> tensor<128x32xi8
  // CHECK: arith.sitofp {{.*}} tensor<128x32xi8, {{.*}} to tensor<128x32xf16
  // CHECK: scf.for
  // CHECK: ttg.memdesc_subslice %{{.*}}[0, 32] {{.*}} -> !ttg.memdesc<128x32xi8, #shared2, #smem, mutable, 128x64>
  // CHECK: arith.sitofp {{.*}} tensor<128x32xi8
  // CHECK: tt.dot {{.*}} tensor<128x32xf16
  // The sum is used in the loop: the last product stays before that.
  // CHECK: tt.dot
  // CHECK: arith.addf
  // CHECK: arith.sitofp
  // CHECK: scf.yield
  tt.func public @converted(%n: i32, %a0: !ttg.memdesc<128x64xi8, #bytes, #smem, mutable>, %b0: !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>, %a1: !ttg.memdesc<128x64xi8, #bytes, #smem, mutable>, %b1: !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>, %zero: tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sa = %a0, %sb = %b0) -> (tensor<128x64xf32, #mma>, !ttg.memdesc<128x64xi8, #bytes, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>) : i32 {
      %bytes = ttg.local_load %sa : !ttg.memdesc<128x64xi8, #bytes, #smem, mutable> -> tensor<128x64xi8, #dot_a4>
      %a = arith.sitofp %bytes : tensor<128x64xi8, #dot_a4> to tensor<128x64xf16, #dot_a4>
      %b = ttg.local_load %sb : !ttg.memdesc<64x64xf16, #shared1, #smem, mutable> -> tensor<64x64xf16, #dot_b4>
      %d = tt.dot %a, %b, %acc : tensor<128x64xf16, #dot_a4> * tensor<64x64xf16, #dot_b4> -> tensor<128x64xf32, #mma>
      %e = arith.addf %d, %zero : tensor<128x64xf32, #mma>
      scf.yield %e, %a1, %b1 : tensor<128x64xf32, #mma>, !ttg.memdesc<128x64xi8, #bytes, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>
    }
    tt.return %r#0 : tensor<128x64xf32, #mma>
  }

  // A single slice: all of it is read ahead.
  // CHECK-LABEL: @one_slice
  // CHECK-COUNT-2: ttg.local_load
  // CHECK: scf.for
  // CHECK-NOT: tt.dot
  // CHECK-COUNT-2: ttg.local_load
  // CHECK: tt.dot
  // CHECK-NOT: tt.dot
  // CHECK: tt.return
  tt.func public @one_slice(%n: i32, %a0: !ttg.memdesc<128x16xf16, #shared, #smem, mutable>, %b0: !ttg.memdesc<16x64xf16, #shared1, #smem, mutable>, %a1: !ttg.memdesc<128x16xf16, #shared, #smem, mutable>, %b1: !ttg.memdesc<16x64xf16, #shared1, #smem, mutable>, %zero: tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sa = %a0, %sb = %b0) -> (tensor<128x64xf32, #mma>, !ttg.memdesc<128x16xf16, #shared, #smem, mutable>, !ttg.memdesc<16x64xf16, #shared1, #smem, mutable>) : i32 {
      %a = ttg.local_load %sa : !ttg.memdesc<128x16xf16, #shared, #smem, mutable> -> tensor<128x16xf16, #dot_a>
      %b = ttg.local_load %sb : !ttg.memdesc<16x64xf16, #shared1, #smem, mutable> -> tensor<16x64xf16, #dot_b>
      %d = tt.dot %a, %b, %acc : tensor<128x16xf16, #dot_a> * tensor<16x64xf16, #dot_b> -> tensor<128x64xf32, #mma>
      scf.yield %d, %a1, %b1 : tensor<128x64xf32, #mma>, !ttg.memdesc<128x16xf16, #shared, #smem, mutable>, !ttg.memdesc<16x64xf16, #shared1, #smem, mutable>
    }
    tt.return %r#0 : tensor<128x64xf32, #mma>
  }

  // Left alone: a buffer that the loop does not carry.
  // CHECK-LABEL: @chosen_in_the_loop
  // CHECK-NOT: memdesc_subslice
  // CHECK: tt.return
  tt.func public @chosen_in_the_loop(%n: i32, %a0: !ttg.memdesc<2x128x32xf16, #shared, #smem, mutable>, %b0: !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>, %b1: !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>, %zero: tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sb = %b0) -> (tensor<128x64xf32, #mma>, !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>) : i32 {
      %sa = ttg.memdesc_index %a0[%i] : !ttg.memdesc<2x128x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x32xf16, #shared, #smem, mutable>
      %a = ttg.local_load %sa : !ttg.memdesc<128x32xf16, #shared, #smem, mutable> -> tensor<128x32xf16, #dot_a>
      %b = ttg.local_load %sb : !ttg.memdesc<32x64xf16, #shared1, #smem, mutable> -> tensor<32x64xf16, #dot_b>
      %d = tt.dot %a, %b, %acc : tensor<128x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<128x64xf32, #mma>
      scf.yield %d, %b1 : tensor<128x64xf32, #mma>, !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>
    }
    tt.return %r#0 : tensor<128x64xf32, #mma>
  }

  // Left alone: two products in one loop, whose operands would not fit into registers at once.
  // CHECK-LABEL: @two_products
  // CHECK-NOT: memdesc_subslice
  // CHECK: tt.return
  tt.func public @two_products(%n: i32, %a0: !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, %b0: !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>, %a1: !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, %b1: !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>, %zero: tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sa = %a0, %sb = %b0) -> (tensor<128x64xf32, #mma>, !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>) : i32 {
      %a = ttg.local_load %sa : !ttg.memdesc<128x32xf16, #shared, #smem, mutable> -> tensor<128x32xf16, #dot_a>
      %b = ttg.local_load %sb : !ttg.memdesc<32x64xf16, #shared1, #smem, mutable> -> tensor<32x64xf16, #dot_b>
      %d = tt.dot %a, %b, %acc : tensor<128x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<128x64xf32, #mma>
      %e = tt.dot %a, %b, %d : tensor<128x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<128x64xf32, #mma>
      scf.yield %e, %a1, %b1 : tensor<128x64xf32, #mma>, !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, !ttg.memdesc<32x64xf16, #shared1, #smem, mutable>
    }
    tt.return %r#0 : tensor<128x64xf32, #mma>
  }

  // Left alone: slices of 16 rows would cut through a swizzle that repeats after 32.
  // CHECK-LABEL: @cut_swizzle
  // CHECK-NOT: memdesc_subslice
  // CHECK: tt.return
  tt.func public @cut_swizzle(%n: i32, %a0: !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, %b0: !ttg.memdesc<32x64xf16, #cut, #smem, mutable>, %a1: !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, %b1: !ttg.memdesc<32x64xf16, #cut, #smem, mutable>, %zero: tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sa = %a0, %sb = %b0) -> (tensor<128x64xf32, #mma>, !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, !ttg.memdesc<32x64xf16, #cut, #smem, mutable>) : i32 {
      %a = ttg.local_load %sa : !ttg.memdesc<128x32xf16, #shared, #smem, mutable> -> tensor<128x32xf16, #dot_a>
      %b = ttg.local_load %sb : !ttg.memdesc<32x64xf16, #cut, #smem, mutable> -> tensor<32x64xf16, #dot_b>
      %d = tt.dot %a, %b, %acc : tensor<128x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<128x64xf32, #mma>
      scf.yield %d, %a1, %b1 : tensor<128x64xf32, #mma>, !ttg.memdesc<128x32xf16, #shared, #smem, mutable>, !ttg.memdesc<32x64xf16, #cut, #smem, mutable>
    }
    tt.return %r#0 : tensor<128x64xf32, #mma>
  }
}
