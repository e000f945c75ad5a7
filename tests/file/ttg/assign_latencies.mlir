// Which loads of a loop run ahead, and by how many stages.
// RUN: tilewright-opt %s --tritongpu-assign-latencies="num-stages=3" --verify-each --remarks 2>&1 | filecheck %s
// RUN: tilewright-opt %s --tritongpu-assign-latencies="num-stages=2" --verify-each 2>&1 | filecheck %s --check-prefix=TWO

// CHECK-DAG: remark: {{.*}}'tt.load': the load is not pipelined: it reads less than 4 bytes at a time
// CHECK-DAG: remark: {{.*}}'tt.load': the load is not pipelined: it is volatile
// CHECK-DAG: remark: {{.*}}'tt.load': the load is not pipelined: the loop may write what it reads
// CHECK-DAG: remark: {{.*}}'scf.for': that it asks for it does not specialize its warps: {{.*}}TILEWRIGHT_SPECIALIZE_WARPS
// CHECK-DAG: remark: {{.*}}'scf.for': the loop is not pipelined: it holds 'gpu.barrier'
// CHECK-DAG: remark: {{.*}}'scf.for': the loop is not pipelined: it holds another loop
// CHECK-DAG: remark: {{.*}}'scf.for': the loop is not pipelined: a value is carried over more than one iteration

#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#dot_a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot_b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Both operands of a product run two stages ahead; the load that is only added does not.
  // CHECK-LABEL: @product
  // CHECK: tt.load %{{.*}} {tt.latency = 2 : i32}
  // CHECK: tt.load %{{.*}} {tt.latency = 2 : i32}
  // CHECK: tt.load %{{[0-9]+}} : tensor<128x32
  // TWO-LABEL: @product
  // TWO: tt.load %{{.*}} {tt.latency = 1 : i32}
  // TWO: tt.load %{{.*}} {tt.latency = 1 : i32}
  // TWO: tt.load %{{[0-9]+}} : tensor<128x32
  tt.func public @product(%pa0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %pb0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %zero: tensor<128x32xf32, #mma>, %none: tensor<128x32xf16, #a>) -> tensor<128x32xf32, #mma> {
    %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #a}>>
    %row = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #a}>> -> tensor<1x32xi32, #a>
    %pa1 = tt.splat %pa0 : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>, #a>
    %pa2 = tt.broadcast %row : tensor<1x32xi32, #a> -> tensor<128x32xi32, #a>
    %pa = tt.addptr %pa1, %pa2 : tensor<128x32x!tt.ptr<f16>, #a>, tensor<128x32xi32, #a>
    %pb1 = tt.splat %pb0 : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #a>
    %pb2 = tt.broadcast %row : tensor<1x32xi32, #a> -> tensor<32x32xi32, #a>
    %pb = tt.addptr %pb1, %pb2 : tensor<32x32x!tt.ptr<f16>, #a>, tensor<32x32xi32, #a>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sum = %none) -> (tensor<128x32xf32, #mma>, tensor<128x32xf16, #a>) : i32 {
      %x = tt.load %pa : tensor<128x32x!tt.ptr<f16>, #a>
      %y = tt.load %pb : tensor<32x32x!tt.ptr<f16>, #a>
      %a = ttg.convert_layout %x : tensor<128x32xf16, #a> -> tensor<128x32xf16, #dot_a>
      %b = ttg.convert_layout %y : tensor<32x32xf16, #a> -> tensor<32x32xf16, #dot_b>
      %d = tt.dot %a, %b, %acc : tensor<128x32xf16, #dot_a> * tensor<32x32xf16, #dot_b> -> tensor<128x32xf32, #mma>
      %z = tt.load %pa : tensor<128x32x!tt.ptr<f16>, #a>
      %more = arith.addf %sum, %z : tensor<128x32xf16, #a>
      scf.yield %d, %more : tensor<128x32xf32, #mma>, tensor<128x32xf16, #a>
    }
    tt.return %r#0 : tensor<128x32xf32, #mma>
  }

  // A loop that states its stages has all its loads run ahead. Loads of addresses share the stages with what they
  // lead to; with too few stages these stay where they are.
  // What only Blackwell can do, other warps for loads and several accumulators, is asked for in vain.
  // CHECK-LABEL: @indirect
  // CHECK: tt.load %{{.*}} {tt.latency = 1 : i32} : tensor<512x!tt.ptr<i32>
  // CHECK: tt.load %{{.*}} {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f32>
  // CHECK: {tt.disallow_acc_multi_buffer, tt.num_stages = 3 : i32, tt.warp_specialize}
  tt.func public @indirect(%rows0: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %p: !tt.ptr<f32>, %n: i32, %none: tensor<512xf32, #line>) -> tensor<512xf32, #line> {
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #line>
    %rows1 = tt.splat %rows0 : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #line>
    %rows = tt.addptr %rows1, %range : tensor<512x!tt.ptr<i32>, #line>, tensor<512xi32, #line>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> (tensor<512xf32, #line>) : i32 {
      %row = tt.load %rows : tensor<512x!tt.ptr<i32>, #line>
      %q = tt.addptr %all, %row : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      %x = tt.load %q : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %sum, %x : tensor<512xf32, #line>
      scf.yield %more : tensor<512xf32, #line>
    } {tt.disallow_acc_multi_buffer, tt.num_stages = 3 : i32, tt.warp_specialize}
    tt.return %r : tensor<512xf32, #line>
  }

  // One stage is none; latencies that the user wrote stay.
  // CHECK-LABEL: @as_written
  // CHECK: tt.load %{{[0-9]+}} : tensor<512
  // CHECK: tt.load %{{[0-9]+}} {tt.latency = 5 : i32}
  // CHECK: tt.load %{{[0-9]+}} : tensor<512
  tt.func public @as_written(%p0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %none: tensor<512xf32, #line>) -> (tensor<512xf32, #line>, tensor<512xf32, #line>) {
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #line>
    %p1 = tt.splat %p0 : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    %p = tt.addptr %p1, %range : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> (tensor<512xf32, #line>) : i32 {
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %sum, %x : tensor<512xf32, #line>
      scf.yield %more : tensor<512xf32, #line>
    } {tt.num_stages = 1 : i32}
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> (tensor<512xf32, #line>) : i32 {
      %x = tt.load %p {tt.latency = 5 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %y = tt.load %p : tensor<512x!tt.ptr<f32>, #line>
      %both = arith.addf %y, %x : tensor<512xf32, #line>
      %more = arith.addf %sum, %both : tensor<512xf32, #line>
      scf.yield %more : tensor<512xf32, #line>
    } {tt.num_stages = 3 : i32}
    tt.return %r, %s : tensor<512xf32, #line>, tensor<512xf32, #line>
  }

  // Two bytes at a time, volatile, of memory that the loop writes: not ahead. Another argument is other memory.
  // CHECK-LABEL: @loads_that_stay
  // CHECK: tt.load %{{[0-9]+}} : tensor<512x!tt.ptr<f16>
  // CHECK: tt.load %{{[0-9]+}} : tensor<512x!tt.ptr<f32>
  // CHECK: tt.load %{{[0-9]+}} {tt.latency = 2 : i32} : tensor<512x!tt.ptr<i32>
  // CHECK: tt.load %{{[0-9]+}} {isVolatile = true} : tensor<512x!tt.ptr<f32>
  tt.func public @loads_that_stay(%half0: !tt.ptr<f16>, %p0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q0: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32, %none: tensor<512xf32, #line>) -> tensor<512xf32, #line> {
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #line>
    %odd = arith.addi %range, %range : tensor<512xi32, #line>
    %half1 = tt.splat %half0 : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #line>
    %half = tt.addptr %half1, %odd : tensor<512x!tt.ptr<f16>, #line>, tensor<512xi32, #line>
    %p1 = tt.splat %p0 : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    %p = tt.addptr %p1, %range : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
    %q1 = tt.splat %q0 : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #line>
    %q = tt.addptr %q1, %range : tensor<512x!tt.ptr<i32>, #line>, tensor<512xi32, #line>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> (tensor<512xf32, #line>) : i32 {
      %h = tt.load %half : tensor<512x!tt.ptr<f16>, #line>
      %wide = arith.extf %h : tensor<512xf16, #line> to tensor<512xf32, #line>
      %w = tt.load %p : tensor<512x!tt.ptr<f32>, #line>
      %x = tt.load %q : tensor<512x!tt.ptr<i32>, #line>
      %f = arith.sitofp %x : tensor<512xi32, #line> to tensor<512xf32, #line>
      %s0 = arith.addf %wide, %wide : tensor<512xf32, #line>
      %s1 = arith.addf %w, %f : tensor<512xf32, #line>
      %s2 = arith.addf %s0, %s1 : tensor<512xf32, #line>
      tt.store %p, %s2 : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %sum, %s2 : tensor<512xf32, #line>
      scf.yield %more : tensor<512xf32, #line>
    } {tt.num_stages = 3 : i32}
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %r) -> (tensor<512xf32, #line>) : i32 {
      %v = tt.load %p {isVolatile = true} : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %sum, %v : tensor<512xf32, #line>
      scf.yield %more : tensor<512xf32, #line>
    } {tt.num_stages = 3 : i32}
    tt.return %s : tensor<512xf32, #line>
  }

  // Loops that are not taken apart.
  // CHECK-LABEL: @loops_that_stay
  // CHECK-NOT: tt.latency
  // CHECK: tt.return
  tt.func public @loops_that_stay(%p0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %none: tensor<512xf32, #line>) -> (tensor<512xf32, #line>, tensor<512xf32, #line>) {
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #line>
    %p1 = tt.splat %p0 : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    %p = tt.addptr %p1, %range : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> (tensor<512xf32, #line>) : i32 {
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #line>
      gpu.barrier
      %more = arith.addf %sum, %x : tensor<512xf32, #line>
      scf.yield %more : tensor<512xf32, #line>
    } {tt.num_stages = 3 : i32}
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %r) -> (tensor<512xf32, #line>) : i32 {
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #line>
      %inner = scf.for %j = %c0 to %n step %c1 iter_args(%part = %x) -> (tensor<512xf32, #line>) : i32 {
        %twice = arith.addf %part, %part : tensor<512xf32, #line>
        scf.yield %twice : tensor<512xf32, #line>
      }
      %more = arith.addf %sum, %inner : tensor<512xf32, #line>
      scf.yield %more : tensor<512xf32, #line>
    } {tt.num_stages = 3 : i32}
    %t:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none, %before = %s) -> (tensor<512xf32, #line>, tensor<512xf32, #line>) : i32 {
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %before, %x : tensor<512xf32, #line>
      scf.yield %more, %sum : tensor<512xf32, #line>, tensor<512xf32, #line>
    } {tt.num_stages = 3 : i32}
    tt.return %t#0, %t#1 : tensor<512xf32, #line>, tensor<512xf32, #line>
  }
}
