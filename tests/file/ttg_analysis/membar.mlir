// RUN: tilewright-opt %s --test-print-membar | filecheck %s
// RUN: tilewright-opt %s --allocate-shared-memory --membar | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {

// A read after a write, a write after a read, a write after a write; nothing between two reads.
// CHECK-LABEL: @hazards
// CHECK: ttg.local_store
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: tt.return
tt.func @hazards(%x: tensor<32x32xf16, #blocked>) {
  %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  ttg.local_store %x, %m : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  %0 = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  %1 = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  ttg.local_store %x, %m : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  ttg.local_store %x, %m : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  tt.return
}

// Parts at fixed places that do not overlap need nothing; at an unknown index they may.
// CHECK-LABEL: @parts
// CHECK-COUNT-2: ttg.local_store
// CHECK-NOT: ttg.barrier local
// CHECK: ttg.memdesc_index %{{.*}}[%arg1]
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_store
tt.func @parts(%x: tensor<32x32xf16, #blocked>, %i: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %m = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable>
  %a = ttg.memdesc_index %m[%zero] : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  %b = ttg.memdesc_index %m[%one] : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  ttg.local_store %x, %a : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  ttg.local_store %x, %b : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  %c = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  ttg.local_store %x, %c : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  tt.return
}

// Slices beside each other.
// CHECK-LABEL: @slices
// CHECK-NOT: ttg.barrier local
// CHECK: tt.return
tt.func @slices(%x: tensor<32x16xf16, #blocked>) {
  %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  %a = ttg.memdesc_subslice %m[0, 0] : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x32>
  %b = ttg.memdesc_subslice %m[0, 16] : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x32>
  ttg.local_store %x, %a : tensor<32x16xf16, #blocked> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x32>
  ttg.local_store %x, %b : tensor<32x16xf16, #blocked> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x32>
  tt.return
}

// Scratch has a barrier inside: what was before is done with after it, its reads are not.
// CHECK-LABEL: @scratch
// CHECK: ttg.convert_layout
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.convert_layout
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_alloc
tt.func @scratch(%x: tensor<32x32xf16, #blocked>, %y: tensor<32x32xf16, #blocked>) {
  %0 = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #columns>
  %1 = ttg.convert_layout %y : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #columns>
  %2 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  tt.return
}

// The end of a turn meets the start of the next.
// CHECK-LABEL: @around_a_loop
// CHECK: scf.for
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_load
tt.func @around_a_loop(%x: tensor<32x32xf16, #blocked>, %n: i32) {
  %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  scf.for %i = %n to %n step %n : i32 {
    ttg.local_store %x, %m : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    %0 = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  }
  tt.return
}

// What a loop only reads is waited for once, before it.
// CHECK-LABEL: @before_a_loop
// CHECK: ttg.local_store
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: scf.for
// CHECK-NEXT: ttg.local_load
tt.func @before_a_loop(%x: tensor<32x32xf16, #blocked>, %n: i32) {
  %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  ttg.local_store %x, %m : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  scf.for %i = %n to %n step %n : i32 {
    %0 = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  }
  tt.return
}

// One side of a conditional is enough.
// CHECK-LABEL: @conditional
// CHECK: scf.if
// CHECK: ttg.local_store
// CHECK: ttg.barrier local
// CHECK-NEXT: ttg.local_load
tt.func @conditional(%x: tensor<32x32xf16, #blocked>, %c: i1) {
  %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  scf.if %c {
    ttg.local_store %x, %m : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  }
  %0 = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// A barrier that stands there already counts.
// CHECK-LABEL: @barriers
// CHECK: ttg.local_store
// CHECK-NEXT: ttg.barrier all
// CHECK-NEXT: ttg.local_load
tt.func @barriers(%x: tensor<32x32xf16, #blocked>) {
  %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  ttg.local_store %x, %m : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  gpu.barrier
  %0 = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// A barrier between an asynchronous copy and the wait for it orders nothing.
// CHECK-LABEL: @copies
// CHECK: ttg.async_copy_global_to_local
// CHECK: ttg.barrier all
// CHECK-NEXT: ttg.async_wait
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_load
tt.func @copies(%p: tensor<32x32x!tt.ptr<f16>, #blocked>) {
  %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  %t = ttg.async_copy_global_to_local %p, %m : tensor<32x32x!tt.ptr<f16>, #blocked> -> <32x32xf16, #shared, #smem, mutable>
  %g = ttg.async_commit_group tokens %t
  gpu.barrier
  %w = ttg.async_wait %g {num = 0 : i32}
  %0 = ttg.local_load %m token %w : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// What a function does first, and what it leaves, its callers take over; in buffers that they pass as well.
// CHECK-LABEL: @writes
// CHECK-NOT: ttg.barrier local
tt.func private @writes(%x: tensor<32x32xf16, #blocked>, %m: !ttg.memdesc<32x32xf16, #shared, #smem, mutable>) attributes {noinline = true} {
  ttg.local_store %x, %m : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  tt.return
}
// CHECK-LABEL: @caller
// CHECK: ttg.local_load
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: tt.call @writes
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: ttg.local_load
tt.func public @caller(%x: tensor<32x32xf16, #blocked>) {
  %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  %0 = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.call @writes(%x, %m) : (tensor<32x32xf16, #blocked>, !ttg.memdesc<32x32xf16, #shared, #smem, mutable>) -> ()
  %1 = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}
}
