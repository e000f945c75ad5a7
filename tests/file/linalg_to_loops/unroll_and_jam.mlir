// RUN: tilewright-opt %s --linalg-to-loops="vector-bits=256" | filecheck %s

// Four rows of x share each row of w, which is loaded and widened once; sixteen go by fours.
// CHECK-LABEL: @rows_share_weights
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c4 {
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: arith.sitofp %{{.*}} : vector<8xi8> to vector<8xf32>
// CHECK-NOT: arith.sitofp
// CHECK-COUNT-4: arith.addf
// CHECK: scf.yield
// CHECK-COUNT-4: vector.store
// CHECK: return
func.func @rows_share_weights(%x: memref<*xf32>, %w: memref<*xi8>, %o: memref<*xf32>) {
  %zero = arith.constant 0.0 : f32
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [16, 64], strides: [64, 1] : memref<*xf32> to memref<16x64xf32, strided<[64, 1]>>
  %ax = memref.alloc() : memref<16x64xf32>
  memref.copy %rx, %ax : memref<16x64xf32, strided<[64, 1]>> to memref<16x64xf32>
  %tx = bufferization.to_tensor %ax restrict writable : memref<16x64xf32> to tensor<16x64xf32>
  %rw = memref.reinterpret_cast %w to offset: [0], sizes: [64, 8], strides: [8, 1] : memref<*xi8> to memref<64x8xi8, strided<[8, 1]>>
  %aw = memref.alloc() : memref<64x8xi8>
  memref.copy %rw, %aw : memref<64x8xi8, strided<[8, 1]>> to memref<64x8xi8>
  %tw = bufferization.to_tensor %aw restrict writable : memref<64x8xi8> to tensor<64x8xi8>
  %e = tensor.empty() : tensor<16x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x8xf32>) -> tensor<16x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%tx, %tw : tensor<16x64xf32>, tensor<64x8xi8>) outs(%f : tensor<16x8xf32>) {
  ^bb0(%a: f32, %b: i8, %acc: f32):
    %c = arith.sitofp %b : i8 to f32
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<16x8xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [16, 8], strides: [8, 1] : memref<*xf32> to memref<16x8xf32, strided<[8, 1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<16x8xf32>, memref<16x8xf32, strided<[8, 1]>>) -> ()
  return
}

// What is summed depends on every dimension: there is nothing to share.
// CHECK-LABEL: @nothing_to_share
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1 {
// CHECK: return
func.func @nothing_to_share(%x: memref<*xf32>, %o: memref<*xf32>) {
  %zero = arith.constant 0.0 : f32
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [16, 64, 8], strides: [512, 8, 1] : memref<*xf32> to memref<16x64x8xf32, strided<[512, 8, 1]>>
  %ax = memref.alloc() : memref<16x64x8xf32>
  memref.copy %rx, %ax : memref<16x64x8xf32, strided<[512, 8, 1]>> to memref<16x64x8xf32>
  %tx = bufferization.to_tensor %ax restrict writable : memref<16x64x8xf32> to tensor<16x64x8xf32>
  %e = tensor.empty() : tensor<16x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x8xf32>) -> tensor<16x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%tx : tensor<16x64x8xf32>) outs(%f : tensor<16x8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<16x8xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [16, 8], strides: [8, 1] : memref<*xf32> to memref<16x8xf32, strided<[8, 1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<16x8xf32>, memref<16x8xf32, strided<[8, 1]>>) -> ()
  return
}

// What each row divides once, every step would divide: a shared factor is not worth that.
// CHECK-LABEL: @quotients_of_rows
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1 {
// CHECK: arith.divf
// CHECK: scf.for
// CHECK: return
func.func @quotients_of_rows(%x: memref<*xf32>, %w: memref<*xf32>, %t: memref<*xf32>, %o: memref<*xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 3.0 : f32
  %rx = memref.reinterpret_cast %x to offset: [0], sizes: [4, 64], strides: [64, 1] : memref<*xf32> to memref<4x64xf32, strided<[64, 1]>>
  %ax = memref.alloc() : memref<4x64xf32>
  memref.copy %rx, %ax : memref<4x64xf32, strided<[64, 1]>> to memref<4x64xf32>
  %tx = bufferization.to_tensor %ax restrict writable : memref<4x64xf32> to tensor<4x64xf32>
  %rw = memref.reinterpret_cast %w to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32, strided<[1]>>
  %aw = memref.alloc() : memref<64xf32>
  memref.copy %rw, %aw : memref<64xf32, strided<[1]>> to memref<64xf32>
  %tw = bufferization.to_tensor %aw restrict writable : memref<64xf32> to tensor<64xf32>
  %rt = memref.reinterpret_cast %t to offset: [0], sizes: [4], strides: [1] : memref<*xf32> to memref<4xf32, strided<[1]>>
  %at = memref.alloc() : memref<4xf32>
  memref.copy %rt, %at : memref<4xf32, strided<[1]>> to memref<4xf32>
  %tt = bufferization.to_tensor %at restrict writable : memref<4xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%tx, %tw, %tt : tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %acc: f32):
    %q = arith.divf %c, %n : f32
    %d = arith.subf %a, %q : f32
    %p = arith.mulf %d, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %ro = memref.reinterpret_cast %o to offset: [0], sizes: [4], strides: [1] : memref<*xf32> to memref<4xf32, strided<[1]>>
  bufferization.materialize_in_destination %r in writable %ro : (tensor<4xf32>, memref<4xf32, strided<[1]>>) -> ()
  return
}
