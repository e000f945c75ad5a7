// Layouts of accesses: order by contiguity, width by alignment, type, size and what they compute with.
// RUN: tilewright-opt %s --split-input-file --tritongpu-coalesce --verify-each | filecheck %s

// Four f32, eight f16, sixteen i8 or two pointers are 16 bytes.
// CHECK-DAG: [[W4:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: [[W8:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: [[W16:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [16], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: [[W2:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @by_type
  // CHECK: tt.load %{{.*}} : tensor<4096x!tt.ptr<f32>, [[W4]]>
  // CHECK: tt.load %{{.*}} : tensor<4096x!tt.ptr<f16>, [[W8]]>
  // CHECK: tt.load %{{.*}} : tensor<4096x!tt.ptr<i8>, [[W16]]>
  // CHECK: tt.load %{{.*}} : tensor<4096x!tt.ptr<!tt.ptr<f32>>, [[W2]]>
  tt.func @by_type(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %s: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %t: !tt.ptr<!tt.ptr<f32>> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #b>
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>, #b>
    %1 = tt.addptr %0, %r : tensor<4096x!tt.ptr<f32>, #b>, tensor<4096xi32, #b>
    %2 = tt.load %1 : tensor<4096x!tt.ptr<f32>, #b>
    %r1 = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #b>
    %3 = tt.splat %q : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>, #b>
    %4 = tt.addptr %3, %r1 : tensor<4096x!tt.ptr<f16>, #b>, tensor<4096xi32, #b>
    %5 = tt.load %4 : tensor<4096x!tt.ptr<f16>, #b>
    %r2 = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #b>
    %6 = tt.splat %s : !tt.ptr<i8> -> tensor<4096x!tt.ptr<i8>, #b>
    %7 = tt.addptr %6, %r2 : tensor<4096x!tt.ptr<i8>, #b>, tensor<4096xi32, #b>
    %8 = tt.load %7 : tensor<4096x!tt.ptr<i8>, #b>
    %r3 = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #b>
    %9 = tt.splat %t : !tt.ptr<!tt.ptr<f32>> -> tensor<4096x!tt.ptr<!tt.ptr<f32>>, #b>
    %10 = tt.addptr %9, %r3 : tensor<4096x!tt.ptr<!tt.ptr<f32>>, #b>, tensor<4096xi32, #b>
    %11 = tt.load %10 : tensor<4096x!tt.ptr<!tt.ptr<f32>>, #b>
    tt.return
  }
}

// -----

// Pointers of 8 bytes of alignment: two f32. Of unknown alignment, and where every second element is meant: one.
// CHECK-DAG: [[W2:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: [[W1:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @by_alignment
  // CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, [[W2]]>
  // CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, [[W1]]>
  // CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, [[W1]]>
  tt.func @by_alignment(%p: !tt.ptr<f32> {tt.divisibility = 8 : i32}, %q: !tt.ptr<f32>, %s: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %two = arith.constant dense<2> : tensor<1024xi32, #b>
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %1 = tt.addptr %0, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    %2 = tt.load %1 : tensor<1024x!tt.ptr<f32>, #b>
    %r1 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %3 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %4 = tt.addptr %3, %r1 : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    %5 = tt.load %4 : tensor<1024x!tt.ptr<f32>, #b>
    %r2 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %even = arith.muli %r2, %two : tensor<1024xi32, #b>
    %6 = tt.splat %s : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %7 = tt.addptr %6, %even : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    %8 = tt.load %7 : tensor<1024x!tt.ptr<f32>, #b>
    tt.return
  }
}

// -----

// 128 elements over 128 threads: one each, however wide the access could be.
// CHECK-DAG: [[W1:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @by_size
  // CHECK: tt.load %{{.*}} : tensor<128x!tt.ptr<f32>, [[W1]]>
  tt.func @by_size(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
    %1 = tt.addptr %0, %r : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
    %2 = tt.load %1 : tensor<128x!tt.ptr<f32>, #b>
    tt.return
  }
}

// -----

// The dimension along which addresses follow each other is the fastest, be it the first or the last.
// CHECK-DAG: [[ROWS:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: [[COLUMNS:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#sr = #ttg.slice<{dim = 1, parent = #b}>
#sc = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @by_order
  // CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f32>, [[ROWS]]>
  // CHECK: tt.store %{{.*}} : tensor<64x64x!tt.ptr<f32>, [[COLUMNS]]>
  tt.func @by_order(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #sr>
    %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #sc>
    %i = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #sr> -> tensor<64x1xi32, #b>
    %j = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #sc> -> tensor<1x64xi32, #b>
    %sn = tt.splat %n : i32 -> tensor<64x1xi32, #b>
    %in = arith.muli %i, %sn : tensor<64x1xi32, #b>
    %sn1 = tt.splat %n : i32 -> tensor<1x64xi32, #b>
    %jn = arith.muli %j, %sn1 : tensor<1x64xi32, #b>
    %ib = tt.broadcast %i : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
    %jb = tt.broadcast %j : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
    %inb = tt.broadcast %in : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
    %jnb = tt.broadcast %jn : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
    %rows = arith.addi %inb, %jb : tensor<64x64xi32, #b>
    %columns = arith.addi %jnb, %ib : tensor<64x64xi32, #b>
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #b>
    %1 = tt.addptr %0, %rows : tensor<64x64x!tt.ptr<f32>, #b>, tensor<64x64xi32, #b>
    %2 = tt.load %1 : tensor<64x64x!tt.ptr<f32>, #b>
    %3 = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #b>
    %4 = tt.addptr %3, %columns : tensor<64x64x!tt.ptr<f32>, #b>, tensor<64x64xi32, #b>
    tt.store %4, %2 : tensor<64x64x!tt.ptr<f32>, #b>
    tt.return
  }
}

// -----

// What computes with each other shares the widest width: the load of f32 (alone four wide) takes the eight of the f16 load.
// The store of f32 takes no more than its own four.
// CHECK-DAG: [[W8:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: [[W4:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @together
  // CHECK: tt.load %{{.*}} : tensor<2048x!tt.ptr<f32>, [[W8]]>
  // CHECK: tt.load %{{.*}} : tensor<2048x!tt.ptr<f16>, [[W8]]>
  // CHECK: tt.store %{{.*}} : tensor<2048x!tt.ptr<f32>, [[W4]]>
  tt.func @together(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #b>
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #b>
    %1 = tt.addptr %0, %r : tensor<2048x!tt.ptr<f32>, #b>, tensor<2048xi32, #b>
    %2 = tt.load %1 : tensor<2048x!tt.ptr<f32>, #b>
    %3 = tt.splat %q : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>, #b>
    %4 = tt.addptr %3, %r : tensor<2048x!tt.ptr<f16>, #b>, tensor<2048xi32, #b>
    %5 = tt.load %4 : tensor<2048x!tt.ptr<f16>, #b>
    %6 = arith.extf %5 : tensor<2048xf16, #b> to tensor<2048xf32, #b>
    %7 = arith.addf %2, %6 : tensor<2048xf32, #b>
    tt.store %1, %7 : tensor<2048x!tt.ptr<f32>, #b>
    tt.return
  }

  // Masks, other values, atomics and copies to shared memory come along; scalars and offsets stay.
  // CHECK-LABEL: @all_operands
  // CHECK: %[[P:.*]] = ttg.convert_layout %{{.*}} : tensor<2048x!tt.ptr<f32>, #blocked{{[0-9]*}}> -> tensor<2048x!tt.ptr<f32>, [[W4]]>
  // CHECK: %[[M:.*]] = ttg.convert_layout %{{.*}} : tensor<2048xi1, #blocked{{[0-9]*}}> -> tensor<2048xi1, [[W4]]>
  // CHECK: %[[O:.*]] = ttg.convert_layout %{{.*}} : tensor<2048xf32, #blocked{{[0-9]*}}> -> tensor<2048xf32, [[W4]]>
  // CHECK: tt.load %[[P]], %[[M]], %[[O]] {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_first>} : tensor<2048x!tt.ptr<f32>, [[W4]]>
  // CHECK: tt.load %{{.*}} : !tt.ptr<f32>
  // CHECK: tt.atomic_rmw fadd, relaxed, gpu, {{.*}} : (tensor<2048x!tt.ptr<f32>, [[W4]]>, tensor<2048xf32, [[W4]]>, tensor<2048xi1, [[W4]]>) -> tensor<2048xf32, [[W4]]>
  tt.func @all_operands(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %mask: tensor<2048xi1, #b>, %other: tensor<2048xf32, #b>) {
    %r = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #b>
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #b>
    %1 = tt.addptr %0, %r : tensor<2048x!tt.ptr<f32>, #b>, tensor<2048xi32, #b>
    %2 = tt.load %1, %mask, %other cacheModifier = cg evictionPolicy = evict_first : tensor<2048x!tt.ptr<f32>, #b>
    %3 = tt.load %p : !tt.ptr<f32>
    %4 = tt.atomic_rmw fadd, relaxed, gpu, %1, %2, %mask : (tensor<2048x!tt.ptr<f32>, #b>, tensor<2048xf32, #b>, tensor<2048xi1, #b>) -> tensor<2048xf32, #b>
    tt.return
  }
}

// -----

// Descriptors: row-major, sixteen bytes per thread.
// CHECK-DAG: [[D:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @descriptors
  // CHECK: tt.descriptor_load %{{.*}} -> tensor<64x64xf16, [[D]]>
  // CHECK: tt.descriptor_store {{.*}}, tensor<64x64xf16, [[D]]>
  tt.func @descriptors(%d: !tt.tensordesc<64x64xf16>, %i: i32) {
    %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16, #b>
    tt.descriptor_store %d[%i, %i], %0 : !tt.tensordesc<64x64xf16>, tensor<64x64xf16, #b>
    tt.return
  }
}
