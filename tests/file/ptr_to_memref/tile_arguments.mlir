// RUN: tilewright-opt %s --triton-to-linalg | filecheck %s
// RUN: tilewright-opt %s --tile-arguments-to-memref | filecheck %s --check-prefix TILES

// A tile of pointers that is loaded and stored as a whole is memory of its shape.
// CHECK-LABEL: func.func @whole(%arg0: memref<16xf32>, %arg1: memref<16xf32>, %arg2: i32
// CHECK: memref.copy %arg0, %[[A:.*]] : memref<16xf32> to memref<16xf32>
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[A]] restrict writable
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %arg1
// TILES-LABEL: tt.func @whole
// TILES: builtin.unrealized_conversion_cast %{{.*}} : tensor<16x!tt.ptr<f32>> to memref<16xf32>
tt.func @whole(%p: tensor<16x!tt.ptr<f32>>, %q: tensor<16x!tt.ptr<f32>>) {
  %v = tt.load %p : tensor<16x!tt.ptr<f32>>
  %w = arith.addf %v, %v : tensor<16xf32>
  tt.store %q, %w : tensor<16x!tt.ptr<f32>>
  tt.return
}

// One that is masked, or moved, stays a tile of pointers, whose accesses are lane by lane.
// CHECK-LABEL: func.func @masked(%arg0: tensor<16x!tt.ptr<f32>>, %arg1: tensor<16x!tt.ptr<f32>>
// CHECK: linalg.generic {{.*}} ins(%arg0
// CHECK: ^bb0(%in: !tt.ptr<f32>
// TILES-LABEL: tt.func @masked
// TILES-NOT: unrealized_conversion_cast
tt.func @masked(%p: tensor<16x!tt.ptr<f32>>, %q: tensor<16x!tt.ptr<f32>>, %m: tensor<16xi1>, %v: tensor<16xf32>, %i: tensor<16xi32>) {
  tt.store %p, %v, %m : tensor<16x!tt.ptr<f32>>
  %r = tt.addptr %q, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %r, %v : tensor<16x!tt.ptr<f32>>
  tt.return
}
