// RUN: tilewright-opt %s --verify-diagnostics

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%arg0: !ttg.memdesc<256xf32, #shared, #smem, mutable>) {
    // expected-error @below {{inline assembly that is given a buffer cannot be pure}}
    %0 = ttg.inline_asm "ld.shared.f32 $0, [$1];" {constraints = "=f,r", pure = true} %arg0 : (!ttg.memdesc<256xf32, #shared, #smem, mutable>) -> f32
    tt.return
  }
}
