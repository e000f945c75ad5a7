// RUN: tilewright-opt %s --linalg-sink-producers --forward-loads --linalg-choose-unrolling --linalg-to-loops="vector-bits=256" | filecheck %s
// RUN: tilewright-opt %s --linalg-sink-producers --forward-loads --linalg-choose-unrolling --linalg-to-loops="vector-bits=256 vectorize=false" | filecheck %s --check-prefix=SCALAR
// RUN: tilewright-opt %s --linalg-sink-producers --forward-loads --linalg-to-loops="vector-bits=256" | filecheck %s --check-prefix=ROLLED
// RUN: tilewright-opt %s --linalg-sink-producers --forward-loads --linalg-choose-unrolling --linalg-to-loops="vector-bits=256 prefetch=false" | filecheck %s --check-prefix=QUIET
// RUN: tilewright-opt %s --linalg-sink-producers --forward-loads --linalg-choose-unrolling --linalg-to-loops="vector-bits=256 stream=false" | filecheck %s --check-prefix=CACHED

// Each decision about a nest can be taken out alone: vectors, several of them at a time (a pass of its own), prefetches,
// non-temporal stores.
// CHECK: scf.for %{{.*}} = %c0 to %c16384 step %c32 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: scf.if
// CHECK: memref.prefetch
// CHECK: vector.store {{.*}} nontemporal = true
// CHECK: memref.prefetch

// SCALAR-NOT: vector.
// SCALAR: scf.for %{{.*}} = %c0 to %c16384 step %c1 iter_args({{.*}}) -> (f32)
// SCALAR-NOT: vector.
// SCALAR-NOT: memref.prefetch

// ROLLED: scf.for %{{.*}} = %c0 to %c16384 step %c8 iter_args({{.*}}) -> (vector<8xf32>)
// ROLLED: memref.prefetch
// ROLLED: nontemporal = true

// QUIET-NOT: memref.prefetch
// QUIET: step %c32
// QUIET-NOT: memref.prefetch
// QUIET: nontemporal = true
// QUIET-NOT: memref.prefetch

// CACHED-NOT: scf.if
// CACHED: step %c32
// CACHED-NOT: nontemporal
// CACHED: memref.prefetch
// CACHED-NOT: nontemporal
#map = affine_map<(d0) -> (d0)>
func.func @scale_row(%arg0: memref<*xf32>, %arg1: memref<*xf32>, %arg2: i32, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32) attributes {tilewright.noalias} {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = arith.muli %arg6, %arg2 : i32
  %1 = arith.index_cast %0 : i32 to index
  %reinterpret_cast = memref.reinterpret_cast %arg0 to offset: [%1], sizes: [16384], strides: [1] : memref<*xf32> to memref<16384xf32, strided<[1], offset: ?>>
  %reinterpret_cast_0 = memref.reinterpret_cast %arg1 to offset: [%1], sizes: [16384], strides: [1] : memref<*xf32> to memref<16384xf32, strided<[1], offset: ?>>
  %alloc = memref.alloc() : memref<16384xf32>
  memref.copy %reinterpret_cast, %alloc : memref<16384xf32, strided<[1], offset: ?>> to memref<16384xf32>
  %2 = bufferization.to_tensor %alloc restrict writable : memref<16384xf32> to tensor<16384xf32>
  %3 = bufferization.alloc_tensor() : tensor<f32>
  %inserted = tensor.insert %cst into %3[] : tensor<f32>
  %reduced = linalg.reduce ins(%2 : tensor<16384xf32>) outs(%inserted : tensor<f32>) dimensions = [0] 
    (%in: f32, %init: f32) {
      %8 = arith.addf %in, %init : f32
      linalg.yield %8 : f32
    }
  %extracted = tensor.extract %reduced[] : tensor<f32>
  %4 = tensor.empty() : tensor<16384xf32>
  %5 = linalg.fill ins(%extracted : f32) outs(%4 : tensor<16384xf32>) -> tensor<16384xf32>
  %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%2, %5 : tensor<16384xf32>, tensor<16384xf32>) outs(%2 : tensor<16384xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %8 = arith.divf %in, %in_1 : f32
    linalg.yield %8 : f32
  } -> tensor<16384xf32>
  %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%6 : tensor<16384xf32>) outs(%6 : tensor<16384xf32>) {
  ^bb0(%in: f32, %out: f32):
    %8 = math.exp %in : f32
    linalg.yield %8 : f32
  } -> tensor<16384xf32>
  bufferization.materialize_in_destination %7 in writable %reinterpret_cast_0 : (tensor<16384xf32>, memref<16384xf32, strided<[1], offset: ?>>) -> ()
  return
}
