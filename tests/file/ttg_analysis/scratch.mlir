// Scratch of every kind of op that takes some, and buffers of regions that other warps run.
// RUN: tilewright-opt %s --test-print-allocation --verify-diagnostics

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#c = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#s0 = #ttg.slice<{dim = 0, parent = #c}>
#s1 = #ttg.slice<{dim = 1, parent = #c}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {

// Sums across four warps: four partial sums; maxima with their places, 4 and 4 values; nothing where one warp has it all.
// expected-remark@+2 {{reductions}}
// expected-remark@+1 {{size = 32}}
tt.func @reductions(%x: tensor<1024xf32, #b>, %i: tensor<1024xi32, #b>, %y: tensor<64x64xf32, #c>) {
  // expected-remark@+1 {{scratch offset = 0, size = 16}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %d: f32):
    %s = arith.addf %a, %d : f32
    tt.reduce.return %s : f32
  }) : (tensor<1024xf32, #b>) -> f32
  // expected-remark@+1 {{scratch offset = 0, size = 32}}
  %1:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %k: i32, %d: f32, %l: i32):
    %p = arith.cmpf ogt, %a, %d : f32
    %s = arith.select %p, %a, %d : f32
    %t = arith.select %p, %k, %l : i32
    tt.reduce.return %s, %t : f32, i32
  }) : (tensor<1024xf32, #b>, tensor<1024xi32, #b>) -> (f32, i32)
  tt.return
}

// A histogram's bins, at least 32; a gather's source; a scan's sums per warp; a scalar atomic's old value for all threads.
// expected-remark@+2 {{others}}
// expected-remark@+1 {{size = 4096}}
tt.func @others(%x: tensor<1024xi32, #b>, %p: !tt.ptr<i32>) {
  %true = arith.constant true
  %one = arith.constant 1 : i32
  // expected-remark@+1 {{scratch offset = 0, size = 128}}
  %0 = tt.histogram %x : tensor<1024xi32, #b> -> tensor<16xi32, #b>
  // expected-remark@+1 {{scratch offset = 0, size = 1024}}
  %1 = tt.histogram %x : tensor<1024xi32, #b> -> tensor<256xi32, #b>
  // expected-remark@+1 {{scratch offset = 0, size = 4096}}
  %2 = tt.gather %x[%x] {axis = 0 : i32} : (tensor<1024xi32, #b>, tensor<1024xi32, #b>) -> tensor<1024xi32, #b>
  // expected-remark@+1 {{scratch offset = 0, size = 4}}
  %3 = tt.atomic_rmw add, relaxed, gpu, %p, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %4 = arith.addi %3, %one : i32
  %5 = tt.atomic_rmw add, relaxed, gpu, %p, %4, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}
}
