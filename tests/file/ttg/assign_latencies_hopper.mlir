// RUN: tilewright-opt %s --tritongpu-assign-latencies="num-stages=3" --verify-each | filecheck %s

// What computes A of a `wgmma` from a load that runs ahead, in registers, runs one stage ahead where it cannot be computed in
// slices along K (`tritongpu-pipeline`), such as what is gathered along it. Not so where it needs another product of the iteration.
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma3 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#dot3 = #ttg.dot_op<{opIdx = 0, parent = #mma3, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @computed_operand
  // CHECK: tt.load %{{.*}} {tt.latency = 2 : i32}
  // CHECK-NEXT: ttg.convert_layout %{{[0-9]+}} : tensor<64x64xi8
  // CHECK-NEXT: arith.sitofp %{{[0-9]+}} : tensor<64x64xi8
  // CHECK-NEXT: arith.addf %{{[0-9]+}}, %{{[0-9]+}} : tensor<64x64xf16
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK-NEXT: arith.truncf
  // CHECK-NEXT: ttg.convert_layout %{{[0-9]+}} : tensor<64x64xf16
  // CHECK-NEXT: ttng.warp_group_dot
  tt.func public @computed_operand(%p0: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %n: i32, %zero: tensor<64x64xf32, #mma3>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>) -> (tensor<64x64xf32, #mma3>, tensor<64x64xf32, #mma3>) {
    %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %p1 = tt.splat %p0 : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>, #rows>
    %p2 = tt.broadcast %row : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %p = tt.addptr %p1, %p2 : tensor<64x64x!tt.ptr<i8>, #rows>, tensor<64x64xi32, #rows>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sum = %zero) -> (tensor<64x64xf32, #mma3>, tensor<64x64xf32, #mma3>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<i8>, #rows>
      %converted = ttg.convert_layout %x : tensor<64x64xi8, #rows> -> tensor<64x64xi8, #dot3>
      %wide = arith.sitofp %converted : tensor<64x64xi8, #dot3> to tensor<64x64xf16, #dot3>
      %twice = arith.addf %wide, %wide : tensor<64x64xf16, #dot3>
      %d = ttng.warp_group_dot %twice, %b, %acc {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot3> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma3>
      %narrow = arith.truncf %d : tensor<64x64xf32, #mma3> to tensor<64x64xf16, #mma3>
      %chained = ttg.convert_layout %narrow : tensor<64x64xf16, #mma3> -> tensor<64x64xf16, #dot3>
      %e = ttng.warp_group_dot %chained, %b, %sum {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot3> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma3>
      scf.yield %d, %e : tensor<64x64xf32, #mma3>, tensor<64x64xf32, #mma3>
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma3>, tensor<64x64xf32, #mma3>
  }

  // CHECK-LABEL: @of_whole_rows
  // CHECK: arith.addf %{{.*}} {tt.latency = 1 : i32} : tensor<64x64xf16
  // CHECK-NEXT: ttng.warp_group_dot
  tt.func public @of_whole_rows(%where: tensor<64x64xi32, #dot3>, %p0: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %n: i32, %zero: tensor<64x64xf32, #mma3>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>) -> (tensor<64x64xf32, #mma3>, tensor<64x64xf32, #mma3>) {
    %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %row = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %p1 = tt.splat %p0 : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>, #rows>
    %p2 = tt.broadcast %row : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %p = tt.addptr %p1, %p2 : tensor<64x64x!tt.ptr<i8>, #rows>, tensor<64x64xi32, #rows>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sum = %zero) -> (tensor<64x64xf32, #mma3>, tensor<64x64xf32, #mma3>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<i8>, #rows>
      %converted = ttg.convert_layout %x : tensor<64x64xi8, #rows> -> tensor<64x64xi8, #dot3>
      %wide = arith.sitofp %converted : tensor<64x64xi8, #dot3> to tensor<64x64xf16, #dot3>
      %moved = tt.gather %wide[%where] {axis = 1 : i32} : (tensor<64x64xf16, #dot3>, tensor<64x64xi32, #dot3>) -> tensor<64x64xf16, #dot3>
      %twice = arith.addf %wide, %moved : tensor<64x64xf16, #dot3>
      %d = ttng.warp_group_dot %twice, %b, %acc {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot3> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma3>
      %narrow = arith.truncf %d : tensor<64x64xf32, #mma3> to tensor<64x64xf16, #mma3>
      %chained = ttg.convert_layout %narrow : tensor<64x64xf16, #mma3> -> tensor<64x64xf16, #dot3>
      %e = ttng.warp_group_dot %chained, %b, %sum {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot3> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma3>
      scf.yield %d, %e : tensor<64x64xf32, #mma3>, tensor<64x64xf32, #mma3>
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma3>, tensor<64x64xf32, #mma3>
  }
}
