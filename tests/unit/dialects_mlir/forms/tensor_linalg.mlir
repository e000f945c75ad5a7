#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
module {
  func.func @f(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xbf16>, %arg2: tensor<4x16xf32>, %arg3: f32, %arg4: memref<4x8xf32>, %arg5: index, %arg6: tensor<4xf32>, %arg7: tensor<4xi32>, %arg8: tensor<8x4xf32>, %arg9: tensor<4x8xbf16>, %arg10: tensor<4x1xi32>, %arg11: tensor<?xf32>, %arg12: tensor<*xf32>, %arg13: tensor<2xi32>) -> tensor<4x16xf32> {
    %0 = linalg.matmul ins(%arg9, %arg1 : tensor<4x8xbf16>, tensor<8x16xbf16>) outs(%arg2 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %1 = linalg.fill {foo = 1 : i32} ins(%arg3 : f32) outs(%arg0 : tensor<4x8xf32>) -> tensor<4x8xf32>
    linalg.fill ins(%arg3 : f32) outs(%arg4 : memref<4x8xf32>)
    %reduced = linalg.reduce ins(%arg0 : tensor<4x8xf32>) outs(%arg6 : tensor<4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %5 = arith.addf %in, %init : f32
        linalg.yield %5 : f32
      }
    %reduced_0 = linalg.reduce { arith.addf } ins(%arg0 : tensor<4x8xf32>) outs(%arg6 : tensor<4xf32>) dimensions = [1] 
    %reduced_1:2 = linalg.reduce ins(%arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg6, %arg6 : tensor<4xf32>, tensor<4xf32>) dimensions = [1]  {foo}
      (%in: f32, %in_5: f32, %init: f32, %init_6: f32) {
        %5 = arith.addf %in, %init : f32
        linalg.yield %5, %5 : f32, f32
      }
    %transposed = linalg.transpose ins(%arg0 : tensor<4x8xf32>) outs(%arg8 : tensor<8x4xf32>) permutation = [1, 0] 
    %broadcasted = linalg.broadcast ins(%arg6 : tensor<4xf32>) outs(%arg0 : tensor<4x8xf32>) dimensions = [1]  {bar}
    %2:2 = linalg.generic {doc = "d", indexing_maps = [#map, #map1, #map, #map1], iterator_types = ["parallel", "reduction"], library_call = "x"} ins(%arg0, %arg6 : tensor<4x8xf32>, tensor<4xf32>) outs(%arg0, %arg6 : tensor<4x8xf32>, tensor<4xf32>) attrs =  {foo = 1 : i32} {
    ^bb0(%in: f32, %in_5: f32, %out: f32, %out_6: f32):
      %5 = linalg.index 1 : index
      linalg.yield %in, %in_5 : f32, f32
    } -> (tensor<4x8xf32>, tensor<4xf32>)
    linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<4x8xf32>) {
    ^bb0(%in: f32):
      linalg.yield
    }
    %mapped = linalg.map { arith.addf } ins(%arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg0 : tensor<4x8xf32>)
    %mapped_2 = linalg.map ins(%arg0 : tensor<4x8xf32>) outs(%arg0 : tensor<4x8xf32>)
      (%in: f32, %init: f32) {
        linalg.yield %in : f32
      }
    %3 = tensor.empty(%arg5) : tensor<?x4xf32>
    %expanded = tensor.expand_shape %arg6 [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
    %collapsed = tensor.collapse_shape %expanded [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
    %extracted = tensor.extract %arg0[%arg5, %arg5] : tensor<4x8xf32>
    %inserted = tensor.insert %arg3 into %arg0[%arg5, %arg5] : tensor<4x8xf32>
    %extracted_slice = tensor.extract_slice %arg0[%arg5, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %inserted_slice = tensor.insert_slice %extracted_slice into %arg0[%arg5, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    %padded = tensor.pad %arg0 low[0, %arg5] high[1, 2] {
    ^bb0(%arg14: index, %arg15: index):
      tensor.yield %arg3 : f32
    } : tensor<4x8xf32> to tensor<5x?xf32>
    %padded_3 = tensor.pad %arg0 nofold low[0, %arg5] high[1, 2] {
    ^bb0(%arg14: index, %arg15: index):
      tensor.yield %arg3 : f32
    } : tensor<4x8xf32> to tensor<5x?xf32>
    %concat = tensor.concat dim(1) %arg0, %arg0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    %reshape = tensor.reshape %arg0(%arg13) : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<8x4xf32>
    %generated = tensor.generate %arg5 {
    ^bb0(%arg14: index):
      tensor.yield %arg3 : f32
    } : tensor<?xf32>
    %from_elements = tensor.from_elements %arg3, %arg3 : tensor<2xf32>
    %splat = tensor.splat %arg3 : tensor<4xf32>
    %cast = tensor.cast %arg11 : tensor<?xf32> to tensor<4xf32>
    %dim = tensor.dim %arg11, %arg5 : tensor<?xf32>
    %rank = tensor.rank %arg12 : tensor<*xf32>
    %4 = tensor.bitcast %arg6 : tensor<4xf32> to tensor<4xi32>
    %splat_4 = tensor.splat %arg3[%arg5] : tensor<?x4xf32>
    return %0 : tensor<4x16xf32>
  }
}

// -----
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1, d0)>
module {
  func.func @more(%arg0: tensor<4x8xi8>, %arg1: tensor<8x16xi8>, %arg2: tensor<4x16xi32>, %arg3: tensor<2x4x8xf16>, %arg4: tensor<2x8x4xf16>, %arg5: tensor<2x4x4xf32>, %arg6: memref<4x8xf32>, %arg7: memref<8x4xf32>, %arg8: memref<4x4xf32>, %arg9: tensor<8xf32>, %arg10: memref<4xf32>, %arg11: index, %arg12: tensor<8xbf16>, %arg13: tensor<f32>, %arg14: tensor<8xi32>, %arg15: f16) -> tensor<8xf32> {
    %0 = linalg.matmul ins(%arg0, %arg1 : tensor<4x8xi8>, tensor<8x16xi8>) outs(%arg2 : tensor<4x16xi32>) -> tensor<4x16xi32>
    %1 = linalg.batch_matmul ins(%arg3, %arg4 : tensor<2x4x8xf16>, tensor<2x8x4xf16>) outs(%arg5 : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    linalg.matmul ins(%arg6, %arg7 : memref<4x8xf32>, memref<8x4xf32>) outs(%arg8 : memref<4x4xf32>)
    linalg.transpose ins(%arg6 : memref<4x8xf32>) outs(%arg7 : memref<8x4xf32>) permutation = [1, 0] 
    linalg.broadcast ins(%arg10 : memref<4xf32>) outs(%arg6 : memref<4x8xf32>) dimensions = [1] 
    %reduced = linalg.reduce ins(%arg12 : tensor<8xbf16>) outs(%arg13 : tensor<f32>) dimensions = [0] 
      (%in: bf16, %init: f32) {
        %4 = arith.extf %in : bf16 to f32
        %5 = arith.addf %4, %init : f32
        linalg.yield %5 : f32
      }
    linalg.reduce { arith.maximumf } ins(%arg6 : memref<4x8xf32>) outs(%arg10 : memref<4xf32>) dimensions = [1] 
    linalg.reduce { arith.addf {fastmath = #arith.fastmath<reassoc>} } ins(%arg6 : memref<4x8xf32>) outs(%arg10 : memref<4xf32>) dimensions = [1] 
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg14 : tensor<8xi32>) outs(%arg9 : tensor<8xf32>) {
    ^bb0(%in: i32, %out: f32):
      %4 = linalg.index 0 : index
      %5 = arith.index_cast %in : i32 to index
      %extracted_0 = tensor.extract %arg9[%5] : tensor<8xf32>
      linalg.yield %extracted_0 : f32
    } -> tensor<8xf32>
    linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg6 : memref<4x8xf32>) outs(%arg7 : memref<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    }
    %expanded = tensor.expand_shape %arg9 [[0, 1, 2]] output_shape [2, 1, 4] : tensor<8xf32> into tensor<2x1x4xf32>
    %collapsed = tensor.collapse_shape %arg13 [] : tensor<f32> into tensor<f32>
    %extracted = tensor.extract %arg13[] : tensor<f32>
    %extracted_slice = tensor.extract_slice %arg9[2] [%arg11] [2] : tensor<8xf32> to tensor<?xf32>
    %inserted_slice = tensor.insert_slice %extracted_slice into %arg9[%arg11] [%arg11] [1] : tensor<?xf32> into tensor<8xf32>
    %3 = tensor.empty() : tensor<8xf32>
    return %inserted_slice : tensor<8xf32>
  }
}
