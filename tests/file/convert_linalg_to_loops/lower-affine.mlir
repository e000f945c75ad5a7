// Affine loops are read and printed as upstream does, and lowered to scf.
// RUN: tilewright-opt %s --verify-roundtrip | filecheck %s
// RUN: tilewright-opt %s | mlir-opt --lower-affine | filecheck %s --check-prefix=SCF
// RUN: tilewright-opt %s --lower-affine | filecheck %s --check-prefix=SCF
// RUN: tilewright-opt %s --convert-linalg-to-loops --check-stage=loops | filecheck %s --check-prefix=SCF
// RUN: tilewright-opt %s --lower-affine | mlir-opt
// RUN: tilewright-opt %s --mlir-print-op-generic | mlir-opt | filecheck %s

#map = affine_map<(d0)[s0] -> (d0, s0 - 1)>
// CHECK-LABEL: @fill
// CHECK: affine.for %[[I:.*]] = 0 to 16 step 2 {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]]]
// SCF-LABEL: @fill
// SCF: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// SCF: memref.store
func.func @fill(%m: memref<16xf32>, %v: f32) {
  affine.for %i = 0 to 16 step 2 {
    affine.store %v, %m[%i] : memref<16xf32>
  }
  return
}

// CHECK-LABEL: @sum
// CHECK: %[[R:.*]] = affine.for %[[I:.*]] = max #map{{[0-9]*}}(%{{.*}})[%{{.*}}] to %{{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (f32) {
// CHECK: affine.for %{{.*}} = 0 to #map{{[0-9]*}}(%[[I]]) {
// CHECK: affine.yield %{{.*}} : f32
// CHECK: return %[[R]]
// SCF-LABEL: @sum
// SCF: %[[LOWER:.*]] = arith.maxsi
// SCF: %[[R:.*]] = scf.for %{{.*}} = %[[LOWER]] to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32) {
// SCF: scf.for
// SCF: scf.yield %{{.*}} : f32
// SCF: return %[[R]]
func.func @sum(%m: memref<?xf32>, %start: index, %n: index, %zero: f32) -> f32 {
  %r = affine.for %i = max #map(%start)[%n] to %n iter_args(%a = %zero) -> (f32) {
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
      affine.store %a, %m[%j] : memref<?xf32>
    }
    %x = affine.load %m[%i] : memref<?xf32>
    %y = arith.addf %a, %x : f32
    affine.yield %y : f32
  }
  return %r : f32
}
