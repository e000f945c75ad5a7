// RUN: tilewright-opt %s --test-print-allocation --verify-diagnostics
// RUN: tilewright-opt %s --allocate-shared-memory | filecheck %s
// RUN: not tilewright-opt %s --allocate-shared-memory="limit=4096" 2>&1 | filecheck %s --check-prefix=LIMIT

// LIMIT: allocation.mlir:{{[0-9]+:[0-9]+}}: error: out of resource: shared memory, required: 11016, hardware limit: 4096; reducing block sizes or num_stages may help; the largest buffer takes 8192 bytes
// LIMIT-NEXT: ttg.local_alloc

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
// CHECK: ttg.shared = 11016 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Buffers that live one after the other share a place; those that live together do not.
// expected-remark@+3 {{live_ranges}}
// expected-remark@+2 {{size = 4096}}
// CHECK-LABEL: @live_ranges
tt.func @live_ranges(%x: tensor<32x32xf16, #blocked>) {
  // expected-remark@+2 {{offset = 0, size = 2048}}
  // CHECK: ttg.local_alloc %arg0 {allocation.offset = 0 : i32}
  %0 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  // expected-remark@+2 {{offset = 2048, size = 2048}}
  // CHECK: ttg.local_alloc %arg0 {allocation.offset = 2048 : i32}
  %1 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  %2 = ttg.local_load %0 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
  // expected-remark@+2 {{offset = 0, size = 2048}}
  // CHECK: ttg.local_alloc %arg0 {allocation.offset = 0 : i32}
  %3 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  %4 = ttg.local_load %1 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
  %5 = ttg.local_load %3 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
  tt.return
}

// A view keeps its buffer alive; so does `local_dealloc`.
// expected-remark@+2 {{views}}
// expected-remark@+1 {{size = 4096}}
tt.func @views(%x: tensor<32x32xf16, #blocked>, %i: i32) {
  // expected-remark@+1 {{offset = 0, size = 2048}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<2x16x32xf16, #shared, #smem, mutable>
  %1 = ttg.memdesc_index %0[%i] : !ttg.memdesc<2x16x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
  // expected-remark@+1 {{offset = 2048, size = 2048}}
  %2 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  %3 = ttg.local_load %1 : !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> tensor<16x32xf16, #blocked>
  %4 = ttg.local_load %2 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
  tt.return
}

// What a loop uses lives until the loop ends; what is made in it and used in it does not.
// expected-remark@+2 {{loop}}
// expected-remark@+1 {{size = 6144}}
tt.func @loop(%x: tensor<32x32xf16, #blocked>, %n: i32) {
  // expected-remark@+1 {{offset = 0, size = 2048}}
  %0 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  scf.for %i = %n to %n step %n : i32 {
    %1 = ttg.local_load %0 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
    // expected-remark@+1 {{offset = 2048, size = 2048}}
    %2 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    // expected-remark@+1 {{offset = 4096, size = 2048}}
    %3 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %4 = ttg.local_load %2 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
    %5 = ttg.local_load %3 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
    // expected-remark@+1 {{offset = 2048, size = 2048}}
    %6 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %7 = ttg.local_load %6 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
  }
  tt.return
}

// The buffers that a loop hands on live as long as the loop and its results.
// expected-remark@+2 {{carried}}
// expected-remark@+1 {{size = 6144}}
tt.func @carried(%x: tensor<32x32xf16, #blocked>, %n: i32) {
  // expected-remark@+1 {{offset = 0, size = 2048}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  // expected-remark@+1 {{offset = 2048, size = 2048}}
  %1 = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  %2:2 = scf.for %i = %n to %n step %n iter_args(%a = %0, %b = %1) -> (!ttg.memdesc<32x32xf16, #shared, #smem, mutable>, !ttg.memdesc<32x32xf16, #shared, #smem, mutable>) : i32 {
    scf.yield %b, %a : !ttg.memdesc<32x32xf16, #shared, #smem, mutable>, !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  }
  // expected-remark@+1 {{offset = 4096, size = 2048}}
  %3 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  %4 = ttg.local_load %3 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
  %5 = ttg.local_load %2#0 : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// Blocks: a buffer that is used behind a loop of blocks lives through all of them.
// expected-remark@+2 {{blocks}}
// expected-remark@+1 {{size = 4096}}
tt.func @blocks(%x: tensor<32x32xf16, #blocked>, %c: i1) {
  // expected-remark@+1 {{offset = 0, size = 2048}}
  %0 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  cf.br ^head
^head:
  %1 = ttg.local_load %0 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
  cf.cond_br %c, ^body, ^end
^body:
  // expected-remark@+1 {{offset = 2048, size = 2048}}
  %2 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  %3 = ttg.local_load %2 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
  cf.br ^head
^end:
  tt.return
}

// Scratch lives while its op runs.
// expected-remark@+3 {{scratch}}
// expected-remark@+2 {{size = 4096}}
// CHECK-LABEL: @scratch
tt.func @scratch(%x: tensor<32x32xf16, #blocked>) -> tensor<32x32xf16, #columns> {
  // expected-remark@+1 {{offset = 0, size = 2048}}
  %0 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  // expected-remark@+2 {{scratch offset = 2048, size = 2048}}
  // CHECK: ttg.convert_layout %arg0 {allocation.offset = 2048 : i32}
  %1 = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #columns>
  %2 = ttg.local_load %0 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
  // expected-remark@+2 {{scratch offset = 0, size = 2048}}
  // CHECK: ttg.convert_layout %2 {allocation.offset = 0 : i32}
  %3 = ttg.convert_layout %2 : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #columns>
  tt.return %3 : tensor<32x32xf16, #columns>
}

// Each encoding wants its own alignment; padding counts.
// expected-remark@+2 {{alignment}}
// expected-remark@+1 {{size = 11016}}
tt.func @alignment(%x: tensor<64x64xf16, #blocked>, %y: tensor<32x32xf16, #blocked>) {
  // expected-remark@+1 {{offset = 11008, size = 8}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #line, #smem, mutable>
  // expected-remark@+1 {{offset = 0, size = 8192}}
  %1 = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #nvmma, #smem>
  %2 = ttg.local_load %1 : !ttg.memdesc<64x64xf16, #nvmma, #smem> -> tensor<64x64xf16, #blocked>
  // expected-remark@+1 {{offset = 8704, size = 2296}}
  %3 = ttg.local_alloc %y : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #padded, #smem>
  // expected-remark@+1 {{offset = 8192, size = 512}}
  %4 = ttg.local_alloc {alignment = 512 : i32} : () -> !ttg.memdesc<64xi64, #line, #smem, mutable>
  %5 = ttg.local_load %3 : !ttg.memdesc<32x32xf16, #padded, #smem> -> tensor<32x32xf16, #blocked>
  ttg.local_dealloc %1 : !ttg.memdesc<64x64xf16, #nvmma, #smem>
  ttg.local_dealloc %4 : !ttg.memdesc<64xi64, #line, #smem, mutable>
  ttg.local_dealloc %0 : !ttg.memdesc<1xi64, #line, #smem, mutable>
  tt.return
}

// A call has room for all that its callee needs, callees of the callee included; next to what lives in the caller.
// expected-remark@+2 {{inner}}
// expected-remark@+1 {{size = 2048}}
tt.func private @inner(%x: tensor<32x32xf16, #blocked>) attributes {noinline = true} {
  // expected-remark@+1 {{offset = 0, size = 2048}}
  %0 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  tt.return
}
// expected-remark@+2 {{middle}}
// expected-remark@+1 {{size = 4096}}
tt.func private @middle(%x: tensor<32x32xf16, #blocked>) attributes {noinline = true} {
  // expected-remark@+1 {{offset = 0, size = 2048}}
  %0 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  // expected-remark@+1 {{virtual offset = 2048, size = 2048}}
  tt.call @inner(%x) : (tensor<32x32xf16, #blocked>) -> ()
  ttg.local_dealloc %0 : !ttg.memdesc<32x32xf16, #shared, #smem>
  tt.return
}
// expected-remark@+3 {{outer}}
// expected-remark@+2 {{size = 6144}}
// CHECK-LABEL: @outer
tt.func public @outer(%x: tensor<32x32xf16, #blocked>) {
  // expected-remark@+1 {{offset = 4096, size = 2048}}
  %0 = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  // expected-remark@+2 {{virtual offset = 0, size = 4096}}
  // CHECK: tt.call @middle(%arg0) {allocation.offset = 0 : i32}
  tt.call @middle(%x) : (tensor<32x32xf16, #blocked>) -> ()
  ttg.local_dealloc %0 : !ttg.memdesc<32x32xf16, #shared, #smem>
  tt.return
}
}
