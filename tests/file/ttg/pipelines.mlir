// The pipelines of each architecture, and what is said of others.
// RUN: tilewright-opt %s --pass-pipeline="make-ttgir{target=cuda:80}" --verify-each | filecheck %s --check-prefix=AMPERE
// RUN: tilewright-opt %s --pass-pipeline="make-ttgir{target=cuda:90 num-warps=8 num-stages=4}" --verify-each | filecheck %s --check-prefix=HOPPER
// RUN: not tilewright-opt %s --pass-pipeline="make-ttgir{target=cuda:100}" 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not tilewright-opt %s --pass-pipeline="make-ttgir{target=rocm}" 2>&1 | filecheck %s --check-prefix=ODD

// UNKNOWN: no pipeline for target 'cuda:100'; there is one for cuda:80
// ODD: unknown target 'rocm'; expected cuda:CAPABILITY, e.g. cuda:90

// AMPERE: versionMajor = 2
// AMPERE: ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16
// AMPERE: scf.for
// AMPERE: ttg.async_wait %{{.*}} {num = 1 : i32}
// AMPERE: ttg.local_load
// AMPERE: tt.dot {{.*}} -> tensor<64x64xf32, #mma>
// AMPERE: ttg.async_copy_global_to_local
// AMPERE: ttg.async_wait {num = 0 : i32}

// HOPPER: versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2]
// HOPPER: "ttg.num-warps" = 8
// HOPPER: ttg.local_alloc : () -> !ttg.memdesc<4x64x32xf16
// HOPPER: scf.for
// HOPPER: ttg.async_wait %{{.*}} {num = 2 : i32}
// HOPPER: ttng.warp_group_dot {{.*}}isAsync = true
// HOPPER: ttng.warp_group_dot_wait {{.*}} {pendings = 1 : i32}
// HOPPER: ttg.async_copy_global_to_local
// HOPPER: ttng.warp_group_dot_wait {{.*}} {pendings = 0 : i32}
tt.func public @matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %step_a = arith.constant dense<32> : tensor<64x32xi32>
  %step_b = arith.constant dense<2048> : tensor<32x64xi32>
  %width = arith.constant dense<64> : tensor<32x1xi32>
  %width64 = arith.constant dense<64> : tensor<64x1xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %inner = tt.expand_dims %r32 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %outer = tt.expand_dims %r32 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %ks = tt.splat %k : i32 -> tensor<64x1xi32>
  %a0 = arith.muli %rows, %ks : tensor<64x1xi32>
  %a1 = tt.broadcast %a0 : tensor<64x1xi32> -> tensor<64x32xi32>
  %a2 = tt.broadcast %inner : tensor<1x32xi32> -> tensor<64x32xi32>
  %a3 = arith.addi %a1, %a2 : tensor<64x32xi32>
  %a4 = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %pa = tt.addptr %a4, %a3 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %b0 = arith.muli %outer, %width : tensor<32x1xi32>
  %b1 = tt.broadcast %b0 : tensor<32x1xi32> -> tensor<32x64xi32>
  %b2 = tt.broadcast %columns : tensor<1x64xi32> -> tensor<32x64xi32>
  %b3 = arith.addi %b1, %b2 : tensor<32x64xi32>
  %b4 = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %pb = tt.addptr %b4, %b3 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  %r:3 = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero, %qa = %pa, %qb = %pb) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %qa : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %qb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %qa, %step_a : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %qb, %step_b : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  %c1 = arith.muli %rows, %width64 : tensor<64x1xi32>
  %c2 = tt.broadcast %c1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c3 = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %c4 = arith.addi %c2, %c3 : tensor<64x64xi32>
  %c5 = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %pc = tt.addptr %c5, %c4 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %pc, %r#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
