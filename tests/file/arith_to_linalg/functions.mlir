// RUN: tilewright-opt %s --triton-arith-to-linalg | filecheck %s
// RUN: tilewright-opt %s --triton-arith-to-linalg | mlir-opt --verify-each
// RUN: tilewright-opt %s --triton-arith-to-linalg="pids-to-func-args=false tt-to-func-func=false assert-to-cf=false" | filecheck %s --check-prefix=KEEP

// CHECK-LABEL: func.func @ids(%arg0: i32 {tt.divisibility = 16 : i32}, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32) -> (i32, i32)
// CHECK-SAME: attributes {tilewright.noalias}
// CHECK-NEXT: return %arg5, %arg3 : i32, i32
// KEEP-LABEL: tt.func public @ids
// KEEP: tt.get_program_id y : i32
tt.func public @ids(%n: i32 {tt.divisibility = 16 : i32}) -> (i32, i32) attributes {noinline = false, tilewright.noalias} {
  %p = tt.get_program_id y : i32
  %g = tt.get_num_programs z : i32
  tt.return %p, %g : i32, i32
}

// CHECK-LABEL: func.func private @helper(%arg0: f32, %arg1: i32,
// CHECK-SAME: attributes {no_inline}
// KEEP-LABEL: tt.func private @helper(%arg0: f32) -> f32
tt.func private @helper(%x: f32) -> f32 attributes {noinline = true} {
  tt.return %x : f32
}

// CHECK-LABEL: func.func @caller(%arg0: f32, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32)
// CHECK: call @helper(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6) : (f32, i32, i32, i32, i32, i32, i32) -> f32
// KEEP: tt.call @helper
tt.func public @caller(%x: f32) -> f32 {
  %r = tt.call @helper(%x) : (f32) -> f32
  tt.return %r : f32
}

// CHECK-LABEL: func.func @early
// CHECK: cf.cond_br %arg0, ^bb1, ^bb2
// CHECK-NEXT: ^bb1:
// CHECK-NEXT: return
// CHECK: ^bb2:
tt.func public @early(%c: i1, %d: tensor<4x8xi1>) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
// CHECK: cf.assert %arg0, "Assertion `scalar` failed"
// CHECK: linalg.generic {indexing_maps = [#map{{[0-9]*}}], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<4x8xi1>) {
// CHECK: cf.assert %in, "Assertion `lanes` failed"
// KEEP: tt.assert
  tt.assert %c, "scalar" : i1
  tt.assert %d, "lanes" : tensor<4x8xi1>
  tt.return
}

// CHECK-LABEL: func.func @prints
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<8xi32>)
// CHECK: %[[I:.*]] = linalg.index 0 : index
// CHECK: %[[V:.*]] = arith.extsi %in : i32 to i64
// CHECK: func.call @tilewright_print_0(%arg5, %arg6, %arg7, %[[I]], %[[V]]) : (i32, i32, i32, index, i64) -> ()
// CHECK: arith.extf %arg1 : f32 to f64
// CHECK: call @tilewright_print_1(%arg5, %arg6, %arg7, %{{.*}}) : (i32, i32, i32, f64) -> ()
// CHECK: call @tilewright_print_2(%arg5, %arg6, %arg7) : (i32, i32, i32) -> ()
// CHECK: func.func private @tilewright_print_0(i32, i32, i32, index, i64) attributes {tilewright.print = {bits = 32 : i64, hex = false, operand = 0 : i64, operands = 2 : i64, prefix = " x: ", signed = true, widths = [1]}}
// CHECK: func.func private @tilewright_print_1
// CHECK: func.func private @tilewright_print_2(i32, i32, i32) attributes {tilewright.print = {bits = 0 : i64, hex = false, operand = 0 : i64, operands = 0 : i64, prefix = "here", signed = false, widths = []}}
tt.func public @prints(%x: tensor<8xi32>, %y: f32) {
  tt.print " x: " {hex = false, isSigned = array<i32: 1, 0>} : %x, %y : tensor<8xi32>, f32
  tt.print "here" {hex = false, isSigned = array<i32>}
  tt.return
}
