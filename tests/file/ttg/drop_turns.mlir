// Warp groups that exchange elements while one of them has the turn take none.
// RUN: tilewright-opt %s --tritongpu-drop-turns --verify-each 2>&1 | filecheck %s

#rows = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#halves = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 64, 16]}>
#dot_rows = #ttg.dot_op<{opIdx = 0, parent = #rows, kWidth = 2}>
#dot_halves = #ttg.dot_op<{opIdx = 0, parent = #halves, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Each warp has all columns of its rows: elements stay where they are.
  // CHECK-LABEL: @of_rows
  // CHECK: ttng.pass_turn {{.*}} {opens}
  // CHECK: ttng.await_turn
  // CHECK: ttng.pass_turn
  // CHECK: ttng.await_turn {closes}
  tt.func public @of_rows(%n: i32, %x: tensor<128x64xf16, #rows>, %true: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    ttg.warp_specialize()
    default {
      ttng.pass_turn %true {opens}
      scf.for %i = %c0 to %n step %c1 : i32 {
        ttng.await_turn
        %p = ttg.convert_layout %x : tensor<128x64xf16, #rows> -> tensor<128x64xf16, #dot_rows>
        ttng.pass_turn %true after %p : tensor<128x64xf16, #dot_rows>
        %m = ttg.local_alloc %x : (tensor<128x64xf16, #rows>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      }
      ttng.await_turn {closes}
      ttg.warp_yield
    } : () -> ()
    tt.return
  }

  // CHECK-LABEL: @of_halves
  // CHECK-NOT: _turn
  // CHECK: ttg.convert_layout
  // CHECK-NOT: _turn
  // CHECK: tt.return
  tt.func public @of_halves(%n: i32, %x: tensor<64x128xf16, #halves>, %true: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    ttg.warp_specialize()
    default {
      ttng.pass_turn %true {opens}
      scf.for %i = %c0 to %n step %c1 : i32 {
        ttng.await_turn
        %p = ttg.convert_layout %x : tensor<64x128xf16, #halves> -> tensor<64x128xf16, #dot_halves>
        ttng.pass_turn %true after %p : tensor<64x128xf16, #dot_halves>
      }
      ttng.await_turn {closes}
      ttg.warp_yield
    } : () -> ()
    tt.return
  }

  // CHECK-LABEL: @through_memory
  // CHECK-NOT: _turn
  // CHECK: ttg.local_alloc
  // CHECK-NOT: _turn
  // CHECK: tt.return
  tt.func public @through_memory(%n: i32, %x: tensor<128x64xf16, #rows>, %true: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    ttg.warp_specialize()
    default {
      ttng.pass_turn %true {opens}
      scf.for %i = %c0 to %n step %c1 : i32 {
        ttng.await_turn
        %m = ttg.local_alloc %x : (tensor<128x64xf16, #rows>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
        ttng.pass_turn %true
      }
      ttg.warp_yield
    } : () -> ()
    tt.return
  }
}
