// RUN: tilewright-opt %s --test-print-alias --verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#turned = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {

tt.func @views(%x: tensor<32x16xf16, #blocked>, %i: i32) {
  // expected-remark@+1 {{%0 -> %0}}
  %0 = ttg.local_alloc %x : (tensor<32x16xf16, #blocked>) -> !ttg.memdesc<32x16xf16, #shared, #smem>
  // expected-remark@+1 {{%1 -> %0}}
  %1 = ttg.memdesc_trans %0 {order = array<i32: 1, 0>} : !ttg.memdesc<32x16xf16, #shared, #smem> -> !ttg.memdesc<16x32xf16, #turned, #smem>
  // expected-remark@+1 {{%2 -> %0}}
  %2 = ttg.memdesc_subslice %0[16, 0] : !ttg.memdesc<32x16xf16, #shared, #smem> -> !ttg.memdesc<16x16xf16, #shared, #smem, 32x16>
  // expected-remark@+1 {{%3 -> %3}}
  %3 = ttg.local_alloc : () -> !ttg.memdesc<3x32x16xf16, #shared, #smem, mutable>
  // expected-remark@+1 {{%4 -> %3}}
  %4 = ttg.memdesc_index %3[%i] : !ttg.memdesc<3x32x16xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
  tt.return
}

tt.func @joins(%c: i1, %n: i32) {
  // expected-remark@+1 {{%0 -> %0}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
  // expected-remark@+1 {{%1 -> %1}}
  %1 = ttg.local_alloc : () -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
  // expected-remark@+1 {{%2 -> %2}}
  %2 = ttg.local_alloc : () -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
  // expected-remark@+1 {{%3 -> %0,%1}}
  %3 = arith.select %c, %0, %1 : !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
  // Buffers that change places: after some turns each may be either of both.
  // expected-remark@+4 {{%4#0 -> %0,%1}}
  // expected-remark@+3 {{%4#1 -> %0,%1}}
  // expected-remark@+2 {{%arg3 -> %0,%1}}
  // expected-remark@+1 {{%arg4 -> %0,%1}}
  %4:2 = scf.for %i = %n to %n step %n iter_args(%a = %0, %b = %1) -> (!ttg.memdesc<32x16xf16, #shared, #smem, mutable>, !ttg.memdesc<32x16xf16, #shared, #smem, mutable>) : i32 {
    scf.yield %b, %a : !ttg.memdesc<32x16xf16, #shared, #smem, mutable>, !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
  }
  // expected-remark@+1 {{%5 -> %1,%2}}
  %5 = scf.if %c -> (!ttg.memdesc<32x16xf16, #shared, #smem, mutable>) {
    scf.yield %1 : !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
  } else {
    scf.yield %2 : !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
  }
  tt.return
}

// What a function gets as arguments it knows as such.
// expected-remark@+1 {{%arg0 -> %arg0}}
tt.func private @callee(%m: !ttg.memdesc<32x16xf16, #shared, #smem, mutable>) attributes {noinline = true} {
  // expected-remark@+1 {{%0 -> %arg0}}
  %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<32x16xf16, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf16, #turned, #smem, mutable>
  tt.return
}

// expected-remark@+1 {{%2 -> %0,%1}}
tt.func @blocks(%c: i1) {
  // expected-remark@+1 {{%0 -> %0}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
  // expected-remark@+1 {{%1 -> %1}}
  %1 = ttg.local_alloc : () -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
  cf.cond_br %c, ^bb1(%0 : !ttg.memdesc<32x16xf16, #shared, #smem, mutable>), ^bb1(%1 : !ttg.memdesc<32x16xf16, #shared, #smem, mutable>)
^bb1(%m: !ttg.memdesc<32x16xf16, #shared, #smem, mutable>):
  tt.return
}
}
