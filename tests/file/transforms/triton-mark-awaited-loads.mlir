// RUN: tilewright-opt %s --triton-mark-awaited-loads | filecheck %s

// CHECK-LABEL: @until_set
// CHECK: tt.load %{{.*}} {isVolatile = true}
tt.func @until_set(%flag: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  scf.while : () -> () {
    %v = tt.load %flag : !tt.ptr<i32>
    %more = arith.cmpi eq, %v, %c0 : i32
    scf.condition(%more)
  } do {
    scf.yield
  }
  tt.return
}

// What is read before the loop is not read again; an argument that each round hands on is the same in all.
// CHECK-LABEL: @carried
// CHECK: tt.load %{{.*}} : !tt.ptr<i32>
// CHECK: scf.while
// CHECK: tt.load %{{.*}} {isVolatile = true}
// CHECK: tt.load %{{.*}} : !tt.ptr<f32>
tt.func @carried(%flag: !tt.ptr<i32>, %x: !tt.ptr<f32>, %wanted: i32) -> f32 {
  %z = arith.constant 0.0 : f32
  %first = tt.load %flag : !tt.ptr<i32>
  %r:3 = scf.while (%v = %first, %w = %wanted, %s = %z) : (i32, i32, f32) -> (i32, i32, f32) {
    %more = arith.cmpi ne, %v, %w : i32
    scf.condition(%more) %v, %w, %s : i32, i32, f32
  } do {
  ^bb0(%v: i32, %w: i32, %s: f32):
    %next = tt.load %flag : !tt.ptr<i32>
    %y = tt.load %x : !tt.ptr<f32>
    %t = arith.addf %s, %y : f32
    scf.yield %next, %w, %t : i32, i32, f32
  }
  tt.return %r#2 : f32
}

// A tile of flags, in a branch.
// CHECK-LABEL: @tiles
// CHECK: tt.load %{{.*}} {isVolatile = true} : tensor<4x!tt.ptr<i32>>
tt.func @tiles(%p: tensor<4x!tt.ptr<i32>>, %really: i1) {
  %false = arith.constant false
  %c4 = arith.constant 4 : i32
  scf.while : () -> () {
    %more = scf.if %really -> (i1) {
      %v = tt.load %p : tensor<4x!tt.ptr<i32>>
      %n = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%a: i32, %b: i32):
        %s = arith.addi %a, %b : i32
        tt.reduce.return %s : i32
      }) : (tensor<4xi32>) -> i32
      %few = arith.cmpi slt, %n, %c4 : i32
      scf.yield %few : i1
    } else {
      scf.yield %false : i1
    }
    scf.condition(%more)
  } do {
    scf.yield
  }
  tt.return
}

// CHECK-LABEL: @in_functions
// CHECK-LABEL: @inner
// CHECK: tt.load %{{.*}} {isVolatile = true}
tt.func @in_functions(%flag: !tt.ptr<i32>) {
  scf.while : () -> () {
    %more = tt.call @outer(%flag) : (!tt.ptr<i32>) -> i1
    scf.condition(%more)
  } do {
    scf.yield
  }
  tt.return
}
tt.func private @outer(%flag: !tt.ptr<i32>) -> i1 attributes {noinline = true} {
  %more = tt.call @inner(%flag) : (!tt.ptr<i32>) -> i1
  tt.return %more : i1
}
tt.func private @inner(%flag: !tt.ptr<i32>) -> i1 attributes {noinline = true} {
  %c0 = arith.constant 0 : i32
  %v = tt.load %flag : !tt.ptr<i32>
  %more = arith.cmpi eq, %v, %c0 : i32
  tt.return %more : i1
}

// Rounds that count, or that look somewhere else than the one before, end by themselves.
// CHECK-LABEL: @counted
// CHECK-NOT: isVolatile
tt.func @counted(%n: !tt.ptr<i32>, %list: !tt.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = scf.while (%i = %c0) : (i32) -> i32 {
    %end = tt.load %n : !tt.ptr<i32>
    %more = arith.cmpi slt, %i, %end : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %j = arith.addi %i, %c1 : i32
    scf.yield %j : i32
  }
  %last = scf.while (%at = %c0) : (i32) -> i32 {
    %p = tt.addptr %list, %at : !tt.ptr<i32>, i32
    %next = tt.load %p : !tt.ptr<i32>
    %more = arith.cmpi ne, %next, %c0 : i32
    scf.condition(%more) %next : i32
  } do {
  ^bb0(%next: i32):
    scf.yield %next : i32
  }
  %both = arith.addi %i, %last : i32
  tt.return %both : i32
}
