// RUN: tilewright-opt %s --gluon-drop-layouts | filecheck %s

// A partition becomes a coroutine that suspends itself where it waits; the default region, in place of the op, resumes
// it while it waits itself, and until it has ended.
// CHECK-LABEL: tt.func public @exchange(
// CHECK: %[[H:.*]] = tt.call @exchange.partition0({{.*}}) : (!tt.ptr<i64>, i32, !tt.ptr<i64>) -> i64
// CHECK-NOT: ttg.warp_specialize
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: tt.call @tilewright_resume(%[[H]]) : (i64) -> ()
// CHECK: tt.assert {{.*}}, "waits forever
// CHECK: scf.while
// CHECK: tt.call @tilewright_has_ended(%[[H]]) : (i64) -> i1
// CHECK: tt.call @tilewright_resume(%[[H]]) : (i64) -> ()
// CHECK: tt.call @tilewright_destroy(%[[H]]) : (i64) -> ()
// CHECK: tt.return
// CHECK: tt.func private @exchange.partition0(%{{.*}}: !tt.ptr<i64>, %[[PHASE:.*]]: i32 {tt.divisibility = 16 : i32}, %{{.*}}: !tt.ptr<i64>) -> i64
// CHECK-SAME: tilewright.coroutine
// CHECK: scf.while
// CHECK: tt.assert {{.*}}, "waits forever
// CHECK: tt.call @tilewright_suspend() : () -> ()
// CHECK: %[[OWN:.*]] = tt.call @tilewright_handle() : () -> i64
// CHECK: tt.return %[[OWN]] : i64
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @exchange(%phase: i32 {tt.divisibility = 16 : i32}, %unused: i32) {
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttg.warp_specialize(%bar, %phase, %unused)
    default {
      ttng.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #shared, #smem, mutable>
      ttg.warp_yield
    }
    partition0(%b: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %p: i32, %u: i32) num_warps(1) {
      ttng.wait_barrier %b, %p : !ttg.memdesc<1xi64, #shared, #smem, mutable>
      ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
      ttg.warp_return
    } : (!ttg.memdesc<1xi64, #shared, #smem, mutable>, i32, i32) -> ()
    tt.return
  }
}
