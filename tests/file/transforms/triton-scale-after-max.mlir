// The largest of scaled numbers is found before they are scaled.
// RUN: tilewright-opt %s --triton-scale-after-max --verify-each | filecheck %s

// CHECK-LABEL: @by_a_constant
// CHECK: [[C:%[a-z0-9_]+]] = tt.splat [[S:%[a-z0-9_]+]] : f32 -> tensor<4x8xf32>
// CHECK: [[Y:%[a-z0-9_]+]] = arith.mulf %arg0, [[C]]
// CHECK: [[N:%[a-z0-9_]+]] = "tt.reduce"(%arg0)
// CHECK: arith.maxnumf
// CHECK: [[R:%[a-z0-9_]+]] = tt.splat [[S]] : f32 -> tensor<4xf32>
// CHECK: arith.mulf [[N]], [[R]] : tensor<4xf32>
// CHECK: arith.subf [[Y]],
tt.func public @by_a_constant(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = arith.constant 0.125 : f32
  %c = tt.splat %s : f32 -> tensor<4x8xf32>
  %y = arith.mulf %x, %c : tensor<4x8xf32>
  %m = "tt.reduce"(%y) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %l = arith.maxnumf %a, %b : f32
    tt.reduce.return %l : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  %e = tt.expand_dims %m {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  %f = tt.broadcast %e : tensor<4x1xf32> -> tensor<4x8xf32>
  %d = arith.subf %y, %f : tensor<4x8xf32>
  tt.return %d : tensor<4x8xf32>
}

// The launcher is asked to check the argument, by the recipe of a tensor map.
// CHECK-LABEL: @by_an_argument
// CHECK-SAME: ttg.tensor_map = {base = 0 : i64, positive = [1]}
// CHECK: [[F:%[a-z0-9_]+]] = arith.mulf %arg1,
// CHECK: "tt.reduce"(%arg3)
// CHECK: tt.splat [[F]] : f32 -> tensor<4xf32>
tt.func public @by_an_argument(%p: !tt.ptr<f16>, %scale: f32, %t: !tt.tensordesc<16x16xf16> {ttg.tensor_map = {base = 0 : i64}}, %x: tensor<4x8xf32>) -> tensor<4xf32> {
  %log2e = arith.constant 1.44269502 : f32
  %s = arith.mulf %scale, %log2e : f32
  %c = tt.splat %s : f32 -> tensor<4x8xf32>
  %y = arith.mulf %x, %c : tensor<4x8xf32>
  %m = "tt.reduce"(%y) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %l = arith.maxnumf %a, %b : f32
    tt.reduce.return %l : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  tt.return %m : tensor<4xf32>
}

// Nobody checks this argument.
// CHECK-LABEL: @of_any_sign
// CHECK: [[Y:%[a-z0-9_]+]] = arith.mulf
// CHECK: "tt.reduce"([[Y]])
tt.func public @of_any_sign(%scale: f32, %x: tensor<4x8xf32>) -> tensor<4xf32> {
  %c = tt.splat %scale : f32 -> tensor<4x8xf32>
  %y = arith.mulf %x, %c : tensor<4x8xf32>
  %m = "tt.reduce"(%y) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %l = arith.maxnumf %a, %b : f32
    tt.reduce.return %l : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  tt.return %m : tensor<4xf32>
}

// A negative factor would ask for the smallest number.
// CHECK-LABEL: @by_a_negative_constant
// CHECK: [[Y:%[a-z0-9_]+]] = arith.mulf
// CHECK: "tt.reduce"([[Y]])
tt.func public @by_a_negative_constant(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %s = arith.constant -2.0 : f32
  %c = tt.splat %s : f32 -> tensor<4x8xf32>
  %y = arith.mulf %x, %c : tensor<4x8xf32>
  %m = "tt.reduce"(%y) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %l = arith.maxnumf %a, %b : f32
    tt.reduce.return %l : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  tt.return %m : tensor<4xf32>
}

// What is used otherwise is computed anyway.
// CHECK-LABEL: @used_otherwise
// CHECK: [[Y:%[a-z0-9_]+]] = arith.mulf
// CHECK: "tt.reduce"([[Y]])
tt.func public @used_otherwise(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  %s = arith.constant 2.0 : f32
  %c = tt.splat %s : f32 -> tensor<4x8xf32>
  %y = arith.mulf %x, %c : tensor<4x8xf32>
  %m = "tt.reduce"(%y) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %l = arith.maxnumf %a, %b : f32
    tt.reduce.return %l : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  tt.return %m, %y : tensor<4xf32>, tensor<4x8xf32>
}

// Where a branch masks some of the numbers, those are scaled before the mask counts, the others after the largest is
// found; the numbers of both branches are multiplied by what is left of the factor.
// CHECK-LABEL: @masked_in_a_branch
// CHECK: [[N:%[a-z0-9_]+]]:3 = scf.if %arg2 -> (tensor<4xf32>, tensor<4x8xf32>, f32) {
// CHECK: [[M:%[a-z0-9_]+]] = arith.cmpi sge
// CHECK: [[Y:%[a-z0-9_]+]] = arith.mulf %arg0
// CHECK: [[L:%[a-z0-9_]+]] = arith.select [[M]], [[Y]], %{{.*}}
// CHECK: [[R:%[a-z0-9_]+]] = "tt.reduce"([[L]])
// CHECK: arith.maxnumf
// CHECK: scf.yield [[R]], [[L]], %cst{{.*}} : tensor<4xf32>, tensor<4x8xf32>, f32
// CHECK: } else {
// CHECK: [[R:%[a-z0-9_]+]] = "tt.reduce"(%arg0)
// CHECK: [[S:%[a-z0-9_]+]] = arith.mulf [[R]]
// CHECK: scf.yield [[S]], %arg0, %cst{{.*}} : tensor<4xf32>, tensor<4x8xf32>, f32
// CHECK: }
// CHECK-NOT: scf.if
// CHECK: [[F:%[a-z0-9_]+]] = tt.splat [[N]]#2
// CHECK: [[P:%[a-z0-9_]+]] = arith.mulf [[N]]#1, [[F]]
// CHECK: arith.subf [[P]]
tt.func public @masked_in_a_branch(%x: tensor<4x8xf32>, %rows: tensor<4x8xi32>, %some: i1) -> tensor<4x8xf32> {
  %s = arith.constant 0.125 : f32
  %least = arith.constant dense<-1.0e6> : tensor<4x8xf32>
  %zero = arith.constant dense<0> : tensor<4x8xi32>
  %c = tt.splat %s : f32 -> tensor<4x8xf32>
  %y = arith.mulf %x, %c : tensor<4x8xf32>
  %z = scf.if %some -> (tensor<4x8xf32>) {
    %mask = arith.cmpi sge, %rows, %zero : tensor<4x8xi32>
    %w = arith.select %mask, %y, %least : tensor<4x8xi1>, tensor<4x8xf32>
    scf.yield %w : tensor<4x8xf32>
  } else {
    scf.yield %y : tensor<4x8xf32>
  }
  %m = "tt.reduce"(%z) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %l = arith.maxnumf %a, %b : f32
    tt.reduce.return %l : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  %e = tt.expand_dims %m {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  %f = tt.broadcast %e : tensor<4x1xf32> -> tensor<4x8xf32>
  %d = arith.subf %z, %f : tensor<4x8xf32>
  tt.return %d : tensor<4x8xf32>
}

// What is subtracted from the numbers before the largest is found comes after the branch, too.
// CHECK-LABEL: @difference_before_the_largest
// CHECK: [[N:%[a-z0-9_]+]]:3 = scf.if %arg2
// CHECK: } else {
// CHECK: }
// CHECK: [[P:%[a-z0-9_]+]] = arith.mulf [[N]]#1
// CHECK: arith.subf [[P]], %arg3
// CHECK-NOT: tt.reduce
// CHECK: tt.return %{{.*}}, [[N]]#0
tt.func public @difference_before_the_largest(%x: tensor<4x8xf32>, %rows: tensor<4x8xi32>, %some: i1, %far: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %s = arith.constant 0.125 : f32
  %least = arith.constant dense<-1.0e6> : tensor<4x8xf32>
  %zero = arith.constant dense<0> : tensor<4x8xi32>
  %c = tt.splat %s : f32 -> tensor<4x8xf32>
  %y = arith.mulf %x, %c : tensor<4x8xf32>
  %z = scf.if %some -> (tensor<4x8xf32>) {
    %mask = arith.cmpi sge, %rows, %zero : tensor<4x8xi32>
    %w = arith.select %mask, %y, %least : tensor<4x8xi1>, tensor<4x8xf32>
    scf.yield %w : tensor<4x8xf32>
  } else {
    scf.yield %y : tensor<4x8xf32>
  }
  %d = arith.subf %z, %far : tensor<4x8xf32>
  %m = "tt.reduce"(%z) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %l = arith.maxnumf %a, %b : f32
    tt.reduce.return %l : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  tt.return %d, %m : tensor<4x8xf32>, tensor<4xf32>
}
