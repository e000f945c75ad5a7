// RUN: tilewright-opt %s --forward-loads --linalg-to-loops="vector-bits=512" | filecheck %s

#id = affine_map<(d0) -> (d0)>

// Computing takes longer than the memory of the three arrays that pass by: vectors are whole.
// CHECK-LABEL: @computes
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: vector.store {{.*}} vector<16xf32>
func.func @computes(%x: memref<*xf32>, %y: memref<*xf32>, %o: memref<*xf32>, %s: f32, %t: f32, %nx: i32, %ny: i32, %nz: i32, %px: i32, %py: i32, %pz: i32) attributes {tilewright.noalias} {
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [1024], strides: [1] : memref<*xf32> to memref<1024xf32, strided<[1]>>
  %ry = memref.reinterpret_cast %y to offset: [0], sizes: [1024], strides: [1] : memref<*xf32> to memref<1024xf32, strided<[1]>>
  %a = bufferization.to_tensor %rx restrict : memref<1024xf32, strided<[1]>> to tensor<1024xf32>
  %b = bufferization.to_tensor %ry restrict : memref<1024xf32, strided<[1]>> to tensor<1024xf32>
  %e = tensor.empty() : tensor<1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b : tensor<1024xf32>, tensor<1024xf32>) outs(%e : tensor<1024xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %0 = math.exp %u : f32
    %1 = arith.addf %0, %v : f32
    linalg.yield %1 : f32
  } -> tensor<1024xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [1024], strides: [1] : memref<*xf32> to memref<1024xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<1024xf32>, memref<1024xf32, strided<[1]>>) -> ()
  return
}

// Of a few vectors, the loop takes longer.
// CHECK-LABEL: @short
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: vector.store {{.*}} vector<16xf32>
func.func @short(%x: memref<*xf32>, %y: memref<*xf32>, %o: memref<*xf32>, %s: f32, %t: f32, %nx: i32, %ny: i32, %nz: i32, %px: i32, %py: i32, %pz: i32) attributes {tilewright.noalias} {
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %ry = memref.reinterpret_cast %y to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %a = bufferization.to_tensor %rx restrict : memref<64xf32, strided<[1]>> to tensor<64xf32>
  %b = bufferization.to_tensor %ry restrict : memref<64xf32, strided<[1]>> to tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %0 = arith.mulf %u, %s : f32
    %1 = arith.mulf %v, %t : f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.mulf %2, %s : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  return
}
