// RUN: tilewright-opt %s | exact %s

// Roles that a kernel consists of: ops of our own.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @roles(%arg0: !tt.tensordesc<128x64xf16, #shared>, %arg1: i32, %arg2: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) {
    ttg.warp_specialize(%arg0, %arg1, %arg2) attributes {ttg.direct}
    default {
      ttg.warp_yield
    }
    partition0(%arg3: !tt.tensordesc<128x64xf16, #shared>, %arg4: i32, %arg5: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) num_warps(1) {
      ttng.async_tma_prefetch %arg3[%arg4, %arg4] %arg5 : !tt.tensordesc<128x64xf16, #shared>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      ttng.start_role
      ttg.warp_return
    } : (!tt.tensordesc<128x64xf16, #shared>, i32, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) -> ()
    tt.return
  }
}

// EXACT:
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func @roles(%arg0: !tt.tensordesc<128x64xf16, #shared>, %arg1: i32, %arg2: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) {
//     ttg.warp_specialize(%arg0, %arg1, %arg2) attributes {ttg.direct}
//     default {
//       ttg.warp_yield
//     }
//     partition0(%arg3: !tt.tensordesc<128x64xf16, #shared>, %arg4: i32, %arg5: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) num_warps(1) {
//       ttng.async_tma_prefetch %arg3[%arg4, %arg4] %arg5 : !tt.tensordesc<128x64xf16, #shared>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
//       ttng.start_role
//       ttg.warp_return
//     } : (!tt.tensordesc<128x64xf16, #shared>, i32, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) -> ()
//     tt.return
//   }
// }
