#map = affine_map<(d0, d1) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0 * 4 + d1 + 1)>
#map2 = affine_map<(d0)[s0] -> (d0 + s0, d0 floordiv 4, d0 mod 3)>
module {
  func.func @f(%arg0: memref<?xf32>, %arg1: memref<8x16xf32>, %arg2: index, %arg3: vector<8xf32>, %arg4: vector<8xi1>, %arg5: vector<8xi32>, %arg6: f32, %arg7: vector<4x8xf32>, %arg8: vector<4xf32>, %arg9: vector<8xi32>, %arg10: tensor<8xf32>, %arg11: vector<4x4xf32>) {
    %0 = vector.load %arg0[%arg2] : memref<?xf32>, vector<8xf32>
    %1 = vector.load %arg0[%arg2] {alignment = 64 : i64, nontemporal = true} : memref<?xf32>, vector<8xf32>
    vector.store %arg3, %arg0[%arg2] : memref<?xf32>, vector<8xf32>
    %2 = vector.maskedload %arg0[%arg2], %arg4, %arg3 : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.maskedstore %arg0[%arg2], %arg4, %arg3 : memref<?xf32>, vector<8xi1>, vector<8xf32>
    vector.maskedstore %arg0[%arg2], %arg4, %arg3 {alignment = 8 : i64} : memref<?xf32>, vector<8xi1>, vector<8xf32>
    %3 = vector.gather %arg0[%arg2] [%arg5], %arg4, %arg3 : memref<?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.scatter %arg0[%arg2] [%arg5], %arg4, %arg3 : memref<?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
    %4 = vector.broadcast %arg6 : f32 to vector<8xf32>
    %5 = vector.reduction <add>, %arg3 : vector<8xf32> into f32
    %6 = vector.reduction <maximumf>, %arg3, %arg6 fastmath<reassoc> : vector<8xf32> into f32
    %7 = vector.multi_reduction <add>, %arg7, %arg8 [1] : vector<4x8xf32> to vector<4xf32>
    %8 = vector.shuffle %arg3, %arg3 [0, 2, 4, 6] : vector<8xf32>, vector<8xf32>
    %9 = vector.extract %arg3[0] : f32 from vector<8xf32>
    %10 = vector.extract %arg7[%arg2, 3] : f32 from vector<4x8xf32>
    %11 = vector.extract %arg7[1] : vector<8xf32> from vector<4x8xf32>
    %12 = vector.insert %arg6, %arg3 [3] : f32 into vector<8xf32>
    %13 = vector.insert %arg6, %arg3 [%arg2] : f32 into vector<8xf32>
    %14 = vector.extract_strided_slice %arg3 {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
    %15 = vector.insert_strided_slice %arg8, %arg3 {offsets = [2], strides = [1]} : vector<4xf32> into vector<8xf32>
    %16 = vector.fma %arg3, %arg3, %arg3 : vector<8xf32>
    %17 = vector.create_mask %arg2 : vector<8xi1>
    %18 = vector.constant_mask [4] : vector<8xi1>
    %19 = vector.step : vector<8xindex>
    %20 = vector.shape_cast %arg7 : vector<4x8xf32> to vector<32xf32>
    %21 = vector.bitcast %arg3 : vector<8xf32> to vector<8xi32>
    %22 = vector.transpose %arg7, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
    %23 = vector.interleave %arg3, %arg3 : vector<8xf32> -> vector<16xf32>
    %res1, %res2 = vector.deinterleave %arg3 : vector<8xf32> -> vector<4xf32>
    vector.print %arg3 : vector<8xf32>
    %dest, %accumulated_value = vector.scan <add>, %arg7, %arg8 {inclusive = true, reduction_dim = 1 : i64} : vector<4x8xf32>, vector<4xf32>
    %24 = vector.from_elements %arg6, %arg6 : vector<2xf32>
    %25:2 = vector.to_elements %24 : vector<2xf32>
    %26 = vector.transfer_read %arg0[%arg2], %arg6 : memref<?xf32>, vector<8xf32>
    %27 = vector.transfer_read %arg1[%arg2, %arg2], %arg6, %arg4 {in_bounds = [true]} : memref<8x16xf32>, vector<8xf32>
    vector.transfer_write %arg3, %arg0[%arg2] {in_bounds = [true]} : vector<8xf32>, memref<?xf32>
    vector.transfer_write %arg3, %arg1[%arg2, %arg2] {permutation_map = #map} : vector<8xf32>, memref<8x16xf32>
    %28 = vector.outerproduct %arg8, %arg3, %arg7 {kind = #vector.kind<add>} : vector<4xf32>, vector<8xf32>
    %29 = vector.outerproduct %arg8, %arg6 : vector<4xf32>, f32
    vector.compressstore %arg0[%arg2], %arg4, %arg3 : memref<?xf32>, vector<8xi1>, vector<8xf32>
    %30 = vector.expandload %arg0[%arg2], %arg4, %arg3 : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %31 = affine.load %arg0[%arg2 * 4 + 1] : memref<?xf32>
    affine.store %arg6, %arg1[%arg2, %arg2 + 2] : memref<8x16xf32>
    %32 = affine.apply #map1(%arg2, %arg2)
    %33 = affine.min #map2(%arg2)[%arg2]
    %34 = affine.max #map2(%arg2)[%arg2]
    %35 = affine.load %arg0[0] : memref<?xf32>
    %36 = affine.load %arg0[symbol(%arg2) + 3] {foo} : memref<?xf32>
    return
  }
}
