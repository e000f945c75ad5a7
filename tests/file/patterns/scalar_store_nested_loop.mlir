// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @scalar_store_nested_loop(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i32) attributes {noinline = false} {
    %c2_i32 = arith.constant 2 : i32
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = scf.for %arg3 = %c0_i32 to %arg1 step %c1_i32 iter_args(%arg4 = %arg0) -> (!tt.ptr<i32>)  : i32 {
      %1 = scf.for %arg5 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg6 = %arg4) -> (!tt.ptr<i32>)  : i32 {
        %3 = arith.muli %arg3, %arg5 : i32
        tt.store %arg6, %3 : !tt.ptr<i32>
        %4 = tt.addptr %arg6, %c2_i32 : !tt.ptr<i32>, i32
        scf.yield %4 : !tt.ptr<i32>
      }
      %2 = tt.addptr %1, %c1_i32 : !tt.ptr<i32>, i32
      scf.yield %2 : !tt.ptr<i32>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @scalar_store_nested_loop(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i32) attributes {noinline = false} {
//     %c2_i32 = arith.constant 2 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %0 = scf.for %arg3 = %c0_i32 to %arg1 step %c1_i32 iter_args(%arg4 = %arg0) -> (!tt.ptr<i32>)  : i32 {
//       %1 = scf.for %arg5 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg6 = %arg4) -> (!tt.ptr<i32>)  : i32 {
//         %3 = arith.muli %arg3, %arg5 : i32
//         tt.store %arg6, %3 : !tt.ptr<i32>
//         %4 = tt.addptr %arg6, %c2_i32 : !tt.ptr<i32>, i32
//         scf.yield %4 : !tt.ptr<i32>
//       }
//       %2 = tt.addptr %1, %c1_i32 : !tt.ptr<i32>, i32
//       scf.yield %2 : !tt.ptr<i32>
//     }
//     tt.return
//   }
// }
