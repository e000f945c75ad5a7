// A product that needs no other of its iteration starts before the first result is used, with what it reads.
// RUN: tilewright-opt %s --tritongpu-start-products-early --verify-each | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @gradients
  // CHECK: scf.for
  // CHECK-NEXT: [[S:%[a-z0-9_]+]] = ttng.warp_group_dot %arg0, %arg1, %cst
  // CHECK-NEXT: [[L:%[a-z0-9_]+]] = tt.descriptor_load
  // CHECK-NEXT: [[G:%[a-z0-9_]+]] = ttg.local_alloc [[L]]
  // CHECK-NEXT: [[D:%[a-z0-9_]+]] = ttng.warp_group_dot %arg0, [[G]], %cst
  // CHECK-NEXT: math.exp2 [[S]]
  // CHECK: ttng.warp_group_dot %{{.*}}, [[G]], %arg
  // CHECK: arith.mulf %{{[a-z0-9_]+}}, [[D]]
  tt.func public @gradients(%a: !ttg.memdesc<128x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %d: !tt.tensordesc<64x64xf16, #shared>, %n: i32) -> (tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %last = %zero) -> (tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>) : i32 {
      %s = ttng.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      %p = math.exp2 %s : tensor<128x64xf32, #mma>
      %h = arith.truncf %p : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %q = ttg.convert_layout %h : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #dot>
      %l = tt.descriptor_load %d[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
      %g = ttg.local_alloc %l : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %o = ttng.warp_group_dot %q, %g, %acc {inputPrecision = 0 : i32} : tensor<128x64xf16, #dot> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      %e = ttng.warp_group_dot %a, %g, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      %f = arith.mulf %p, %e : tensor<128x64xf32, #mma>
      scf.yield %o, %f : tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>
    }
    tt.return %r#0, %r#1 : tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>
  }

  // Sums that only the next iteration adds to are waited for by nobody; and where the loop writes memory, what a product
  // reads may not be read earlier.
  // CHECK-LABEL: @sums
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: math.exp2
  // CHECK-NEXT: ttng.warp_group_dot
  tt.func public @sums(%a: !ttg.memdesc<128x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) -> (tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %last = %zero) -> (tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>) : i32 {
      %s = ttng.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      %p = math.exp2 %s : tensor<128x64xf32, #mma>
      %o = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      scf.yield %o, %p : tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>
    }
    tt.return %r#0, %r#1 : tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>
  }

  // CHECK-LABEL: @written
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: math.exp2
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.descriptor_load
  tt.func public @written(%a: !ttg.memdesc<128x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %d: !tt.tensordesc<64x64xf16, #shared>, %out: tensor<128x64x!tt.ptr<f32>, #mma>, %n: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%last = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %s = ttng.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      %p = math.exp2 %s : tensor<128x64xf32, #mma>
      tt.store %out, %p : tensor<128x64x!tt.ptr<f32>, #mma>
      %l = tt.descriptor_load %d[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
      %g = ttg.local_alloc %l : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %e = ttng.warp_group_dot %a, %g, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      %f = arith.mulf %p, %e : tensor<128x64xf32, #mma>
      scf.yield %f : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}
