// Selects by the condition of a conditional become its results.
// RUN: tilewright-opt %s --tritongpu-combine-tensor-select-and-if --verify-each | filecheck %s

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @merged
  // CHECK-NOT: arith.select
  // CHECK: %[[R:.*]] = scf.if %arg0 -> (tensor<512xf32, #blocked>) {
  // CHECK: tt.store %arg3, %arg1
  // CHECK: scf.yield %arg1
  // CHECK: } else {
  // CHECK: scf.yield %arg2
  // CHECK: arith.addf %[[R]], %[[R]]
  tt.func @merged(%c: i1, %x: tensor<512xf32, #b>, %y: tensor<512xf32, #b>, %p: tensor<512x!tt.ptr<f32>, #b>) -> tensor<512xf32, #b> {
    %0 = arith.select %c, %x, %y : tensor<512xf32, #b>
    scf.if %c {
      tt.store %p, %0 : tensor<512x!tt.ptr<f32>, #b>
    }
    %1 = arith.addf %0, %0 : tensor<512xf32, #b>
    tt.return %1 : tensor<512xf32, #b>
  }

  // Results of the conditional stay in front.
  // CHECK-LABEL: @results
  // CHECK: scf.if %arg0 -> (tensor<512xf32, #blocked>, tensor<512xf32, #blocked>) {
  // CHECK-NEXT: scf.yield %arg2, %arg1
  // CHECK: scf.yield %arg1, %arg2
  tt.func @results(%c: i1, %x: tensor<512xf32, #b>, %y: tensor<512xf32, #b>) -> (tensor<512xf32, #b>, tensor<512xf32, #b>) {
    %0 = arith.select %c, %x, %y : tensor<512xf32, #b>
    %1 = scf.if %c -> (tensor<512xf32, #b>) {
      scf.yield %y : tensor<512xf32, #b>
    } else {
      scf.yield %x : tensor<512xf32, #b>
    }
    tt.return %0, %1 : tensor<512xf32, #b>, tensor<512xf32, #b>
  }

  // Other conditions, conditions per element, uses before the conditional, and scalars stay.
  // CHECK-LABEL: @others
  // CHECK-COUNT-4: arith.select
  // CHECK: scf.if %arg0 {
  tt.func @others(%c: i1, %d: i1, %m: tensor<512xi1, #b>, %x: tensor<512xf32, #b>, %y: tensor<512xf32, #b>, %s: f32, %p: tensor<512x!tt.ptr<f32>, #b>) -> (tensor<512xf32, #b>, tensor<512xf32, #b>, f32) {
    %0 = arith.select %d, %x, %y : tensor<512xf32, #b>
    %1 = arith.select %m, %x, %y : tensor<512xi1, #b>, tensor<512xf32, #b>
    %2 = arith.select %c, %x, %y : tensor<512xf32, #b>
    tt.store %p, %2 : tensor<512x!tt.ptr<f32>, #b>
    %3 = arith.select %c, %s, %s : f32
    scf.if %c {
      tt.store %p, %x : tensor<512x!tt.ptr<f32>, #b>
    }
    tt.return %0, %1, %3 : tensor<512xf32, #b>, tensor<512xf32, #b>, f32
  }
}
