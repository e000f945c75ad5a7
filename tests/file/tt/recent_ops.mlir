// The ops that the dialect has got since Triton 3.6, as Triton 3.9 prints them.
// RUN: tilewright-opt %s --verify-each | exact %s

module {
  tt.func public @k(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: tensor<16x!tt.ptr<f16>>, %arg3: tensor<16xi1>, %arg4: tensor<16x!tt.ptr<i64>>, %arg5: tensor<16xi64>, %arg6: i64, %arg7: f32) {
    %0 = tt.atomic_load acquire, gpu, %arg0 : (!tt.ptr<i32>) -> i32
    %1 = tt.atomic_load relaxed, sys, %arg2, %arg3 : (tensor<16x!tt.ptr<f16>>, tensor<16xi1>) -> tensor<16xf16>
    tt.atomic_store release, cta, %arg0, %0 : !tt.ptr<i32>
    tt.atomic_store relaxed, gpu, %arg2, %1, %arg3 : tensor<16x!tt.ptr<f16>>
    %2 = tt.atomic_poll acquire, gpu, %arg0, %arg1 : !tt.ptr<i32>, i32 -> i1
    %3 = tt.atomic_poll relaxed, sys, %arg4, %arg5 timeout %arg6 : tensor<16x!tt.ptr<i64>>, tensor<16xi64> -> tensor<16xi1>
    %4 = tt.approx_divf %arg7, %arg7 : f32
    tt.grid_dependency_wait
    tt.grid_dependency_launch_dependents
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @k(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: tensor<16x!tt.ptr<f16>>, %arg3: tensor<16xi1>, %arg4: tensor<16x!tt.ptr<i64>>, %arg5: tensor<16xi64>, %arg6: i64, %arg7: f32) {
//     %0 = tt.atomic_load acquire, gpu, %arg0 : (!tt.ptr<i32>) -> i32
//     %1 = tt.atomic_load relaxed, sys, %arg2, %arg3 : (tensor<16x!tt.ptr<f16>>, tensor<16xi1>) -> tensor<16xf16>
//     tt.atomic_store release, cta, %arg0, %0 : !tt.ptr<i32>
//     tt.atomic_store relaxed, gpu, %arg2, %1, %arg3 : tensor<16x!tt.ptr<f16>>
//     %2 = tt.atomic_poll acquire, gpu, %arg0, %arg1 : !tt.ptr<i32>, i32 -> i1
//     %3 = tt.atomic_poll relaxed, sys, %arg4, %arg5 timeout %arg6 : tensor<16x!tt.ptr<i64>>, tensor<16xi64> -> tensor<16xi1>
//     %4 = tt.approx_divf %arg7, %arg7 : f32
//     tt.grid_dependency_wait
//     tt.grid_dependency_launch_dependents
//     tt.return
//   }
// }
