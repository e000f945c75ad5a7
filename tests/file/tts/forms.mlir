// Every form of the dialect that triton-shared has.
// RUN: tilewright-opt %s --verify-each | exact %s

func.func @forms(%base: !tt.ptr<f32>, %far: !tt.ptr<f32, 2>, %ld: index, %row: index, %col: index, %n: index, %m: index, %rows: tensor<8xi32>, %keep: tensor<8xi1>, %d0: index, %oth: f32, %off: tensor<4xi32>, %om: tensor<4xi1>, %t: tensor<4xi32>, %i: i32) {
  %p0 = tts.make_tptr %base to sizes: [4, 8], strides: [%ld, 1], offsets: [%row, 0], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  %p1 = tts.make_tptr %base to sizes: [4, 8], strides: [%ld, 1], offsets: [%row, %col], shape: [0, %n], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
  %p2 = tts.make_tptr %base to sizes: [4, 8], strides: [%ld, %n], offsets: [%row, %col], shape: [%m, %n], order: [1, 0] : <f32> to !tt.ptr<tensor<4x8xf32>>
  %p3 = tts.make_tptr %far to sizes: [4], strides: [1], offsets: [0], shape: [0], order: [] : <f32, 2> to tensor<4x!tt.ptr<f32, 2>>
  %p4 = tts.make_gather_scatter_tptr %base to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %rows, strides: [%ld, 1], offsets: [0, 0] : tensor<8xi32> <f32> to !tt.ptr<tensor<8x16xf32>>
  %p5 = tts.make_gather_scatter_tptr %base to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %rows gather_scatter_mask: %keep, strides: [%ld, 1], offsets: [0, 0] : tensor<8xi32> tensor<8xi1> <f32> to !tt.ptr<tensor<8x16xf32>>
  %v = "tts.load"(%p0, %d0, %oth) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 8>}> : (tensor<4x8x!tt.ptr<f32>>, index, f32) -> tensor<4x8xf32>
  %u = "tts.load"(%p2) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<4x8xf32>>) -> tensor<4x8xf32>
  "tts.store"(%p0, %v) <{static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
  "tts.store"(%p1, %u, %d0) <{static_mask_dims = array<i64: -9223372036854775808, 4>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, index) -> ()
  %g = tts.gather %base[%off] mask = %om default = %oth : (<f32>, tensor<4xi32>) -> tensor<4xf32>
  %h = tts.gather %base[%off] : (<f32>, tensor<4xi32>) -> tensor<4xf32>
  %s = tts.gather %base[%i] : (<f32>, i32) -> f32
  tts.scatter %g into %base[%off] mask = %om : tensor<4xf32> into (<f32>, tensor<4xi32>)
  tts.scatter %s into %base[%i] : f32 into (<f32>, i32)
  %q, %o0, %s0 = "tts.get_structured_state"(%t) <{resultSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xi32>) -> (tensor<4xi32>, index, index)
  %r, %o1 = "tts.get_structured_state"(%base) <{resultSegmentSizes = array<i32: 1, 1, 0>}> : (!tt.ptr<f32>) -> (!tt.ptr<f32>, index)
  return
}

// EXACT:
// module {
//   func.func @forms(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32, 2>, %arg2: index, %arg3: index, %arg4: index, %arg5: index, %arg6: index, %arg7: tensor<8xi32>, %arg8: tensor<8xi1>, %arg9: index, %arg10: f32, %arg11: tensor<4xi32>, %arg12: tensor<4xi1>, %arg13: tensor<4xi32>, %arg14: i32) {
//     %0 = tts.make_tptr %arg0 to sizes: [4, 8], strides: [%arg2, 1], offsets: [%arg3, 0], shape: [0, 0], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
//     %1 = tts.make_tptr %arg0 to sizes: [4, 8], strides: [%arg2, 1], offsets: [%arg3, %arg4], shape: [0, %arg5], order: [] : <f32> to tensor<4x8x!tt.ptr<f32>>
//     %2 = tts.make_tptr %arg0 to sizes: [4, 8], strides: [%arg2, %arg5], offsets: [%arg3, %arg4], shape: [%arg6, %arg5], order: [1, 0] : <f32> to !tt.ptr<tensor<4x8xf32>>
//     %3 = tts.make_tptr %arg1 to sizes: [4], strides: [1], offsets: [0], shape: [0], order: [] : <f32, 2> to tensor<4x!tt.ptr<f32, 2>>
//     %4 = tts.make_gather_scatter_tptr %arg0 to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %arg7, strides: [%arg2, 1], offsets: [0, 0] : tensor<8xi32> <f32> to !tt.ptr<tensor<8x16xf32>>
//     %5 = tts.make_gather_scatter_tptr %arg0 to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %arg7 gather_scatter_mask: %arg8, strides: [%arg2, 1], offsets: [0, 0] : tensor<8xi32> tensor<8xi1> <f32> to !tt.ptr<tensor<8x16xf32>>
//     %6 = "tts.load"(%0, %arg9, %arg10) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808, 8>}> : (tensor<4x8x!tt.ptr<f32>>, index, f32) -> tensor<4x8xf32>
//     %7 = "tts.load"(%2) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<4x8xf32>>) -> tensor<4x8xf32>
//     "tts.store"(%0, %6) <{static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
//     "tts.store"(%1, %7, %arg9) <{static_mask_dims = array<i64: -9223372036854775808, 4>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, index) -> ()
//     %8 = tts.gather %arg0[%arg11] mask = %arg12 default = %arg10 : (<f32>, tensor<4xi32>) -> tensor<4xf32>
//     %9 = tts.gather %arg0[%arg11] : (<f32>, tensor<4xi32>) -> tensor<4xf32>
//     %10 = tts.gather %arg0[%arg14] : (<f32>, i32) -> f32
//     tts.scatter %8 into %arg0[%arg11] mask = %arg12 : tensor<4xf32> into (<f32>, tensor<4xi32>)
//     tts.scatter %10 into %arg0[%arg14] : f32 into (<f32>, i32)
//     %11:3 = "tts.get_structured_state"(%arg13) <{resultSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xi32>) -> (tensor<4xi32>, index, index)
//     %12:2 = "tts.get_structured_state"(%arg0) <{resultSegmentSizes = array<i32: 1, 1, 0>}> : (!tt.ptr<f32>) -> (!tt.ptr<f32>, index)
//     return
//   }
// }
