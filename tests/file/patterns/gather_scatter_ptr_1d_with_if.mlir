// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_scatter_ptr_1d_with_if(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<2> : tensor<16xi32>
    %c5_i32 = arith.constant 5 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = arith.cmpi sgt, %arg2, %c5_i32 : i32
    %2 = scf.if %1 -> (tensor<16xi32>) {
      %8 = arith.divsi %0, %cst : tensor<16xi32>
      scf.yield %8 : tensor<16xi32>
    } else {
      %8 = arith.muli %0, %cst : tensor<16xi32>
      scf.yield %8 : tensor<16xi32>
    }
    %3 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %4 = tt.addptr %3, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %5 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %6 = tt.addptr %5, %2 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %7 = tt.load %6 : tensor<16x!tt.ptr<f32>>
    tt.store %4, %7 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_scatter_ptr_1d_with_if(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %c5_i32 = arith.constant 5 : i32
//     %cst = arith.constant dense<2> : tensor<16xi32>
//     %0 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %2 = arith.cmpi sgt, %arg2, %c5_i32 : i32
//     %3 = scf.if %2 -> (tensor<16xi32>) {
//       %6 = arith.divsi %1, %cst : tensor<16xi32>
//       scf.yield %6 : tensor<16xi32>
//     } else {
//       %6 = arith.muli %1, %cst : tensor<16xi32>
//       scf.yield %6 : tensor<16xi32>
//     }
//     %4 = tts.make_gather_scatter_tptr %arg0 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %3, strides: [1], offsets: [0] : tensor<16xi32> <f32> to !tt.ptr<tensor<16xf32>>
//     %5 = "tts.load"(%4) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<16xf32>>) -> tensor<16xf32>
//     "tts.store"(%0, %5) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//     tt.return
//   }
// }
