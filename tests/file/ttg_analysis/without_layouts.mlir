// RUN: tilewright-opt %s --allocate-shared-memory --test-print-membar | filecheck %s

// Buffers and barriers follow from what lies in shared memory: tensors need no layout, unless an op exchanges data through scratch.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

// CHECK: module attributes {{.*}}ttg.shared = 1024 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32} {
  // CHECK-LABEL: @copy
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  tt.func @copy(%x: tensor<16x32xf16>) -> tensor<16x32xf16> {
    %buffer = ttg.local_alloc %x : (tensor<16x32xf16>) -> !ttg.memdesc<16x32xf16, #shared, #smem>
    %y = ttg.local_load %buffer : !ttg.memdesc<16x32xf16, #shared, #smem> -> tensor<16x32xf16>
    tt.return %y : tensor<16x32xf16>
  }
}
