// Stage and place in the round of each op of a loop.
// RUN: tilewright-opt %s --tritongpu-schedule-loops --verify-each --remarks 2>&1 | filecheck %s

// CHECK-DAG: remark: {{.*}} the loop is not pipelined: the addresses of its loads depend on 'tt.atomic_rmw'
// CHECK-DAG: remark: {{.*}} the loop is not pipelined: the loop may write what it loads ahead

#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // A load as many stages before its use as its latency says, with its address and mask; the rest in the last stage,
  // first in the round. Pointers that the next iteration needs move one stage later, just before they are needed.
  // CHECK-LABEL: @load
  // CHECK: arith.cmpi slt, %{{.*}} {loop.cluster = 2 : i32, loop.stage = 0 : i32}
  // CHECK: tt.splat %{{.*}} {loop.cluster = 2 : i32, loop.stage = 0 : i32}
  // CHECK: tt.load %{{.*}} {loop.cluster = 2 : i32, loop.stage = 0 : i32}
  // CHECK: arith.addf %{{.*}} {loop.cluster = 0 : i32, loop.stage = 2 : i32}
  // CHECK: tt.store %{{.*}} {loop.cluster = 0 : i32, loop.stage = 2 : i32}
  // CHECK: tt.addptr %{{.*}} {loop.cluster = 1 : i32, loop.stage = 1 : i32}
  // CHECK: {tt.scheduled_max_stage = 2 : i32}
  tt.func public @load(%p0: tensor<512x!tt.ptr<f32>, #line>, %q: tensor<512x!tt.ptr<f32>, #line>, %step: tensor<512xi32, #line>, %n: i32, %none: tensor<512xf32, #line>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none, %p = %p0) -> (tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>) : i32 {
      %few = arith.cmpi slt, %i, %c7 : i32
      %mask = tt.splat %few : i1 -> tensor<512xi1, #line>
      %x = tt.load %p, %mask {tt.latency = 2 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %sum, %x : tensor<512xf32, #line>
      tt.store %q, %more : tensor<512x!tt.ptr<f32>, #line>
      %next = tt.addptr %p, %step : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      scf.yield %more, %next : tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>
    }
    tt.return
  }

  // Latencies add up along a path: the first load is two stages ahead of the sum, the second one.
  // CHECK-LABEL: @indirect
  // CHECK: tt.load %{{.*}} {loop.cluster = 2 : i32, loop.stage = 0 : i32} : tensor<512x!tt.ptr<i32>
  // CHECK: tt.addptr %{{.*}} {loop.cluster = 1 : i32, loop.stage = 1 : i32}
  // CHECK: tt.load %{{.*}} {loop.cluster = 1 : i32, loop.stage = 1 : i32} : tensor<512x!tt.ptr<f32>
  // CHECK: arith.addf %{{.*}} {loop.cluster = 0 : i32, loop.stage = 2 : i32}
  tt.func public @indirect(%rows: tensor<512x!tt.ptr<i32>, #line>, %all: tensor<512x!tt.ptr<f32>, #line>, %n: i32, %none: tensor<512xf32, #line>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> (tensor<512xf32, #line>) : i32 {
      %row = tt.load %rows {tt.latency = 1 : i32} : tensor<512x!tt.ptr<i32>, #line>
      %q = tt.addptr %all, %row : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      %x = tt.load %q {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %sum, %x : tensor<512xf32, #line>
      scf.yield %more : tensor<512xf32, #line>
    }
    tt.return
  }

  // A conditional that the address needs runs with the load. One that ends the iteration runs after everything else.
  // What both need (%last) runs where it is needed first.
  // CHECK-LABEL: @conditionals
  // CHECK: arith.cmpi eq, %{{.*}} {loop.cluster = 2 : i32, loop.stage = 0 : i32}
  // CHECK: scf.if
  // CHECK: } {loop.cluster = 2 : i32, loop.stage = 0 : i32}
  // CHECK: tt.load %{{.*}} {loop.cluster = 2 : i32, loop.stage = 0 : i32}
  // CHECK: arith.addf %{{.*}} {loop.cluster = 0 : i32, loop.stage = 1 : i32}
  // CHECK: arith.cmpi eq, %{{.*}} {loop.cluster = 1 : i32, loop.stage = 1 : i32}
  // CHECK: scf.if
  // CHECK: } {loop.cluster = 3 : i32, loop.stage = 1 : i32}
  // CHECK: arith.addi %{{.*}} {loop.cluster = 1 : i32, loop.stage = 1 : i32}
  // CHECK: arith.select %{{.*}} {loop.cluster = 1 : i32, loop.stage = 1 : i32}
  tt.func public @conditionals(%p0: !tt.ptr<f32>, %lanes: tensor<512xi32, #line>, %out: tensor<512x!tt.ptr<f32>, #line>, %n: i32, %count: i32, %none: tensor<512xf32, #line>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none, %k = %c0, %row = %c0) -> (tensor<512xf32, #line>, i32, i32) : i32 {
      %first = arith.cmpi eq, %k, %c0 : i32
      %now = scf.if %first -> (i32) {
        %following = arith.addi %row, %count : i32
        scf.yield %following : i32
      } else {
        scf.yield %row : i32
      }
      %p = tt.addptr %p0, %now : !tt.ptr<f32>, i32
      %all = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
      %q = tt.addptr %all, %lanes : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      %x = tt.load %q {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %sum, %x : tensor<512xf32, #line>
      %last = arith.cmpi eq, %k, %count : i32
      scf.if %last {
        tt.store %out, %more : tensor<512x!tt.ptr<f32>, #line>
      }
      %up = arith.addi %k, %c1 : i32
      %knext = arith.select %last, %c0, %up : i32
      scf.yield %more, %knext, %now : tensor<512xf32, #line>, i32, i32
    }
    tt.return
  }

  // What has effects does not run ahead, and nothing that the loop writes is read ahead.
  // CHECK-LABEL: @in_order
  // CHECK-NOT: loop.stage
  tt.func public @in_order(%p: !tt.ptr<i32>, %all: tensor<512x!tt.ptr<f32>, #line>, %n: i32, %none: tensor<512xf32, #line>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> (tensor<512xf32, #line>) : i32 {
      %ticket = tt.atomic_rmw add, acq_rel, gpu, %p, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
      %same = tt.splat %ticket : i32 -> tensor<512xi32, #line>
      %q = tt.addptr %all, %same : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      %x = tt.load %q {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %sum, %x : tensor<512xf32, #line>
      scf.yield %more : tensor<512xf32, #line>
    }
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> (tensor<512xf32, #line>) : i32 {
      %x = tt.load %all {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %sum, %x : tensor<512xf32, #line>
      tt.store %all, %more : tensor<512x!tt.ptr<f32>, #line>
      scf.yield %more : tensor<512xf32, #line>
    }
    tt.return
  }
}
