// Calls become bodies; noinline ones stay.
// RUN: tilewright-opt %s --inline --verify-each | exact %s

tt.func private @add(%arg0: f32, %arg1: f32) -> f32 attributes {noinline = false} {
  %0 = arith.addf %arg0, %arg1 : f32
  tt.return %0 : f32
^bb1:
  %1 = ub.poison : f32
  tt.return %1 : f32
}
tt.func private @early(%arg0: f32, %c: i1) -> f32 attributes {noinline = false} {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return %arg0 : f32
^bb2:
  %0 = arith.addf %arg0, %arg0 : f32
  tt.return %0 : f32
}
tt.func private @no(%arg0: f32) -> f32 attributes {noinline = true} {
  %0 = arith.mulf %arg0, %arg0 : f32
  tt.return %0 : f32
}
tt.func private @sum(%x: tensor<16xf32>) -> f32 attributes {noinline = false} {
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = tt.call @add(%a, %b) : (f32, f32) -> f32
    tt.reduce.return %s : f32
  }) : (tensor<16xf32>) -> f32
  tt.return %r : f32
}
tt.func public @k(%arg0: !tt.ptr<f32>, %x: tensor<16xf32>, %c: i1, %n: i32) {
  %0 = tt.call @sum(%x) : (tensor<16xf32>) -> f32
  %1 = tt.call @sum(%x) : (tensor<16xf32>) -> f32
  %2 = tt.call @early(%0, %c) : (f32, i1) -> f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %2) -> (f32) : i32 {
    %4 = tt.call @early(%a, %c) : (f32, i1) -> f32
    %5 = tt.call @no(%4) : (f32) -> f32
    scf.yield %5 : f32
  }
  tt.store %arg0, %3 : !tt.ptr<f32>
  tt.return
}

// EXACT:
// module {
//   tt.func private @no(%arg0: f32) -> f32 attributes {noinline = true} {
//     %0 = arith.mulf %arg0, %arg0 : f32
//     tt.return %0 : f32
//   }
//   tt.func public @k(%arg0: !tt.ptr<f32>, %arg1: tensor<16xf32>, %arg2: i1, %arg3: i32) {
//     %c1_i32 = arith.constant 1 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %0 = "tt.reduce"(%arg1) <{axis = 0 : i32}> ({
//     ^bb0(%arg4: f32, %arg5: f32):
//       %4 = arith.addf %arg4, %arg5 : f32
//       tt.reduce.return %4 : f32
//     }) : (tensor<16xf32>) -> f32
//     cf.cond_br %arg2, ^bb2(%0 : f32), ^bb1
//   ^bb1:  // pred: ^bb0
//     %1 = arith.addf %0, %0 : f32
//     cf.br ^bb2(%1 : f32)
//   ^bb2(%2: f32):  // 2 preds: ^bb0, ^bb1
//     %3 = scf.for %arg4 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg5 = %2) -> (f32)  : i32 {
//       %4 = scf.if %arg2 -> (f32) {
//         scf.yield %arg5 : f32
//       } else {
//         %6 = arith.addf %arg5, %arg5 : f32
//         scf.yield %6 : f32
//       }
//       %5 = tt.call @no(%4) : (f32) -> f32
//       scf.yield %5 : f32
//     }
//     tt.store %arg0, %3 : !tt.ptr<f32>
//     tt.return
//   }
// }
