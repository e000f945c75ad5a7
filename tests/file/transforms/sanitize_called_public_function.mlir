// RUN: tilewright-opt %s --triton-sanitize | filecheck %s

// A public function that another one calls keeps its signature, and its accesses unchecked.
// CHECK: tt.func public @callee(%{{.*}}: !tt.ptr<f32>) {
// CHECK: tt.func public @k(%{{.*}}: !tt.ptr<f32>, %{{.*}}: !tt.ptr<i64>) attributes {tilewright.sanitizer
// CHECK: tt.call @callee(%{{.*}}) : (!tt.ptr<f32>) -> ()

tt.func public @callee(%x: !tt.ptr<f32>) {
  %0 = tt.load %x : !tt.ptr<f32>
  tt.return
}
tt.func public @k(%x: !tt.ptr<f32>) {
  tt.call @callee(%x) : (!tt.ptr<f32>) -> ()
  tt.return
}
