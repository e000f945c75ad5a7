module {
  func.func @exp(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.exp ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @log(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.log ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @abs(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.abs ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @ceil(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.ceil ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @floor(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.floor ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @negf(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.negf ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @reciprocal(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.reciprocal ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @round(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.round ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @sqrt(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.sqrt ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @rsqrt(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.rsqrt ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @square(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.square ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @tanh(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.tanh ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @erf(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.erf ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @add(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.add ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @sub(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.sub ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @mul(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.mul ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @div(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.div ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @max(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.max ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @min(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.min ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @powf(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.powf ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// -----
module {
  func.func @integers(%arg0: tensor<4xi32>, %arg1: tensor<4xi1>) -> (tensor<4xi32>, tensor<4xi1>) {
    %0 = linalg.div_unsigned ins(%arg0, %arg0 : tensor<4xi32>, tensor<4xi32>) outs(%arg0 : tensor<4xi32>) -> tensor<4xi32>
    %1 = linalg.max ins(%0, %arg0 : tensor<4xi32>, tensor<4xi32>) outs(%arg0 : tensor<4xi32>) -> tensor<4xi32>
    %2 = linalg.add ins(%arg1, %arg1 : tensor<4xi1>, tensor<4xi1>) outs(%arg1 : tensor<4xi1>) -> tensor<4xi1>
    return %1, %2 : tensor<4xi32>, tensor<4xi1>
  }
}
// -----
module {
  func.func @select(%arg0: tensor<4xi1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf16>) -> tensor<4xf16> {
    %0 = linalg.select ins(%arg0, %arg1, %arg1 : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) outs(%arg1 : tensor<4xf32>) -> tensor<4xf32>
    %1 = linalg.copy ins(%0 : tensor<4xf32>) outs(%arg2 : tensor<4xf16>) -> tensor<4xf16>
    return %1 : tensor<4xf16>
  }
}
// -----
#map = affine_map<(d0, d1) -> (d1, d0)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @elementwise(%arg0: tensor<8x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = linalg.elementwise kind=#linalg.elementwise_kind<add> indexing_maps = [#map, #map1, #map2] ins(%arg0, %arg1 : tensor<8x4xf32>, tensor<4xf32>) outs(%arg2 : tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%0 : tensor<4x8xf32>) outs(%arg2 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}
// -----
#map = affine_map<(d0, d1, d2) -> (d2, d0)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @transposed(%arg0: tensor<8x4xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = linalg.matmul indexing_maps = [#map, #map1, #map2] ins(%arg0, %arg1 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%arg2 : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
// -----
module {
  func.func @unsigned(%arg0: tensor<4x8xi8>, %arg1: tensor<8x4xi8>, %arg2: tensor<4x4xi32>) -> tensor<4x4xi32> {
    %0 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%arg0, %arg1 : tensor<4x8xi8>, tensor<8x4xi8>) outs(%arg2 : tensor<4x4xi32>) -> tensor<4x4xi32>
    return %0 : tensor<4x4xi32>
  }
}
// -----
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @batches(%arg0: tensor<2x4x8xf32>, %arg1: tensor<2x4x8xf32>, %arg2: tensor<2x8x4xf32>, %arg3: tensor<2x4x4xf32>, %arg4: tensor<4x4xf32>) -> (tensor<2x4x4xf32>, tensor<4x4xf32>) {
    %0 = linalg.batch_matmul indexing_maps = [#map, #map1, #map2] ins(%arg0, %arg1 : tensor<2x4x8xf32>, tensor<2x4x8xf32>) outs(%arg3 : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %1 = linalg.batch_reduce_matmul ins(%arg0, %arg2 : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%arg4 : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0, %1 : tensor<2x4x4xf32>, tensor<4x4xf32>
  }
}
// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @vectors(%arg0: tensor<4x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<f32>, %arg3: tensor<2x4x4xf32>, %arg4: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<f32>, tensor<2x4xf32>, tensor<4x4xf32>) {
    %0 = linalg.matvec ins(%arg0, %arg1 : tensor<4x4xf32>, tensor<4xf32>) outs(%arg1 : tensor<4xf32>) -> tensor<4xf32>
    %1 = linalg.vecmat ins(%0, %arg0 : tensor<4xf32>, tensor<4x4xf32>) outs(%arg1 : tensor<4xf32>) -> tensor<4xf32>
    %2 = linalg.dot ins(%0, %1 : tensor<4xf32>, tensor<4xf32>) outs(%arg2 : tensor<f32>) -> tensor<f32>
    %3 = linalg.batch_matvec ins(%arg3, %arg4 : tensor<2x4x4xf32>, tensor<2x4xf32>) outs(%arg4 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %4 = linalg.batch_vecmat ins(%3, %arg3 : tensor<2x4xf32>, tensor<2x4x4xf32>) outs(%arg4 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %5 = linalg.contract indexing_maps = [#map, #map1, #map2] ins(%arg0, %arg0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%arg0 : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %1, %2, %4, %5 : tensor<4xf32>, tensor<f32>, tensor<2x4xf32>, tensor<4x4xf32>
  }
}
// -----
module {
  func.func @blocks(%arg0: tensor<2x3x4x8xf32>, %arg1: tensor<5x3x6x8xf32>, %arg2: tensor<2x5x4x6xf32>, %arg3: tensor<7x2x3x4x8xf32>, %arg4: tensor<7x5x3x6x8xf32>, %arg5: tensor<7x2x5x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<7x2x5x4x6xf32>) {
    %0 = linalg.mmt4d ins(%arg0, %arg1 : tensor<2x3x4x8xf32>, tensor<5x3x6x8xf32>) outs(%arg2 : tensor<2x5x4x6xf32>) -> tensor<2x5x4x6xf32>
    %1 = linalg.batch_mmt4d ins(%arg3, %arg4 : tensor<7x2x3x4x8xf32>, tensor<7x5x3x6x8xf32>) outs(%arg5 : tensor<7x2x5x4x6xf32>) -> tensor<7x2x5x4x6xf32>
    return %0, %1 : tensor<2x5x4x6xf32>, tensor<7x2x5x4x6xf32>
  }
}
