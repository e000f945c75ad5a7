// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @conditional_ptr_as_src(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
    %c2_i32 = arith.constant 2 : i32
    %c4_i32 = arith.constant 4 : i32
    %0 = arith.cmpi sgt, %arg3, %c4_i32 : i32
    %1 = scf.if %0 -> (!tt.ptr<f32>) {
      %8 = tt.addptr %arg0, %c2_i32 : !tt.ptr<f32>, i32
      scf.yield %8 : !tt.ptr<f32>
    } else {
      scf.yield %arg1 : !tt.ptr<f32>
    }
    %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %3 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %4 = tt.addptr %3, %2 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %5 = tt.splat %1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %6 = tt.addptr %5, %2 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %7 = tt.load %6 : tensor<16x!tt.ptr<f32>>
    tt.store %4, %7 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @conditional_ptr_as_src(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
//     %c4_i32 = arith.constant 4 : i32
//     %c0 = arith.constant 0 : index
//     %c2 = arith.constant 2 : index
//     %0 = tts.make_tptr %arg2 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %1 = arith.cmpi sgt, %arg3, %c4_i32 : i32
//     %2 = arith.select %1, %arg0, %arg1 : !tt.ptr<f32>
//     %3 = arith.select %1, %c2, %c0 : index
//     %4 = tts.make_tptr %2 to sizes: [16], strides: [1], offsets: [%3], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %5 = "tts.load"(%4) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>) -> tensor<16xf32>
//     "tts.store"(%0, %5) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//     tt.return
//   }
// }
