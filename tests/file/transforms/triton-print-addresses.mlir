// Prints of pointers become prints of integers; a print without a pointer stays.
// RUN: tilewright-opt %s --triton-print-addresses --verify-each | exact %s

tt.func public @k(%p: !tt.ptr<f32>, %n: i32, %t: tensor<4x!tt.ptr<f16>>) {
  tt.print " x: " {hex = false, isSigned = array<i32: 0, 1>} : %p, %n : !tt.ptr<f32>, i32
  tt.print " t: " {hex = false, isSigned = array<i32: 0>} : %t : tensor<4x!tt.ptr<f16>>
  tt.print " n: " {hex = false, isSigned = array<i32: 1>} : %n : i32
  tt.return
}

// EXACT:
// module {
//   tt.func public @k(%arg0: !tt.ptr<f32>, %arg1: i32, %arg2: tensor<4x!tt.ptr<f16>>) {
//     %0 = tt.ptr_to_int %arg0 : !tt.ptr<f32> -> i64
//     tt.print " x: (operand 0) " {hex = true, isSigned = array<i32: 0>} : %0 : i64
//     tt.print " x: (operand 1) " {hex = false, isSigned = array<i32: 1>} : %arg1 : i32
//     %1 = tt.ptr_to_int %arg2 : tensor<4x!tt.ptr<f16>> -> tensor<4xi64>
//     tt.print " t: " {hex = true, isSigned = array<i32: 0>} : %1 : tensor<4xi64>
//     tt.print " n: " {hex = false, isSigned = array<i32: 1>} : %arg1 : i32
//     tt.return
//   }
// }
