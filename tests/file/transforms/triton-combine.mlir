// Merged ops.
// RUN: tilewright-opt %s --triton-combine --verify-each | exact %s

tt.func public @k(%arg0: !tt.ptr<f32>, %a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %c: tensor<32x32xf32>, %i: tensor<32xi64>, %j: tensor<32xi64>, %i2: tensor<32xi32>, %pp: tensor<32x!tt.ptr<f32>>, %cond: i1, %o: tensor<32xf32>, %x: tensor<32x32xf32>, %y: tensor<32x32xf32>, %sc: f32) -> (tensor<32x32xf32>, tensor<32x!tt.ptr<f32>>, tensor<32x!tt.ptr<f32>>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
  %z = arith.constant dense<0.0> : tensor<32x32xf32>
  %d = tt.dot %a, %b, %z : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %e = arith.addf %c, %d : tensor<32x32xf32>
  %p1 = tt.addptr %pp, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi64>
  %p2 = tt.addptr %p1, %j {tt.divisibility = dense<8> : tensor<1xi32>}: tensor<32x!tt.ptr<f32>>, tensor<32xi64>
  %p3 = tt.addptr %pp, %i2 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %p4 = tt.addptr %p3, %i2 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %m = tt.splat %cond : i1 -> tensor<32xi1>
  %l = tt.load %pp, %m, %o : tensor<32x!tt.ptr<f32>>
  %s = arith.select %cond, %l, %o : tensor<32xf32>
  %x1 = tt.expand_dims %x {axis = 2 : i32} : tensor<32x32xf32> -> tensor<32x32x1xf32>
  %y1 = tt.expand_dims %y {axis = 0 : i32} : tensor<32x32xf32> -> tensor<1x32x32xf32>
  %x2 = tt.broadcast %x1 : tensor<32x32x1xf32> -> tensor<32x32x32xf32>
  %y2 = tt.broadcast %y1 : tensor<1x32x32xf32> -> tensor<32x32x32xf32>
  %xy = arith.mulf %x2, %y2 : tensor<32x32x32xf32>
  %r = "tt.reduce"(%xy) <{axis = 1 : i32}> ({
  ^bb0(%q: f32, %w: f32):
    %s1 = arith.addf %q, %w : f32
    tt.reduce.return %s1 : f32
  }) : (tensor<32x32x32xf32>) -> tensor<32x32xf32>
  %sp = tt.splat %sc : f32 -> tensor<32x32xf32>
  %cst = arith.constant dense<2.0> : tensor<32x32xf32>
  %k1 = arith.mulf %sp, %cst : tensor<32x32xf32>
  %v1 = tt.expand_dims %o {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
  %v2 = tt.broadcast %v1 : tensor<32x1xf32> -> tensor<32x32xf32>
  %k2 = arith.addf %v2, %cst : tensor<32x32xf32>
  tt.return %e, %p2, %p4, %s, %r, %k1, %k2: tensor<32x32xf32>, tensor<32x!tt.ptr<f32>>, tensor<32x!tt.ptr<f32>>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}
tt.func public @masked_select(%p: tensor<32x!tt.ptr<f32>>, %m: tensor<32xi1>, %n: tensor<32xi1>, %o: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
  %0 = tt.load %p, %m {isVolatile = true} : tensor<32x!tt.ptr<f32>>
  tt.store %p, %o : tensor<32x!tt.ptr<f32>>
  %1 = arith.select %m, %0, %o : tensor<32xi1>, tensor<32xf32>
  // Another mask, and a value used twice: stay.
  %2 = tt.load %p, %m : tensor<32x!tt.ptr<f32>>
  %3 = arith.select %n, %2, %o : tensor<32xi1>, tensor<32xf32>
  %4 = tt.load %p, %m : tensor<32x!tt.ptr<f32>>
  %5 = arith.select %m, %4, %o : tensor<32xi1>, tensor<32xf32>
  %6 = arith.addf %4, %5 : tensor<32xf32>
  tt.return %1, %3, %6 : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
}
tt.func public @imprecise_dot(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>, %x: tensor<16x16xi8>, %i: tensor<16x16xi32>) -> (tensor<16x16xf32>, tensor<16x16xi32>, tensor<16x16xf32>) {
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %0 = tt.dot %a, %a, %z {maxNumImpreciseAcc = 32 : i32} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %1 = arith.addf %0, %c : tensor<16x16xf32>
  %zi = arith.constant dense<0> : tensor<16x16xi32>
  %2 = tt.dot %x, %x, %zi : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xi32>
  %3 = arith.addi %2, %i : tensor<16x16xi32>
  // Not zero to begin with: stays.
  %4 = tt.dot %a, %a, %c : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %5 = arith.addf %4, %c : tensor<16x16xf32>
  tt.return %1, %3, %5 : tensor<16x16xf32>, tensor<16x16xi32>, tensor<16x16xf32>
}
tt.func public @offsets(%p: !tt.ptr<f32>) -> (!tt.ptr<f32>, !tt.ptr<f32>) {
  %c7 = arith.constant 7 : i32
  %max = arith.constant 2147483647 : i32
  %0 = tt.addptr %p, %c7 : !tt.ptr<f32>, i32
  %1 = tt.addptr %0, %c7 : !tt.ptr<f32>, i32
  // The sum does not fit in 32 bits: stays.
  %2 = tt.addptr %0, %max : !tt.ptr<f32>, i32
  tt.return %1, %2 : !tt.ptr<f32>, !tt.ptr<f32>
}

// EXACT:
// module {
//   tt.func public @k(%arg0: !tt.ptr<f32>, %arg1: tensor<32x32xf16>, %arg2: tensor<32x32xf16>, %arg3: tensor<32x32xf32>, %arg4: tensor<32xi64>, %arg5: tensor<32xi64>, %arg6: tensor<32xi32>, %arg7: tensor<32x!tt.ptr<f32>>, %arg8: i1, %arg9: tensor<32xf32>, %arg10: tensor<32x32xf32>, %arg11: tensor<32x32xf32>, %arg12: f32) -> (tensor<32x32xf32>, tensor<32x!tt.ptr<f32>>, tensor<32x!tt.ptr<f32>>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
//     %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
//     %cst_0 = arith.constant dense<2.000000e+00> : tensor<32x32xf32>
//     %0 = tt.dot %arg1, %arg2, %arg3 : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
//     %1 = arith.addi %arg4, %arg5 : tensor<32xi64>
//     %2 = tt.addptr %arg7, %1 {tt.divisibility = dense<8> : tensor<1xi32>} : tensor<32x!tt.ptr<f32>>, tensor<32xi64>
//     %3 = tt.addptr %arg7, %arg6 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
//     %4 = tt.addptr %3, %arg6 : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
//     %5 = tt.splat %arg8 : i1 -> tensor<32xi1>
//     %6 = tt.load %arg7, %5, %arg9 : tensor<32x!tt.ptr<f32>>
//     %7 = tt.dot %arg10, %arg11, %cst, inputPrecision = tf32 : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
//     %8 = tt.splat %arg12 : f32 -> tensor<32x32xf32>
//     %9 = arith.mulf %8, %cst_0 : tensor<32x32xf32>
//     %10 = tt.expand_dims %arg9 {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
//     %11 = tt.broadcast %10 : tensor<32x1xf32> -> tensor<32x32xf32>
//     %12 = arith.addf %11, %cst_0 : tensor<32x32xf32>
//     tt.return %0, %2, %4, %6, %7, %9, %12 : tensor<32x32xf32>, tensor<32x!tt.ptr<f32>>, tensor<32x!tt.ptr<f32>>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
//   }
//   tt.func public @masked_select(%arg0: tensor<32x!tt.ptr<f32>>, %arg1: tensor<32xi1>, %arg2: tensor<32xi1>, %arg3: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
//     %0 = tt.load %arg0, %arg1, %arg3 {isVolatile = true} : tensor<32x!tt.ptr<f32>>
//     tt.store %arg0, %arg3 : tensor<32x!tt.ptr<f32>>
//     %1 = tt.load %arg0, %arg1 : tensor<32x!tt.ptr<f32>>
//     %2 = arith.select %arg2, %1, %arg3 : tensor<32xi1>, tensor<32xf32>
//     %3 = tt.load %arg0, %arg1 : tensor<32x!tt.ptr<f32>>
//     %4 = arith.select %arg1, %3, %arg3 : tensor<32xi1>, tensor<32xf32>
//     %5 = arith.addf %3, %4 : tensor<32xf32>
//     tt.return %0, %2, %5 : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
//   }
//   tt.func public @imprecise_dot(%arg0: tensor<16x16xf16>, %arg1: tensor<16x16xf32>, %arg2: tensor<16x16xi8>, %arg3: tensor<16x16xi32>) -> (tensor<16x16xf32>, tensor<16x16xi32>, tensor<16x16xf32>) {
//     %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
//     %0 = tt.dot %arg0, %arg0, %cst {maxNumImpreciseAcc = 32 : i32} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
//     %1 = arith.addf %0, %arg1 : tensor<16x16xf32>
//     %2 = tt.dot %arg2, %arg2, %arg3 : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xi32>
//     %3 = tt.dot %arg0, %arg0, %arg1 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
//     %4 = arith.addf %3, %arg1 : tensor<16x16xf32>
//     tt.return %1, %2, %4 : tensor<16x16xf32>, tensor<16x16xi32>, tensor<16x16xf32>
//   }
//   tt.func public @offsets(%arg0: !tt.ptr<f32>) -> (!tt.ptr<f32>, !tt.ptr<f32>) {
//     %c14_i32 = arith.constant 14 : i32
//     %c7_i32 = arith.constant 7 : i32
//     %c2147483647_i32 = arith.constant 2147483647 : i32
//     %0 = tt.addptr %arg0, %c7_i32 : !tt.ptr<f32>, i32
//     %1 = tt.addptr %arg0, %c14_i32 : !tt.ptr<f32>, i32
//     %2 = tt.addptr %0, %c2147483647_i32 : !tt.ptr<f32>, i32
//     tt.return %1, %2 : !tt.ptr<f32>, !tt.ptr<f32>
//   }
// }
