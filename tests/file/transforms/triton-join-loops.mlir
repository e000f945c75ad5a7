// Two loops over neighbouring ranges, of which the second does what the first does and something more, are one.
// RUN: tilewright-opt %s --triton-join-loops --cse --verify-each --remarks 2>&1 | filecheck %s

// CHECK-DAG: remark: {{.*}} not joined: what the first results in is used elsewhere
// CHECK-DAG: remark: {{.*}} not joined: the bounds of the first are not known to be multiples of its step
// CHECK-DAG: remark: {{.*}} not joined: the first does not do what the second does
// CHECK-DAG: remark: {{.*}} not joined: the second writes to memory

// CHECK-LABEL: @masked
// CHECK: [[LOW:%[a-z0-9_]+]] = arith.minsi %c0_i32, [[M:%[a-z0-9_]+]] : i32
// CHECK: [[HIGH:%[a-z0-9_]+]] = arith.maxsi [[M]], %arg1 : i32
// CHECK: scf.for [[I:%[a-z0-9_]+]] = [[LOW]] to [[HIGH]] step %c16_i32 iter_args([[ACC:%[a-z0-9_]+]] = %cst)
// CHECK: [[SECOND:%[a-z0-9_]+]] = arith.cmpi sge, [[I]], [[M]] : i32
// CHECK: [[D:%[a-z0-9_]+]] = tt.dot %arg2, %arg2, %cst
// CHECK: [[E:%[a-z0-9_]+]] = scf.if [[SECOND]]
// CHECK-NEXT: [[W:%[a-z0-9_]+]] = tt.load %arg4
// CHECK-NEXT: arith.select %arg3, [[D]], [[W]]
// CHECK-NEXT: scf.yield
// CHECK: } else {
// CHECK-NEXT: scf.yield [[D]]
// CHECK: arith.addf [[ACC]], [[E]]
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @masked(%b: i32, %n: i32, %a: tensor<16x16xf16>, %mask: tensor<16x16xi1>, %p: tensor<16x16x!tt.ptr<f32>>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %m = arith.muli %b, %c16 : i32
  %x = scf.for %i = %c0 to %m step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %zero, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %s = arith.addf %acc, %d : tensor<16x16xf32>
    scf.yield %s : tensor<16x16xf32>
  }
  %y = scf.for %i = %m to %n step %c16 iter_args(%acc = %x) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %zero, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %w = tt.load %p : tensor<16x16x!tt.ptr<f32>>
    %e = arith.select %mask, %d, %w : tensor<16x16xi1>, tensor<16x16xf32>
    %s = arith.addf %acc, %e : tensor<16x16xf32>
    scf.yield %s : tensor<16x16xf32>
  }
  tt.return %y : tensor<16x16xf32>
}

// What is carried may change places.
// CHECK-LABEL: @swapped
// CHECK: scf.for {{.*}} iter_args(%{{[a-z0-9_]+}} = %arg3, %{{[a-z0-9_]+}} = %cst)
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @swapped(%b: i32, %n: i32, %a: tensor<16x16xf16>, %one: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %m = arith.muli %b, %c16 : i32
  %x, %y = scf.for %i = %c0 to %m step %c16 iter_args(%s = %zero, %t = %one) -> (tensor<16x16xf32>, tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %s, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %u = arith.mulf %t, %d : tensor<16x16xf32>
    scf.yield %d, %u : tensor<16x16xf32>, tensor<16x16xf32>
  }
  %v, %w = scf.for %i = %m to %n step %c16 iter_args(%t = %y, %s = %x) -> (tensor<16x16xf32>, tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %s, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %u = arith.mulf %t, %d : tensor<16x16xf32>
    scf.yield %u, %d : tensor<16x16xf32>, tensor<16x16xf32>
  }
  tt.return %v, %w : tensor<16x16xf32>, tensor<16x16xf32>
}

// CHECK-LABEL: @used_between
// CHECK-COUNT-2: scf.for
tt.func public @used_between(%b: i32, %n: i32, %a: tensor<16x16xf16>, %p: tensor<16x16x!tt.ptr<f32>>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %m = arith.muli %b, %c16 : i32
  %x = scf.for %i = %c0 to %m step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %acc, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %y = scf.for %i = %m to %n step %c16 iter_args(%acc = %x) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %acc, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tt.return %x, %y : tensor<16x16xf32>, tensor<16x16xf32>
}

// The first loop may end before or behind where the second begins.
// CHECK-LABEL: @ragged
// CHECK-COUNT-2: scf.for
tt.func public @ragged(%m: i32, %n: i32, %a: tensor<16x16xf16>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %x = scf.for %i = %c0 to %m step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %acc, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %y = scf.for %i = %m to %n step %c16 iter_args(%acc = %x) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %acc, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tt.return %y : tensor<16x16xf32>
}

// CHECK-LABEL: @different
// CHECK-COUNT-2: scf.for
tt.func public @different(%b: i32, %n: i32, %a: tensor<16x16xf16>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %m = arith.muli %b, %c16 : i32
  %x = scf.for %i = %c0 to %m step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %acc, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %s = arith.mulf %d, %d : tensor<16x16xf32>
    scf.yield %s : tensor<16x16xf32>
  }
  %y = scf.for %i = %m to %n step %c16 iter_args(%acc = %x) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %acc, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tt.return %y : tensor<16x16xf32>
}

// CHECK-LABEL: @stores
// CHECK-COUNT-2: scf.for
tt.func public @stores(%b: i32, %n: i32, %a: tensor<16x16xf16>, %p: tensor<16x16x!tt.ptr<f32>>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %m = arith.muli %b, %c16 : i32
  %x = scf.for %i = %c0 to %m step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %acc, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %y = scf.for %i = %m to %n step %c16 iter_args(%acc = %x) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %acc, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    tt.store %p, %d : tensor<16x16x!tt.ptr<f32>>
    scf.yield %d : tensor<16x16xf32>
  }
  tt.return %y : tensor<16x16xf32>
}
