// RUN: tilewright-opt %s | exact %s

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%arg0: tensor<256xf32, #blocked>, %arg1: f32, %arg2: !ttg.memdesc<256xf32, #shared, #smem, mutable>) {
    %0 = ttg.inline_asm "add.f32 $0, $2, $4;\0Aadd.f32 $1, $3, $4;" {constraints = "=&f,=&f,f,f,f", pure = true} %arg0, %arg1 : (tensor<256xf32, #blocked>, f32) -> tensor<256xf32, #blocked>
    %1:2 = ttg.inline_asm "mov.u32 $0, %tid.x; mov.u32 $1, 3;" {constraints = "=r,=r", pure = false} : () -> (i32, i32)
    ttg.inline_asm "st.shared.f32 [$0], $1;" {constraints = "r,f", pure = false} %arg2, %arg1 : (!ttg.memdesc<256xf32, #shared, #smem, mutable>, f32) -> ()
    tt.return
  }
}

// EXACT:
// #blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func @f(%arg0: tensor<256xf32, #blocked>, %arg1: f32, %arg2: !ttg.memdesc<256xf32, #shared, #smem, mutable>) {
//     %0 = ttg.inline_asm "add.f32 $0, $2, $4;\0Aadd.f32 $1, $3, $4;" {constraints = "=&f,=&f,f,f,f", pure = true} %arg0, %arg1 : (tensor<256xf32, #blocked>, f32) -> tensor<256xf32, #blocked>
//     %1:2 = ttg.inline_asm "mov.u32 $0, %tid.x; mov.u32 $1, 3;" {constraints = "=r,=r", pure = false} : () -> (i32, i32)
//     ttg.inline_asm "st.shared.f32 [$0], $1;" {constraints = "r,f", pure = false} %arg2, %arg1 : (!ttg.memdesc<256xf32, #shared, #smem, mutable>, f32) -> ()
//     tt.return
//   }
// }
