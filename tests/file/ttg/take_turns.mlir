// Two warp groups compute between their products one after the other.
// RUN: tilewright-opt %s --tritongpu-take-turns --verify-each 2>&1 | filecheck %s
// RUN: tilewright-opt %s --tritongpu-take-turns=mode=never --verify-each 2>&1 | filecheck %s --check-prefix=NEVER

// NEVER-LABEL: @exponentials
// NEVER-NOT: ttng.await_turn
// NEVER-NOT: ttng.pass_turn
// NEVER: tt.return

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#row = #ttg.slice<{dim = 1, parent = #mma}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#barrier = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The exponentials take longer than the products: they alone are in turns. The first group has the first turn, if there
  // is one; the second passes none on in its last iteration.
  // CHECK-LABEL: @exponentials
  // CHECK: [[RUNS:%[a-z0-9_]+]] = arith.cmpi slt, %c0{{.*}}
  // CHECK: ttng.pass_turn [[RUNS]] {opens}
  // CHECK: scf.for
  // CHECK: [[MORE:%[a-z0-9_]+]] = arith.cmpi slt
  // CHECK: ttng.warp_group_dot_wait
  // CHECK: [[M:%[a-z0-9_]+]] = "tt.reduce"
  // CHECK: ttng.await_turn after [[M]] : tensor<128xf32
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: math.exp2
  // CHECK-NEXT: arith.truncf
  // CHECK-NEXT: [[P:%[a-z0-9_]+]] = ttg.convert_layout
  // CHECK-NEXT: ttng.pass_turn [[MORE]] after [[P]] : tensor<128x64xf16
  // CHECK-NEXT: arith.mulf
  // CHECK-NEXT: ttng.warp_group_dot
  tt.func public @exponentials(%q: !ttg.memdesc<128x64xf16, #shared, #smem>, %k: !ttg.memdesc<64x64xf16, #shared, #smem>, %v: !ttg.memdesc<64x64xf16, #shared, #smem>, %full: !ttg.memdesc<1xi64, #barrier, #smem, mutable>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %r = ttg.warp_specialize()
    default {
      %l = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
        %s = ttng.warp_group_dot %q, %k, %zero {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
        %w = ttng.warp_group_dot_wait %s {pendings = 0 : i32} : tensor<128x64xf32, #mma>
        %m = "tt.reduce"(%w) <{axis = 1 : i32}> ({
        ^bb0(%x: f32, %y: f32):
          %z = arith.maxnumf %x, %y : f32
          tt.reduce.return %z : f32
        }) : (tensor<128x64xf32, #mma>) -> tensor<128xf32, #row>
        %t = tt.expand_dims %m {axis = 1 : i32} : tensor<128xf32, #row> -> tensor<128x1xf32, #mma>
        %b = tt.broadcast %t : tensor<128x1xf32, #mma> -> tensor<128x64xf32, #mma>
        %d = arith.subf %w, %b : tensor<128x64xf32, #mma>
        %e = math.exp2 %d : tensor<128x64xf32, #mma>
        %f = arith.mulf %acc, %e : tensor<128x64xf32, #mma>
        %h = arith.truncf %e : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
        %p = ttg.convert_layout %h : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #dot>
        ttng.wait_barrier %full, %c0 : !ttg.memdesc<1xi64, #barrier, #smem, mutable>
        %o = ttng.warp_group_dot %p, %v, %f {inputPrecision = 0 : i32, isAsync = true} : tensor<128x64xf16, #dot> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
        scf.yield %o : tensor<128x64xf32, #mma>
      }
      ttg.warp_yield %l : tensor<128x64xf32, #mma>
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> tensor<128x64xf32, #mma>
    tt.return
  }

  // In a loop over programs turns go on from one to the next; the first group takes the last one of all.
  // CHECK-LABEL: @programs
  // CHECK: [[TRUE:%[a-z0-9_]+]] = arith.constant true
  // CHECK: ttng.pass_turn [[TRUE]] {opens}
  // CHECK: scf.for
  // CHECK-NOT: opens
  // CHECK: scf.for
  // CHECK: ttng.await_turn after
  // CHECK: ttng.pass_turn [[TRUE]] after
  // CHECK: } {ttg.tiles}
  // CHECK-NEXT: ttng.await_turn {closes}
  tt.func public @programs(%q: !ttg.memdesc<128x64xf16, #shared, #smem>, %k: !ttg.memdesc<64x64xf16, #shared, #smem>, %v: !ttg.memdesc<64x64xf16, #shared, #smem>, %full: !ttg.memdesc<1xi64, #barrier, #smem, mutable>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    ttg.warp_specialize()
    default {
      scf.for %program = %c0 to %n step %c1 : i32 {
      %l = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
        %s = ttng.warp_group_dot %q, %k, %zero {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
        %w = ttng.warp_group_dot_wait %s {pendings = 0 : i32} : tensor<128x64xf32, #mma>
        %m = "tt.reduce"(%w) <{axis = 1 : i32}> ({
        ^bb0(%x: f32, %y: f32):
          %z = arith.maxnumf %x, %y : f32
          tt.reduce.return %z : f32
        }) : (tensor<128x64xf32, #mma>) -> tensor<128xf32, #row>
        %t = tt.expand_dims %m {axis = 1 : i32} : tensor<128xf32, #row> -> tensor<128x1xf32, #mma>
        %b = tt.broadcast %t : tensor<128x1xf32, #mma> -> tensor<128x64xf32, #mma>
        %d = arith.subf %w, %b : tensor<128x64xf32, #mma>
        %e = math.exp2 %d : tensor<128x64xf32, #mma>
        %f = arith.mulf %acc, %e : tensor<128x64xf32, #mma>
        %h = arith.truncf %e : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
        %p = ttg.convert_layout %h : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #dot>
        ttng.wait_barrier %full, %c0 : !ttg.memdesc<1xi64, #barrier, #smem, mutable>
        %o = ttng.warp_group_dot %p, %v, %f {inputPrecision = 0 : i32, isAsync = true} : tensor<128x64xf16, #dot> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
        scf.yield %o : tensor<128x64xf32, #mma>
      }
      } {ttg.tiles}
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }

  // The products take longer than all of the arithmetic.
  // CHECK-LABEL: @all_of_it
  // CHECK: scf.for
  // CHECK: ttng.await_turn
  // CHECK-NEXT: ttng.warp_group_dot_wait
  // CHECK: math.exp2
  // CHECK: ttng.pass_turn {{.*}} after
  // CHECK: ttng.wait_barrier
  // CHECK-NEXT: ttng.warp_group_dot
  tt.func public @all_of_it(%q: !ttg.memdesc<128x256xf16, #shared, #smem>, %k: !ttg.memdesc<256x64xf16, #shared, #smem>, %v: !ttg.memdesc<64x64xf16, #shared, #smem>, %full: !ttg.memdesc<1xi64, #barrier, #smem, mutable>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %r = ttg.warp_specialize()
    default {
      %l = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
        %s = ttng.warp_group_dot %q, %k, %zero {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<128x256xf16, #shared, #smem> * !ttg.memdesc<256x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
        %w = ttng.warp_group_dot_wait %s {pendings = 0 : i32} : tensor<128x64xf32, #mma>
        %m = "tt.reduce"(%w) <{axis = 1 : i32}> ({
        ^bb0(%x: f32, %y: f32):
          %z = arith.maxnumf %x, %y : f32
          tt.reduce.return %z : f32
        }) : (tensor<128x64xf32, #mma>) -> tensor<128xf32, #row>
        %t = tt.expand_dims %m {axis = 1 : i32} : tensor<128xf32, #row> -> tensor<128x1xf32, #mma>
        %b = tt.broadcast %t : tensor<128x1xf32, #mma> -> tensor<128x64xf32, #mma>
        %d = arith.subf %w, %b : tensor<128x64xf32, #mma>
        %e = math.exp2 %d : tensor<128x64xf32, #mma>
        %f = arith.mulf %acc, %e : tensor<128x64xf32, #mma>
        %h = arith.truncf %e : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
        %p = ttg.convert_layout %h : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #dot>
        ttng.wait_barrier %full, %c0 : !ttg.memdesc<1xi64, #barrier, #smem, mutable>
        %o = ttng.warp_group_dot %p, %v, %f {inputPrecision = 0 : i32, isAsync = true} : tensor<128x64xf16, #dot> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
        scf.yield %o : tensor<128x64xf32, #mma>
      }
      ttg.warp_yield %l : tensor<128x64xf32, #mma>
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> tensor<128x64xf32, #mma>
    tt.return
  }
}
