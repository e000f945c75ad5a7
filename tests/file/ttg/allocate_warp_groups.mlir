// Partitions get their warps behind the kernel's, the largest first, and share warp groups and registers.
// RUN: tilewright-opt %s --tritongpu-allocate-warp-groups --split-input-file | filecheck %s

// CHECK: module attributes {ttg.maxnreg = 168 : i32, "ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 12 : i32}
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @k(%p: !tt.ptr<f32>) {
    // CHECK: ttg.warp_specialize(%arg0) attributes {actualRegisters = array<i32: 240, 24, 240>, requestedRegisters = array<i32: 24, 240>, warpGroupStartIds = array<i32: 8, 4>}
    ttg.warp_specialize(%p) attributes {requestedRegisters = array<i32: 24, 240>}
    default {
      ttg.warp_yield
    }
    partition0(%a: !tt.ptr<f32>) num_warps(1) {
      ttg.warp_return
    }
    partition1(%b: !tt.ptr<f32>) num_warps(4) {
      ttg.warp_return
    } : (!tt.ptr<f32>) -> ()
    tt.return
  }
}

// -----

// Small partitions share a warp group, with the registers of the one that asks for most; nobody asks: nothing is said.
// CHECK: module attributes {ttg.maxnreg = 168 : i32, "ttg.num-warps" = 8 : i32, "ttg.total-num-warps" = 12 : i32}
module attributes {"ttg.num-warps" = 8 : i32} {
  tt.func @k(%p: !tt.ptr<f32>) {
    // CHECK: actualRegisters = array<i32: 232, 40, 40>, {{.*}}warpGroupStartIds = array<i32: 10, 8>
    ttg.warp_specialize(%p) attributes {requestedRegisters = array<i32: 24, 36>}
    default {
      ttg.warp_yield
    }
    partition0(%a: !tt.ptr<f32>) num_warps(1) {
      ttg.warp_return
    }
    partition1(%b: !tt.ptr<f32>) num_warps(2) {
      ttg.warp_return
    } : (!tt.ptr<f32>) -> ()
    // CHECK: ttg.warp_specialize(%arg0) attributes {warpGroupStartIds = array<i32: 8>}
    ttg.warp_specialize(%p)
    default {
      ttg.warp_yield
    }
    partition0(%a: !tt.ptr<f32>) num_warps(4) {
      ttg.warp_return
    } : (!tt.ptr<f32>) -> ()
    tt.return
  }
}
