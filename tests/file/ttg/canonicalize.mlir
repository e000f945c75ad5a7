// RUN: tilewright-opt %s --canonicalize --verify-each | filecheck %s

// CHECK-DAG: #[[A:blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 4]
// CHECK-DAG: #[[B:blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4, 1]
#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#v = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#w = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#sharedT = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @identity
  // CHECK-NEXT: tt.return %arg0
  tt.func @identity(%x: tensor<64x64xf16, #a>) -> tensor<64x64xf16, #a> {
    %0 = ttg.convert_layout %x : tensor<64x64xf16, #a> -> tensor<64x64xf16, #a>
    tt.return %0 : tensor<64x64xf16, #a>
  }

  // CHECK-LABEL: @there_and_back
  // CHECK-NEXT: tt.return %arg0
  tt.func @there_and_back(%x: tensor<64x64xf16, #a>) -> tensor<64x64xf16, #a> {
    %0 = ttg.convert_layout %x : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
    %1 = ttg.convert_layout %0 : tensor<64x64xf16, #b> -> tensor<64x64xf16, #a>
    tt.return %1 : tensor<64x64xf16, #a>
  }

  // CHECK-LABEL: @sources
  // CHECK-DAG: arith.constant dense<1.000000e+00> : tensor<64x64xf16, #[[B]]>
  // CHECK-DAG: tt.splat %arg0 : f16 -> tensor<64x64xf16, #[[B]]>
  // CHECK-DAG: tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #[[W:blocked[0-9]*]]>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @sources(%x: f16) -> (tensor<64x64xf16, #b>, tensor<64x64xf16, #b>, tensor<512xi32, #w>) {
    %c = arith.constant dense<1.0> : tensor<64x64xf16, #a>
    %s = tt.splat %x : f16 -> tensor<64x64xf16, #a>
    %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #v>
    %0 = ttg.convert_layout %c : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
    %1 = ttg.convert_layout %s : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
    %2 = ttg.convert_layout %r : tensor<512xi32, #v> -> tensor<512xi32, #w>
    tt.return %0, %1, %2 : tensor<64x64xf16, #b>, tensor<64x64xf16, #b>, tensor<512xi32, #w>
  }

  // The load in the other layout stands where the load stood, before the store.
  // CHECK-LABEL: @load_keeps_its_place
  // CHECK: ttg.local_load %arg0 : {{.*}} -> tensor<64x64xf16, #[[B]]>
  // CHECK-NEXT: ttg.local_store
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @load_keeps_its_place(%m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %y: tensor<64x64xf16, #a>) -> tensor<64x64xf16, #b> {
    %0 = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
    ttg.local_store %y, %m : tensor<64x64xf16, #a> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %1 = ttg.convert_layout %0 : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
    tt.return %1 : tensor<64x64xf16, #b>
  }

  // CHECK-LABEL: @into_memory
  // CHECK-NEXT: ttg.local_alloc %arg0
  // CHECK-NEXT: ttg.local_store %arg0
  // CHECK-NEXT: tt.return
  tt.func @into_memory(%x: tensor<64x64xf16, #a>, %m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) -> !ttg.memdesc<64x64xf16, #shared, #smem> {
    %0 = ttg.convert_layout %x : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
    %1 = ttg.local_alloc %0 : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ttg.local_store %0, %m : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return %1 : !ttg.memdesc<64x64xf16, #shared, #smem>
  }

  // CHECK-LABEL: @free_order
  // CHECK-NEXT: tt.cat %arg0, %arg0 : tensor<512xi32, #[[V:blocked[0-9]*]]> -> tensor<1024xi32, #[[W]]>
  // CHECK-NEXT: tt.reshape %arg1 allow_reorder : tensor<64x64xf16, #[[A]]> -> tensor<4096xf16, #[[W]]>
  // CHECK-NEXT: tt.return
  tt.func @free_order(%x: tensor<512xi32, #v>, %y: tensor<64x64xf16, #a>) -> (tensor<1024xi32, #w>, tensor<4096xf16, #w>) {
    %0 = tt.cat %x, %x : tensor<512xi32, #v> -> tensor<1024xi32, #v>
    %1 = ttg.convert_layout %0 : tensor<1024xi32, #v> -> tensor<1024xi32, #w>
    %2 = tt.reshape %y allow_reorder : tensor<64x64xf16, #a> -> tensor<4096xf16, #v>
    %3 = ttg.convert_layout %2 : tensor<4096xf16, #v> -> tensor<4096xf16, #w>
    tt.return %1, %3 : tensor<1024xi32, #w>, tensor<4096xf16, #w>
  }

  // CHECK-LABEL: @histogram
  // CHECK-NEXT: tt.histogram %arg0 : tensor<512xi32, #[[V]]> -> tensor<512xi32, #[[W]]>
  // CHECK-NEXT: tt.return
  tt.func @histogram(%x: tensor<512xi32, #v>) -> tensor<512xi32, #w> {
    %0 = ttg.convert_layout %x : tensor<512xi32, #v> -> tensor<512xi32, #w>
    %1 = tt.histogram %0 : tensor<512xi32, #w> -> tensor<512xi32, #v>
    %2 = ttg.convert_layout %1 : tensor<512xi32, #v> -> tensor<512xi32, #w>
    tt.return %2 : tensor<512xi32, #w>
  }

  // CHECK-LABEL: @gather
  // CHECK-NEXT: tt.gather %arg0[%arg1] {axis = 0 : i32} : (tensor<512xf32, #[[V]]>, tensor<512xi32, #[[W]]>)
  // CHECK-NEXT: tt.return
  tt.func @gather(%x: tensor<512xf32, #v>, %i: tensor<512xi32, #w>) -> tensor<512xf32, #w> {
    %0 = ttg.convert_layout %x : tensor<512xf32, #v> -> tensor<512xf32, #w>
    %1 = tt.gather %0[%i] {axis = 0 : i32} : (tensor<512xf32, #w>, tensor<512xi32, #w>) -> tensor<512xf32, #w>
    tt.return %1 : tensor<512xf32, #w>
  }

  // CHECK-LABEL: @accumulator_to_operand_stays
  // CHECK-COUNT-2: ttg.convert_layout
  tt.func @accumulator_to_operand_stays(%x: tensor<64x64xf16, #a>) -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> {
    %0 = ttg.convert_layout %x : tensor<64x64xf16, #a> -> tensor<64x64xf16, #mma>
    %1 = ttg.convert_layout %0 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    tt.return %1 : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  }

  // CHECK-LABEL: @views
  // CHECK-NEXT: tt.return %arg0
  tt.func @views(%m: !ttg.memdesc<64x32xf16, #shared, #smem, mutable>) -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable> {
    %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf16, #sharedT, #smem, mutable>
    %1 = ttg.memdesc_trans %0 {order = array<i32: 1, 0>} : !ttg.memdesc<32x64xf16, #sharedT, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %2 = ttg.memdesc_reinterpret %1 : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    tt.return %2 : !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
  }
}
