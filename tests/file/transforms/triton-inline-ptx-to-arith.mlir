// Inline PTX as ops: fields of registers, elements that share registers, and what stays.
// RUN: tilewright-opt %s --triton-inline-ptx-to-arith --verify-each | exact %s
// RUN: tilewright-opt %s --triton-inline-ptx-to-arith --remarks 2>&1 | filecheck %s
// RUN: not tilewright-opt %s --triton-inline-ptx-to-arith="insists=true" 2>&1 | filecheck %s --check-prefix=INSISTS

// CHECK-DAG: remark: [triton-inline-ptx-to-arith] 'tt.elementwise_inline_asm': 'shfl.sync.bfly.b32' is not an instruction that treats every lane by itself
// CHECK-DAG: remark: [triton-inline-ptx-to-arith] 'tt.elementwise_inline_asm': 'mov.u32' reads '%smid', which is not a register of the program
// INSISTS: PTX has a meaning on this target only where it treats every lane by itself: 'shfl.sync.bfly.b32' is not an instruction

// A mask and two shifts of one integer; the sum of fields is one `or`.
tt.func @fields(%a: tensor<64xi32>, %b: tensor<64xi32>) -> tensor<64xi32> {
  %r = tt.elementwise_inline_asm "{ .reg .b32 t; shl.b32 t, $1, 4; lop3.b32 $0, t, $2, 0xff00ff00, 0xec; }" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %a, %b : tensor<64xi32>, tensor<64xi32> -> tensor<64xi32>
  tt.return %r : tensor<64xi32>
}

// Four bytes as halves: each the same function of its own byte.
tt.func @alike(%a: tensor<64xi8>) -> tensor<64xf16> {
  %r = tt.elementwise_inline_asm "{ .reg .b32 r; prmt.b32 r, $2, 0x64646464, 0x5150; sub.f16x2 $0, r, 0x64006400; prmt.b32 r, $2, 0x64646464, 0x5352; sub.f16x2 $1, r, 0x64006400; }" {constraints = "=r,=r,r", packed_element = 4 : i32, pure = true} %a : tensor<64xi8> -> tensor<64xf16>
  tt.return %r : tensor<64xf16>
}

// Neighbours change places.
tt.func @swapped(%a: tensor<64xf16>) -> tensor<64xf16> {
  %r = tt.elementwise_inline_asm "prmt.b32 $0, $1, 0, 0x1032;" {constraints = "=r,r", packed_element = 2 : i32, pure = true} %a : tensor<64xf16> -> tensor<64xf16>
  tt.return %r : tensor<64xf16>
}

// A product and a sum that say how they round are not fused; one under a predicate is a choice.
tt.func @floats(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %r = tt.elementwise_inline_asm "{ .reg .pred p; setp.gt.f32 p, $1, $2; mul.rn.f32 $0, $1, $2; @p add.f32 $0, $0, $1; }" {constraints = "=&f,f,f", packed_element = 1 : i32, pure = true} %x, %y : tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>
  tt.return %r : tensor<64xf32>
}

// On scalars, with an address.
tt.func @scalars(%p: !tt.ptr<f32>, %n: i64) -> !tt.ptr<f32> {
  %r = tt.elementwise_inline_asm "mad.lo.s64 $0, $2, 4, $1;" {constraints = "=l,l,l", packed_element = 1 : i32, pure = true} %p, %n : !tt.ptr<f32>, i64 -> !tt.ptr<f32>
  tt.return %r : !tt.ptr<f32>
}

// Other lanes, and the machine.
tt.func @left(%a: tensor<64xi32>) -> (tensor<64xi32>, i32) {
  %r = tt.elementwise_inline_asm "shfl.sync.bfly.b32 $0, $1, 1, 31, -1;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %a : tensor<64xi32> -> tensor<64xi32>
  %s = tt.elementwise_inline_asm "mov.u32 $0, %smid;" {constraints = "=r", packed_element = 1 : i32, pure = true} -> i32
  tt.return %r, %s : tensor<64xi32>, i32
}

// EXACT:
// module {
//   tt.func @fields(%arg0: tensor<64xi32>, %arg1: tensor<64xi32>) -> tensor<64xi32> {
//     %cst = arith.constant dense<4> : tensor<64xi32>
//     %0 = arith.shli %arg0, %cst : tensor<64xi32>
//     %cst_0 = arith.constant dense<-16711936> : tensor<64xi32>
//     %1 = arith.andi %0, %cst_0 : tensor<64xi32>
//     %2 = arith.ori %arg1, %1 : tensor<64xi32>
//     tt.return %2 : tensor<64xi32>
//   }
//   tt.func @alike(%arg0: tensor<64xi8>) -> tensor<64xf16> {
//     %cst = arith.constant dense<25600> : tensor<64xi16>
//     %0 = arith.extui %arg0 : tensor<64xi8> to tensor<64xi16>
//     %1 = arith.ori %cst, %0 : tensor<64xi16>
//     %2 = tt.bitcast %1 : tensor<64xi16> -> tensor<64xf16>
//     %cst_0 = arith.constant dense<1.024000e+03> : tensor<64xf16>
//     %3 = arith.subf %2, %cst_0 : tensor<64xf16>
//     tt.return %3 : tensor<64xf16>
//   }
//   tt.func @swapped(%arg0: tensor<64xf16>) -> tensor<64xf16> {
//     %0 = tt.reshape %arg0 : tensor<64xf16> -> tensor<32x2xf16>
//     %outLHS, %outRHS = tt.split %0 : tensor<32x2xf16> -> tensor<32xf16>
//     %1 = tt.join %outRHS, %outLHS : tensor<32xf16> -> tensor<32x2xf16>
//     %2 = tt.reshape %1 : tensor<32x2xf16> -> tensor<64xf16>
//     tt.return %2 : tensor<64xf16>
//   }
//   tt.func @floats(%arg0: tensor<64xf32>, %arg1: tensor<64xf32>) -> tensor<64xf32> {
//     %0 = arith.cmpf ogt, %arg0, %arg1 : tensor<64xf32>
//     %cst = arith.constant dense<-0.000000e+00> : tensor<64xf32>
//     %1 = math.fma %arg0, %arg1, %cst : tensor<64xf32>
//     %2 = arith.addf %1, %arg0 : tensor<64xf32>
//     %3 = arith.select %0, %2, %1 : tensor<64xi1>, tensor<64xf32>
//     tt.return %3 : tensor<64xf32>
//   }
//   tt.func @scalars(%arg0: !tt.ptr<f32>, %arg1: i64) -> !tt.ptr<f32> {
//     %0 = tt.ptr_to_int %arg0 : !tt.ptr<f32> -> i64
//     %c4_i64 = arith.constant 4 : i64
//     %1 = arith.muli %arg1, %c4_i64 : i64
//     %2 = arith.addi %1, %0 : i64
//     %3 = tt.int_to_ptr %2 : i64 -> !tt.ptr<f32>
//     tt.return %3 : !tt.ptr<f32>
//   }
//   tt.func @left(%arg0: tensor<64xi32>) -> (tensor<64xi32>, i32) {
//     %0 = tt.elementwise_inline_asm "shfl.sync.bfly.b32 $0, $1, 1, 31, -1;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %arg0 : tensor<64xi32> -> tensor<64xi32>
//     %1 = tt.elementwise_inline_asm "mov.u32 $0, %smid;" {constraints = "=r", packed_element = 1 : i32, pure = true} -> i32
//     tt.return %0, %1 : tensor<64xi32>, i32
//   }
// }
