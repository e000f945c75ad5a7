// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_scalar_loopback(%arg0: !tt.ptr<f32>, %arg1: i32) attributes {noinline = false} {
    %cst = arith.constant 1.000000e+00 : f32
    %0 = tt.addptr %arg0, %arg1 : !tt.ptr<f32>, i32
    %1 = tt.load %0 : !tt.ptr<f32>
    %2 = arith.addf %1, %cst : f32
    tt.store %0, %2 : !tt.ptr<f32>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_scalar_loopback(%arg0: !tt.ptr<f32>, %arg1: i32) attributes {noinline = false} {
//     %cst = arith.constant 1.000000e+00 : f32
//     %0 = tt.addptr %arg0, %arg1 : !tt.ptr<f32>, i32
//     %1 = tt.load %0 : !tt.ptr<f32>
//     %2 = arith.addf %1, %cst : f32
//     tt.store %0, %2 : !tt.ptr<f32>
//     tt.return
//   }
// }
