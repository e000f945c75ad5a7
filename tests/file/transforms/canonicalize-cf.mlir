// Branches and blocks.
// RUN: tilewright-opt %s --canonicalize --verify-each | exact %s

tt.func public @constant_condition(%p: !tt.ptr<i32>, %x: i32) {
  %true = arith.constant true
  cf.cond_br %true, ^bb1(%x : i32), ^bb2
^bb1(%a: i32):
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
^bb2:
  tt.return
}
tt.func public @same_target(%p: !tt.ptr<i32>, %c: i1, %x: i32, %y: i32) {
  cf.cond_br %c, ^bb1(%x : i32), ^bb1(%y : i32)
^bb1(%a: i32):
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
}
tt.func public @unreachable(%x: f32) -> f32 {
  tt.return %x : f32
^bb1:
  %0 = ub.poison : f32
  %1 = arith.addf %0, %x : f32
  cf.br ^bb2(%1 : f32)
^bb2(%a: f32):
  tt.return %a : f32
}
tt.func public @empty_blocks(%p: !tt.ptr<i32>, %c: i1, %x: i32) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb3(%x, %x : i32, i32)
^bb2:
  tt.store %p, %x : !tt.ptr<i32>
  cf.br ^bb3(%x, %x : i32, i32)
^bb3(%a: i32, %unused: i32):
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
}

// EXACT:
// module {
//   tt.func public @constant_condition(%arg0: !tt.ptr<i32>, %arg1: i32) {
//     tt.store %arg0, %arg1 : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @same_target(%arg0: !tt.ptr<i32>, %arg1: i1, %arg2: i32, %arg3: i32) {
//     %0 = arith.select %arg1, %arg2, %arg3 : i32
//     tt.store %arg0, %0 : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @unreachable(%arg0: f32) -> f32 {
//     tt.return %arg0 : f32
//   }
//   tt.func public @empty_blocks(%arg0: !tt.ptr<i32>, %arg1: i1, %arg2: i32) {
//     cf.cond_br %arg1, ^bb2, ^bb1
//   ^bb1:  // pred: ^bb0
//     tt.store %arg0, %arg2 : !tt.ptr<i32>
//     cf.br ^bb2
//   ^bb2:  // 2 preds: ^bb0, ^bb1
//     tt.store %arg0, %arg2 : !tt.ptr<i32>
//     tt.return
//   }
// }
