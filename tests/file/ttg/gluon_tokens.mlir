// Tokens of copies order nothing on one thread, and go. Loops that our pipeliner makes carry them; Gluon's do not.
// RUN: tilewright-opt %s --gluon-drop-layouts --verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @carried(%p: tensor<128x!tt.ptr<f32>, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %b : tensor<128x!tt.ptr<f32>, #blocked> -> <128xf32, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    // expected-error @below {{passes on the token of a copy, as no module of Gluon does}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %g) -> (!ttg.async.token) : i32 {
      %w = ttg.async_wait %a {num = 0 : i32}
      scf.yield %w : !ttg.async.token
    }
    ttg.local_dealloc %b : !ttg.memdesc<128xf32, #shared, #smem, mutable>
    tt.return
  }
}
