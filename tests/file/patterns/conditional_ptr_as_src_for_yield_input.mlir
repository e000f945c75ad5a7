// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @conditional_ptr_as_src_for_yield_input(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<i32>, %arg3: !tt.ptr<f32>, %arg4: i32) attributes {noinline = false} {
    %cst = arith.constant dense<1> : tensor<16xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %c4_i32 = arith.constant 4 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = arith.cmpi sgt, %arg4, %c4_i32 : i32
    %2 = scf.if %1 -> (tensor<16x!tt.ptr<f32>>) {
      %4 = tt.splat %arg2 : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
      %5 = tt.addptr %4, %0 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
      %6 = tt.load %5 : tensor<16x!tt.ptr<i32>>
      %7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %8 = tt.addptr %7, %6 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      scf.yield %8 : tensor<16x!tt.ptr<f32>>
    } else {
      %4 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %5 = tt.addptr %4, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      scf.yield %5 : tensor<16x!tt.ptr<f32>>
    }
    %3 = scf.for %arg5 = %c0_i32 to %arg4 step %c1_i32 iter_args(%arg6 = %2) -> (tensor<16x!tt.ptr<f32>>)  : i32 {
      %4 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %5 = tt.addptr %4, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %6 = tt.load %arg6 : tensor<16x!tt.ptr<f32>>
      %7 = tt.load %5 : tensor<16x!tt.ptr<f32>>
      %8 = arith.addf %6, %7 : tensor<16xf32>
      tt.store %5, %8 : tensor<16x!tt.ptr<f32>>
      %9 = tt.addptr %arg6, %cst : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      scf.yield %9 : tensor<16x!tt.ptr<f32>>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @conditional_ptr_as_src_for_yield_input(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<i32>, %arg3: !tt.ptr<f32>, %arg4: i32) attributes {noinline = false} {
//     %c4_i32 = arith.constant 4 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %cst = arith.constant dense<1> : tensor<16xi32>
//     %0 = tts.make_tptr %arg2 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<16x!tt.ptr<i32>>
//     %1 = tts.make_tptr %arg3 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %3 = arith.cmpi sgt, %arg4, %c4_i32 : i32
//     %4 = scf.if %3 -> (tensor<16x!tt.ptr<f32>>) {
//       %6 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<i32>>) -> tensor<16xi32>
//       %7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
//       %8 = tt.addptr %7, %6 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
//       scf.yield %8 : tensor<16x!tt.ptr<f32>>
//     } else {
//       %6 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
//       %7 = tt.addptr %6, %2 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
//       scf.yield %7 : tensor<16x!tt.ptr<f32>>
//     }
//     %5 = scf.for %arg5 = %c0_i32 to %arg4 step %c1_i32 iter_args(%arg6 = %4) -> (tensor<16x!tt.ptr<f32>>)  : i32 {
//       %6 = tt.load %arg6 : tensor<16x!tt.ptr<f32>>
//       %7 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>) -> tensor<16xf32>
//       %8 = arith.addf %6, %7 : tensor<16xf32>
//       "tts.store"(%1, %8) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//       %9 = tt.addptr %arg6, %cst : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
//       scf.yield %9 : tensor<16x!tt.ptr<f32>>
//     }
//     tt.return
//   }
// }
