#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0)[s0] -> (d0, s0 - 1)>
#map2 = affine_map<(d0)[s0] -> (d0 + 8, s0 floordiv 2)>
module {
  func.func @loops(%arg0: memref<?xf32>, %arg1: index, %arg2: index) {
    affine.for %arg3 = 0 to 16 {
      %0 = affine.load %arg0[%arg3] : memref<?xf32>
      affine.store %0, %arg0[%arg3 + 1] : memref<?xf32>
    }
    affine.for %arg3 = 3 to %arg1 step 4 {
      affine.for %arg4 = #map(%arg3) to 128 {
        %0 = affine.load %arg0[%arg4] : memref<?xf32>
        affine.store %0, %arg0[%arg3] : memref<?xf32>
      }
    }
    affine.for %arg3 = max #map1(%arg2)[%arg1] to min #map2(%arg2)[%arg1] {
      %0 = affine.load %arg0[%arg3] : memref<?xf32>
      affine.store %0, %arg0[0] : memref<?xf32>
    } {foo}
    return
  }
}

// -----
#map = affine_map<()[s0] -> (s0 + 1)>
#map1 = affine_map<()[s0] -> (s0 * 2)>
module {
  func.func @carried(%arg0: memref<?xf32>, %arg1: index, %arg2: f32) -> (f32, f32) {
    %0:2 = affine.for %arg3 = 0 to %arg1 iter_args(%arg4 = %arg2, %arg5 = %arg2) -> (f32, f32) {
      %2 = affine.load %arg0[%arg3] : memref<?xf32>
      %3 = arith.addf %arg4, %2 : f32
      affine.yield %3, %arg4 : f32, f32
    }
    %1 = affine.for %arg3 = #map()[%arg1] to #map1()[%arg1] step 2 iter_args(%arg4 = %arg2) -> (f32) {
      affine.yield %arg4 : f32
    }
    return %0#0, %1 : f32, f32
  }
}
