// RUN: tilewright-opt %s --triton-arith-to-linalg --remarks 2>&1 | filecheck %s

// What has no lowering stays, and the remark says why.
// CHECK-DAG: remark: [triton-arith-to-linalg] 'tt.elementwise_inline_asm': inline assembly has no meaning outside of the target that it was written for
// CHECK-DAG: remark: [triton-arith-to-linalg] 'tt.extern_elementwise': no lowering is known for extern function 'my_filterf' (f32) -> f32
// CHECK-DAG: tt.elementwise_inline_asm
// CHECK-DAG: tt.extern_elementwise
tt.func public @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "my_filterf"} : (tensor<8xf32>) -> tensor<8xf32>
  %b = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %a : tensor<8xf32> -> tensor<8xf32>
  tt.return %b : tensor<8xf32>
}
