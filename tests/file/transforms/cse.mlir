// Common subexpressions.
// RUN: tilewright-opt %s --cse --verify-each | exact %s

tt.func public @pure(%x: i32, %y: i32) -> (i32, i32, i32) {
  %0 = arith.addi %x, %y : i32
  %1 = arith.addi %y, %x : i32
  %2 = arith.subi %x, %y : i32
  %3 = arith.subi %y, %x : i32
  %4 = arith.addi %x, %y {tt.divisibility = 4 : i32} : i32
  %dead = arith.muli %0, %1 : i32
  %5 = arith.muli %2, %3 : i32
  tt.return %0, %5, %4 : i32, i32, i32
}
tt.func public @loads(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) -> (f32, f32, f32, f32) {
  %0 = tt.load %p : !tt.ptr<f32>
  %1 = tt.load %p : !tt.ptr<f32>
  tt.store %q, %0 : !tt.ptr<f32>
  // The store may have changed it.
  %2 = tt.load %p : !tt.ptr<f32>
  %3 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  %4 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  %5 = arith.addf %3, %4 : f32
  tt.return %0, %1, %2, %5 : f32, f32, f32, f32
}
tt.func public @scopes(%c: i1, %x: i32, %p: !tt.ptr<i32>) {
  %0 = arith.addi %x, %x : i32
  scf.if %c {
    %1 = arith.addi %x, %x : i32
    %2 = arith.muli %x, %x : i32
    %3 = arith.addi %1, %2 : i32
    tt.store %p, %3 : !tt.ptr<i32>
  } else {
    // Not dominated by the other branch.
    %2 = arith.muli %x, %x : i32
    tt.store %p, %2 : !tt.ptr<i32>
  }
  tt.store %p, %0 : !tt.ptr<i32>
  tt.return
}
tt.func public @blocks(%c: i1, %x: i32, %p: !tt.ptr<i32>) {
  %0 = arith.addi %x, %x : i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %1 = arith.addi %x, %x : i32
  %2 = arith.muli %x, %x : i32
  %3 = arith.addi %1, %2 : i32
  tt.store %p, %3 : !tt.ptr<i32>
  cf.br ^bb3
^bb2:
  %4 = arith.muli %x, %x : i32
  tt.store %p, %4 : !tt.ptr<i32>
  cf.br ^bb3
^bb3:
  %5 = arith.muli %x, %x : i32
  %6 = arith.addi %5, %0 : i32
  tt.store %p, %6 : !tt.ptr<i32>
  tt.return
}
tt.func public @regions(%x: tensor<16xf32>) -> (f32, f32, f32) {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<16xf32>) -> f32
  %1 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<16xf32>) -> f32
  %2 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<16xf32>) -> f32
  tt.return %0, %1, %2 : f32, f32, f32
}

// EXACT:
// module {
//   tt.func public @pure(%arg0: i32, %arg1: i32) -> (i32, i32, i32) {
//     %0 = arith.addi %arg0, %arg1 : i32
//     %1 = arith.subi %arg0, %arg1 : i32
//     %2 = arith.subi %arg1, %arg0 : i32
//     %3 = arith.addi %arg0, %arg1 {tt.divisibility = 4 : i32} : i32
//     %4 = arith.muli %1, %2 : i32
//     tt.return %0, %4, %3 : i32, i32, i32
//   }
//   tt.func public @loads(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) -> (f32, f32, f32, f32) {
//     %0 = tt.load %arg0 : !tt.ptr<f32>
//     tt.store %arg1, %0 : !tt.ptr<f32>
//     %1 = tt.load %arg0 : !tt.ptr<f32>
//     %2 = tt.load %arg0 {isVolatile = true} : !tt.ptr<f32>
//     %3 = tt.load %arg0 {isVolatile = true} : !tt.ptr<f32>
//     %4 = arith.addf %2, %3 : f32
//     tt.return %0, %0, %1, %4 : f32, f32, f32, f32
//   }
//   tt.func public @scopes(%arg0: i1, %arg1: i32, %arg2: !tt.ptr<i32>) {
//     %0 = arith.addi %arg1, %arg1 : i32
//     scf.if %arg0 {
//       %1 = arith.muli %arg1, %arg1 : i32
//       %2 = arith.addi %0, %1 : i32
//       tt.store %arg2, %2 : !tt.ptr<i32>
//     } else {
//       %1 = arith.muli %arg1, %arg1 : i32
//       tt.store %arg2, %1 : !tt.ptr<i32>
//     }
//     tt.store %arg2, %0 : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @blocks(%arg0: i1, %arg1: i32, %arg2: !tt.ptr<i32>) {
//     %0 = arith.addi %arg1, %arg1 : i32
//     cf.cond_br %arg0, ^bb1, ^bb2
//   ^bb1:  // pred: ^bb0
//     %1 = arith.muli %arg1, %arg1 : i32
//     %2 = arith.addi %0, %1 : i32
//     tt.store %arg2, %2 : !tt.ptr<i32>
//     cf.br ^bb3
//   ^bb2:  // pred: ^bb0
//     %3 = arith.muli %arg1, %arg1 : i32
//     tt.store %arg2, %3 : !tt.ptr<i32>
//     cf.br ^bb3
//   ^bb3:  // 2 preds: ^bb1, ^bb2
//     %4 = arith.muli %arg1, %arg1 : i32
//     %5 = arith.addi %4, %0 : i32
//     tt.store %arg2, %5 : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @regions(%arg0: tensor<16xf32>) -> (f32, f32, f32) {
//     %0 = "tt.reduce"(%arg0) <{axis = 0 : i32}> ({
//     ^bb0(%arg1: f32, %arg2: f32):
//       %2 = arith.addf %arg1, %arg2 : f32
//       tt.reduce.return %2 : f32
//     }) : (tensor<16xf32>) -> f32
//     %1 = "tt.reduce"(%arg0) <{axis = 0 : i32}> ({
//     ^bb0(%arg1: f32, %arg2: f32):
//       %2 = arith.mulf %arg1, %arg2 : f32
//       tt.reduce.return %2 : f32
//     }) : (tensor<16xf32>) -> f32
//     tt.return %0, %0, %1 : f32, f32, f32
//   }
// }
