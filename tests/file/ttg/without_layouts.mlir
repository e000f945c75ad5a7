// Passes that change no layout take modules before tensors have any, as Triton's lit files give them.
// RUN: tilewright-opt %s --tritongpu-combine-tensor-select-and-if --tritongpu-F32DotTC | filecheck %s

// CHECK-LABEL: @chosen
// CHECK: %{{.*}}:2 = scf.if %{{.*}} -> (i32, tensor<64xi32>)
// CHECK-NOT: arith.select
tt.func @chosen(%a: tensor<64xi32>, %b: tensor<64xi32>, %n: i32, %m: i32, %c: i1) -> (i32, tensor<64xi32>) {
  %0 = arith.select %c, %a, %b : tensor<64xi32>
  %1 = scf.if %c -> i32 {
    %2 = arith.addi %n, %m : i32
    scf.yield %2 : i32
  } else {
    scf.yield %n : i32
  }
  tt.return %1, %0 : i32, tensor<64xi32>
}

// CHECK-LABEL: @in_parts
// CHECK-COUNT-3: tt.dot
tt.func @in_parts(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = tt.dot %a, %b, %c, inputPrecision = bf16x3 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}
