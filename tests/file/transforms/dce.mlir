// Dead ops, one after the other.
// RUN: tilewright-opt %s --dce --verify-each | exact %s

tt.func public @k(%p: !tt.ptr<i32>, %x: i32, %c: i1) {
  %0 = arith.addi %x, %x : i32
  %1 = arith.muli %0, %0 : i32
  %2 = tt.load %p : !tt.ptr<i32>
  %3 = scf.if %c -> (i32) {
    scf.yield %1 : i32
  } else {
    scf.yield %2 : i32
  }
  %4 = arith.subi %x, %x : i32
  tt.store %p, %4 : !tt.ptr<i32>
  tt.return
}

// EXACT:
// module {
//   tt.func public @k(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i1) {
//     %0 = arith.subi %arg1, %arg1 : i32
//     tt.store %arg0, %0 : !tt.ptr<i32>
//     tt.return
//   }
// }
