// Addresses in loops: what moves is a scalar, what differs between lanes stays.
// RUN: tilewright-opt %s --tritongpu-reassociate-pointers --canonicalize --verify-each | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // The loop carries a scalar pointer in place of a tensor of them.
  // CHECK-LABEL: @carried
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[P:.*]] = %arg0) -> (tensor<64x32xf16, #blocked>, !tt.ptr<f16>)
  // CHECK: %[[ALL:.*]] = tt.splat %[[P]] : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
  // CHECK: %[[LANES:.*]] = tt.addptr %[[ALL]], %arg1
  // CHECK: tt.load %[[LANES]]
  // CHECK: tt.addptr %[[P]], %{{.*}} : !tt.ptr<f16>, i32
  tt.func public @carried(%base: !tt.ptr<f16>, %lanes: tensor<64x32xi32, #blocked>, %n: i32) -> tensor<64x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %step = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %all = tt.splat %base : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
    %p0 = tt.addptr %all, %lanes : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %p0) -> (tensor<64x32xf16, #blocked>, tensor<64x32x!tt.ptr<f16>, #blocked>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
      %sum = arith.addf %acc, %x : tensor<64x32xf16, #blocked>
      %next = tt.addptr %p, %step : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      scf.yield %sum, %next : tensor<64x32xf16, #blocked>, tensor<64x32x!tt.ptr<f16>, #blocked>
    }
    tt.return %r#0 : tensor<64x32xf16, #blocked>
  }

  // i * 512 is a multiple of 512, lanes are below it: the sum cannot wrap, so it may be taken apart.
  // CHECK-LABEL: @counted
  // CHECK: %[[RANGE:.*]] = tt.make_range
  // CHECK: scf.for
  // CHECK: %[[I:.*]] = arith.muli
  // CHECK: %[[P:.*]] = tt.addptr %arg0, %[[I]] : !tt.ptr<f32>, i32
  // CHECK: %[[ALL:.*]] = tt.splat %[[P]]
  // CHECK: tt.addptr %[[ALL]], %[[RANGE]]
  tt.func public @counted(%base: !tt.ptr<f32>, %n: i32) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c512 = arith.constant 512 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #line>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #line>
    %all = tt.splat %base : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<512xf32, #line>) : i32 {
      %first = arith.muli %i, %c512 : i32
      %same = tt.splat %first : i32 -> tensor<512xi32, #line>
      %offsets = arith.addi %same, %range : tensor<512xi32, #line>
      %p = tt.addptr %all, %offsets : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #line>
      %sum = arith.addf %acc, %x : tensor<512xf32, #line>
      scf.yield %sum : tensor<512xf32, #line>
    }
    tt.return %r : tensor<512xf32, #line>
  }

  // i * 3 is no multiple of 512: the sum of 32 bits may wrap, and stays one.
  // CHECK-LABEL: @may_wrap
  // CHECK: scf.for
  // CHECK: %[[SUM:.*]] = arith.addi
  // CHECK: tt.addptr %{{.*}}, %[[SUM]] : tensor<512x!tt.ptr<f32>, #blocked1>, tensor<512xi32, #blocked1>
  tt.func public @may_wrap(%base: !tt.ptr<f32>, %n: i32) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #line>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #line>
    %all = tt.splat %base : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<512xf32, #line>) : i32 {
      %first = arith.muli %i, %c3 : i32
      %same = tt.splat %first : i32 -> tensor<512xi32, #line>
      %offsets = arith.addi %same, %range : tensor<512xi32, #line>
      %p = tt.addptr %all, %offsets : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #line>
      %sum = arith.addf %acc, %x : tensor<512xf32, #line>
      scf.yield %sum : tensor<512xf32, #line>
    }
    tt.return %r : tensor<512xf32, #line>
  }

  // Hints hold for the sum: it stays whole.
  // CHECK-LABEL: @hints
  // CHECK: scf.for
  // CHECK: %[[SUM:.*]] = arith.addi {{.*}} {tt.contiguity
  // CHECK: tt.addptr %{{.*}}, %[[SUM]]
  tt.func public @hints(%base: !tt.ptr<f32>, %n: i32) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c512 = arith.constant 512 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #line>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #line>
    %all = tt.splat %base : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<512xf32, #line>) : i32 {
      %first = arith.muli %i, %c512 : i32
      %same = tt.splat %first : i32 -> tensor<512xi32, #line>
      %offsets = arith.addi %same, %range {tt.contiguity = dense<512> : tensor<1xi32>} : tensor<512xi32, #line>
      %p = tt.addptr %all, %offsets : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #line>
      %sum = arith.addf %acc, %x : tensor<512xf32, #line>
      scf.yield %sum : tensor<512xf32, #line>
    }
    tt.return %r : tensor<512xf32, #line>
  }

  // Pointers that are used after the loop, and pointers that move by different distances, stay tensors.
  // CHECK-LABEL: @tensors
  // CHECK: scf.for {{.*}} -> (tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32x!tt.ptr<f16>, #blocked>)
  tt.func public @tensors(%base: !tt.ptr<f16>, %lanes: tensor<64x32xi32, #blocked>, %n: i32) -> tensor<64x32x!tt.ptr<f16>, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %all = tt.splat %base : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
    %p0 = tt.addptr %all, %lanes : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0, %q = %p0) -> (tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32x!tt.ptr<f16>, #blocked>) : i32 {
      %x = tt.load %q : tensor<64x32x!tt.ptr<f16>, #blocked>
      tt.store %p, %x : tensor<64x32x!tt.ptr<f16>, #blocked>
      %next = tt.addptr %p, %step : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      %other = tt.addptr %q, %lanes : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      scf.yield %next, %other : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32x!tt.ptr<f16>, #blocked>
    }
    tt.return %r#0 : tensor<64x32x!tt.ptr<f16>, #blocked>
  }
}
