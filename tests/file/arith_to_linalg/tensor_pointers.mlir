// RUN: tilewright-opt %s --triton-arith-to-linalg="tensor-ptr-to-linalg=true" | filecheck %s

// Ops on tensors of pointers become the same ops on scalars; what is loaded and stored keeps its type.
// CHECK-LABEL: func.func @copy(%arg0: tensor<8x!tt.ptr<f8E4M3FN>>, %arg1: tensor<8x!tt.ptr<f8E4M3FN>>, %arg2: tensor<8xi32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%arg0, %arg2 : tensor<8x!tt.ptr<f8E4M3FN>>, tensor<8xi32>)
// CHECK: tt.addptr %in, %in_0 : !tt.ptr<f8E4M3FN>, i32
// CHECK: %[[V:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<8x!tt.ptr<f8E4M3FN>>) outs(%{{.*}} : tensor<8xf8E4M3FN>)
// CHECK: %[[X:.*]] = tt.load %in : !tt.ptr<f8E4M3FN>
// CHECK: linalg.yield %[[X]] : f8E4M3FN
// CHECK: linalg.generic {{.*}} ins(%arg1, %[[V]] : tensor<8x!tt.ptr<f8E4M3FN>>, tensor<8xf8E4M3FN>)
// CHECK: tt.store %in, %in_0 : !tt.ptr<f8E4M3FN>
tt.func public @copy(%x: tensor<8x!tt.ptr<f8E4M3FN>>, %y: tensor<8x!tt.ptr<f8E4M3FN>>, %i: tensor<8xi32>) {
  %p = tt.addptr %x, %i : tensor<8x!tt.ptr<f8E4M3FN>>, tensor<8xi32>
  %v = tt.load %p : tensor<8x!tt.ptr<f8E4M3FN>>
  tt.store %y, %v : tensor<8x!tt.ptr<f8E4M3FN>>
  tt.return
}

// CHECK-LABEL: func.func @numbers
// CHECK: tt.int_to_ptr %in : i64 -> !tt.ptr<f32>
// CHECK: tt.bitcast %in : !tt.ptr<f32> -> !tt.ptr<i32>
// CHECK: tt.ptr_to_int %in : !tt.ptr<i32> -> i64
tt.func public @numbers(%x: tensor<8xi64>) -> tensor<8xi64> {
  %p = tt.int_to_ptr %x : tensor<8xi64> -> tensor<8x!tt.ptr<f32>>
  %q = tt.bitcast %p : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<i32>>
  %a = tt.ptr_to_int %q : tensor<8x!tt.ptr<i32>> -> tensor<8xi64>
  tt.return %a : tensor<8xi64>
}
