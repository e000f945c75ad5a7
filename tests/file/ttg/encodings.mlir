// RUN: tilewright-opt %s | exact %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = [[16, 0]]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], CGALayout = [[1, 0]], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], CGALayout = [[1, 0]]}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true, rank = 3}>
#shared2 = #ttg.padded_shared<[32:+4, 64:+8] {order = [1, 0], shape = [16, 32]}>
#shared3 = #ttg.padded_shared<[32:+4, 64:+8] {offset = [[0, 2], [0, 1], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], block = [[8, 0]]}>
#shared4 = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 2]], block = [[4, 0]]}, alignment = 16>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%arg0: tensor<32x32xf32, #blocked>, %arg1: tensor<32x32xf32, #blocked1>, %arg2: tensor<16x32xf32, #linear>, %arg3: tensor<32x32xf32, #mma>, %arg4: tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, %arg5: tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, %arg6: tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>, %arg7: !ttg.memdesc<32x32xf32, #shared, #smem, mutable>, %arg8: !ttg.memdesc<4x32x128xi8, #shared1, #smem>, %arg9: !ttg.memdesc<16x32xf32, #shared2, #smem>, %arg10: !ttg.memdesc<16x32xf32, #shared3, #smem>, %arg11: !ttg.memdesc<4x4xf32, #shared4, #smem, mutable, 8x4>, %arg12: !ttg.async.token, %arg13: !tt.tensordesc<64x64xf16, #shared>) {
    tt.return
  }
}
// EXACT:
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
// #linear = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = [[16, 0]]}>
// #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], CGALayout = [[1, 0]], instrShape = [16, 8]}>
// #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], CGALayout = [[1, 0]]}>
// #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true, rank = 3}>
// #shared2 = #ttg.padded_shared<[32:+4, 64:+8] {order = [1, 0], shape = [16, 32]}>
// #shared3 = #ttg.padded_shared<[32:+4, 64:+8] {offset = [[0, 2], [0, 1], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], block = [[8, 0]]}>
// #shared4 = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 2]], block = [[4, 0]]}, alignment = 16>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func @f(%arg0: tensor<32x32xf32, #blocked>, %arg1: tensor<32x32xf32, #blocked1>, %arg2: tensor<16x32xf32, #linear>, %arg3: tensor<32x32xf32, #mma>, %arg4: tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, %arg5: tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, %arg6: tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>, %arg7: !ttg.memdesc<32x32xf32, #shared, #smem, mutable>, %arg8: !ttg.memdesc<4x32x128xi8, #shared1, #smem>, %arg9: !ttg.memdesc<16x32xf32, #shared2, #smem>, %arg10: !ttg.memdesc<16x32xf32, #shared3, #smem>, %arg11: !ttg.memdesc<4x4xf32, #shared4, #smem, mutable, 8x4>, %arg12: !ttg.async.token, %arg13: !tt.tensordesc<64x64xf16, #shared>) {
//     tt.return
//   }
// }
