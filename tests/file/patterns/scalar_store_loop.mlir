// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @scalar_store_loop(%arg0: !tt.ptr<i32>, %arg1: i32) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = scf.for %arg2 = %c0_i32 to %arg1 step %c1_i32 iter_args(%arg3 = %arg0) -> (!tt.ptr<i32>)  : i32 {
      %1 = tt.addptr %arg3, %c1_i32 : !tt.ptr<i32>, i32
      tt.store %1, %arg2 : !tt.ptr<i32>
      scf.yield %1 : !tt.ptr<i32>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @scalar_store_loop(%arg0: !tt.ptr<i32>, %arg1: i32) attributes {noinline = false} {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %0 = scf.for %arg2 = %c0_i32 to %arg1 step %c1_i32 iter_args(%arg3 = %arg0) -> (!tt.ptr<i32>)  : i32 {
//       %1 = tt.addptr %arg3, %c1_i32 : !tt.ptr<i32>, i32
//       tt.store %1, %arg2 : !tt.ptr<i32>
//       scf.yield %1 : !tt.ptr<i32>
//     }
//     tt.return
//   }
// }
