// Less exchange between threads: reshapes before reductions, gathers, sums in loops.
// RUN: tilewright-opt %s --split-input-file --tritongpu-optimize-thread-locality --verify-each | filecheck %s
// RUN: tilewright-opt %s --split-input-file --tritongpu-optimize-thread-locality="gathers=false" | filecheck %s --check-prefix=PLAIN

// The reduced axis becomes the slowest: threads are dealt along it last. What uses the old layout gets it back.
// CHECK-DAG: [[FAST:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: [[SLOW:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @reshape
  // CHECK: tt.reshape %arg0 allow_reorder efficient_layout : tensor<4096xf32, #blocked{{[0-9]*}}> -> tensor<128x32xf32, [[SLOW]]>
  // CHECK: ttg.convert_layout {{.*}} [[SLOW]]> -> tensor<128x32xf32, [[FAST]]>
  // CHECK: "tt.reduce"
  tt.func @reshape(%x: tensor<4096xf32, #line>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>> {
    %0 = tt.reshape %x allow_reorder : tensor<4096xf32, #line> -> tensor<128x32xf32, #b>
    %1 = "tt.reduce"(%0) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %c: f32):
      %s = arith.addf %a, %c : f32
      tt.reduce.return %s : f32
    }) : (tensor<128x32xf32, #b>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>>
    tt.return %1 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>>
  }

  // One that keeps the order of elements stays, and so does one that is reduced along both axes.
  // CHECK-LABEL: @ordered
  // CHECK: tt.reshape %arg0 : tensor<4096xf32, #blocked{{[0-9]*}}> -> tensor<128x32xf32, [[FAST]]>
  // CHECK: tt.reshape %arg0 allow_reorder : tensor<4096xf32, #blocked{{[0-9]*}}> -> tensor<128x32xf32, [[FAST]]>
  tt.func @ordered(%x: tensor<4096xf32, #line>) -> (tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>>, tensor<32xf32, #ttg.slice<{dim = 0, parent = #b}>>) {
    %0 = tt.reshape %x : tensor<4096xf32, #line> -> tensor<128x32xf32, #b>
    %1 = "tt.reduce"(%0) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %c: f32):
      %s = arith.addf %a, %c : f32
      tt.reduce.return %s : f32
    }) : (tensor<128x32xf32, #b>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>>
    %2 = tt.reshape %x allow_reorder : tensor<4096xf32, #line> -> tensor<128x32xf32, #b>
    %3 = "tt.reduce"(%2) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %c: f32):
      %s = arith.addf %a, %c : f32
      tt.reduce.return %s : f32
    }) : (tensor<128x32xf32, #b>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>>
    %4 = "tt.reduce"(%2) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %c: f32):
      %s = arith.addf %a, %c : f32
      tt.reduce.return %s : f32
    }) : (tensor<128x32xf32, #b>) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #b}>>
    tt.return %1, %3, %4 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>>, tensor<32xf32, #ttg.slice<{dim = 0, parent = #b}>>
  }
}

// -----

// One warp holds each row of both tensors: rows over lanes and registers, the rest over warps.
// CHECK-DAG: [[GATHER:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [2, 2], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @gather
  // CHECK-COUNT-2: ttg.convert_layout {{.*}} -> tensor<{{.*}}, [[GATHER]]>
  // CHECK: tt.gather {{.*}}efficient_layout{{.*}} -> tensor<32x16xf32, [[GATHER]]>
  // CHECK: ttg.convert_layout {{.*}} [[GATHER]]> -> tensor<32x16xf32, #blocked{{[0-9]*}}>
  // PLAIN-LABEL: @gather
  // PLAIN-NOT: efficient_layout
  // PLAIN: tt.return
  tt.func @gather(%x: tensor<64x16xf32, #b>, %i: tensor<32x16xi32, #b>) -> tensor<32x16xf32, #b> {
    %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<64x16xf32, #b>, tensor<32x16xi32, #b>) -> tensor<32x16xf32, #b>
    tt.return %0 : tensor<32x16xf32, #b>
  }

  // A line is left alone: all warps share it.
  // CHECK-LABEL: @line
  // CHECK-NOT: efficient_layout
  // CHECK: tt.return
  tt.func @line(%x: tensor<64xf32, #ttg.slice<{dim = 1, parent = #b}>>, %i: tensor<32xi32, #ttg.slice<{dim = 1, parent = #b}>>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #b}>> {
    %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<64xf32, #ttg.slice<{dim = 1, parent = #b}>>, tensor<32xi32, #ttg.slice<{dim = 1, parent = #b}>>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #b}>>
    tt.return %0 : tensor<32xf32, #ttg.slice<{dim = 1, parent = #b}>>
  }
}

// -----

// Sums of loads in a loop: one sum per thread in it, one reduction across threads behind it, then the initial value.
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.slice<{dim = 1, parent = #b}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @sums
  // CHECK: %[[Q:.*]] = scf.for {{.*}} -> (tensor<128x16xf32, #ttg.slice<{dim = 2,
  // CHECK: tt.load
  // CHECK: tt.reshape {{.*}} -> tensor<128x16x4xf32
  // CHECK: "tt.reduce"(%{{.*}}) <{axis = 2 : i32}>
  // CHECK: arith.addf
  // CHECK: scf.yield
  // CHECK: "tt.reduce"(%[[Q]]) <{axis = 1 : i32}>
  // CHECK: ttg.convert_layout
  // CHECK: arith.addf {{.*}} : tensor<128xf32, #ttg.slice<{dim = 1,
  tt.func @sums(%n: i32, %p: tensor<128x64x!tt.ptr<f32>, #b>, %start: tensor<128xf32, #s>) -> tensor<128xf32, #s> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> (tensor<128xf32, #s>) : i32 {
      %x = tt.load %p : tensor<128x64x!tt.ptr<f32>, #b>
      %1 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %c: f32):
        %s = arith.addf %a, %c : f32
        tt.reduce.return %s : f32
      }) : (tensor<128x64xf32, #b>) -> tensor<128xf32, #s>
      %2 = arith.addf %acc, %1 : tensor<128xf32, #s>
      scf.yield %2 : tensor<128xf32, #s>
    }
    tt.return %0 : tensor<128xf32, #s>
  }

  // Not where the sum is read in the loop, nor where values do not meet in the way that the loop combines them.
  // CHECK-LABEL: @read_inside
  // CHECK: scf.for {{.*}} -> (tensor<128xf32, #ttg.slice<{dim = 1,
  // CHECK: tt.return
  tt.func @read_inside(%n: i32, %p: tensor<128x64x!tt.ptr<f32>, #b>, %q: tensor<128x!tt.ptr<f32>, #s>, %start: tensor<128xf32, #s>) -> tensor<128xf32, #s> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> (tensor<128xf32, #s>) : i32 {
      %x = tt.load %p : tensor<128x64x!tt.ptr<f32>, #b>
      %1 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %c: f32):
        %s = arith.addf %a, %c : f32
        tt.reduce.return %s : f32
      }) : (tensor<128x64xf32, #b>) -> tensor<128xf32, #s>
      %2 = arith.addf %acc, %1 : tensor<128xf32, #s>
      tt.store %q, %2 : tensor<128x!tt.ptr<f32>, #s>
      scf.yield %2 : tensor<128xf32, #s>
    }
    tt.return %0 : tensor<128xf32, #s>
  }

  // CHECK-LABEL: @maxima_added
  // CHECK: scf.for {{.*}} -> (tensor<128xf32, #ttg.slice<{dim = 1,
  // CHECK: tt.return
  tt.func @maxima_added(%n: i32, %p: tensor<128x64x!tt.ptr<f32>, #b>, %start: tensor<128xf32, #s>) -> tensor<128xf32, #s> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> (tensor<128xf32, #s>) : i32 {
      %x = tt.load %p : tensor<128x64x!tt.ptr<f32>, #b>
      %1 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %c: f32):
        %s = arith.maximumf %a, %c : f32
        tt.reduce.return %s : f32
      }) : (tensor<128x64xf32, #b>) -> tensor<128xf32, #s>
      %2 = arith.addf %acc, %1 : tensor<128xf32, #s>
      scf.yield %2 : tensor<128xf32, #s>
    }
    tt.return %0 : tensor<128xf32, #s>
  }
}
