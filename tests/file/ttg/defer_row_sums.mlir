// Sums of rows that a loop carries: each thread keeps its part, threads exchange them after the loop.
// RUN: tilewright-opt %s --tritongpu-defer-row-sums --canonicalize --verify-each 2>&1 | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 1, parent = #mma}>
#brow = #ttg.slice<{dim = 1, parent = #blocked}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @scaled
  // CHECK: [[ZERO:%[a-z0-9_]+]] = arith.constant dense<0.000000e+00> : tensor<64x4xf32
  // CHECK: [[R:%[a-z0-9_]+]] = scf.for {{.*}} iter_args([[L:%[a-z0-9_]+]] = [[ZERO]])
  // CHECK: [[V:%[a-z0-9_]+]] = tt.reshape {{.*}} -> tensor<64x8x4x2xf32, #linear>
  // CHECK: "tt.reduce"([[V]]) <{axis = 3 : i32}>
  // CHECK: [[S:%[a-z0-9_]+]] = "tt.reduce"({{.*}}) <{axis = 1 : i32}>
  // CHECK: tt.broadcast
  // CHECK: [[T:%[a-z0-9_]+]] = arith.mulf [[L]]
  // CHECK: [[N:%[a-z0-9_]+]] = arith.addf [[T]], [[S]]
  // CHECK: scf.yield [[N]]
  // CHECK: [[W:%[a-z0-9_]+]] = "tt.reduce"([[R]]) <{axis = 1 : i32}>
  // CHECK: [[E:%[a-z0-9_]+]] = ttg.convert_layout [[W]]
  // CHECK: tt.return [[E]]
  tt.func public @scaled(%p: tensor<64x64xf32, #mma>, %alpha: tensor<64xf32, #row>, %n: i32) -> tensor<64xf32, #row> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64xf32, #row>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zero) -> (tensor<64xf32, #row>) : i32 {
      %s = "tt.reduce"(%p) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #row>
      %t = arith.mulf %l, %alpha : tensor<64xf32, #row>
      %u = arith.addf %t, %s : tensor<64xf32, #row>
      scf.yield %u : tensor<64xf32, #row>
    }
    tt.return %r : tensor<64xf32, #row>
  }

  // CHECK-LABEL: @plain
  // CHECK: scf.for {{.*}} -> (tensor<64x4xf32
  // CHECK-NOT: arith.mulf
  // CHECK: tt.return
  tt.func public @plain(%p: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64xf32, #row> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64xf32, #row>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zero) -> (tensor<64xf32, #row>) : i32 {
      %s = "tt.reduce"(%p) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #row>
      %u = arith.addf %s, %l : tensor<64xf32, #row>
      scf.yield %u : tensor<64xf32, #row>
    }
    tt.return %r : tensor<64xf32, #row>
  }

  // Sums that begin at one would have it in each part; the largest is needed by all threads; the sum so far is read.
  // CHECK-LABEL: @left_alone
  // CHECK-NOT: tt.reshape
  // CHECK: tt.return
  tt.func public @left_alone(%p: tensor<64x64xf32, #mma>, %q: tensor<64x64xf32, #blocked>, %n: i32) -> (tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #brow>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64xf32, #row>
    %one = arith.constant dense<1.0> : tensor<64xf32, #row>
    %bzero = arith.constant dense<0.0> : tensor<64xf32, #brow>
    %r:5 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one, %b = %zero, %c = %zero, %d = %zero, %e = %bzero) -> (tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #brow>) : i32 {
      %s = "tt.reduce"(%p) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #row>
      %a1 = arith.addf %a, %s : tensor<64xf32, #row>
      %m = "tt.reduce"(%p) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maxnumf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #row>
      %b1 = arith.addf %b, %m : tensor<64xf32, #row>
      %s2 = "tt.reduce"(%p) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #row>
      %c1s = arith.addf %c, %s2 : tensor<64xf32, #row>
      %d1 = arith.addf %d, %c1s : tensor<64xf32, #row>
      %s3 = "tt.reduce"(%q) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<64x64xf32, #blocked>) -> tensor<64xf32, #brow>
      %e1 = arith.addf %e, %s3 : tensor<64xf32, #brow>
      scf.yield %a1, %b1, %c1s, %d1, %e1 : tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #brow>
    }
    tt.return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #row>, tensor<64xf32, #brow>
  }
}
