// RUN: tilewright-opt %s --convert-triton-to-tritongpu="target=cuda:80 num-warps=4" | filecheck %s
// RUN: tilewright-opt %s --convert-triton-to-tritongpu="target=cuda:90 num-warps=8 num-ctas=2" | filecheck %s --check-prefix=CTAS
// RUN: tilewright-opt %s --convert-triton-to-tritongpu="target=cuda:80 num-warps=4" --relayout-tritongpu | filecheck %s

// CHECK-DAG: #[[ROW:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[UP:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
// CHECK-DAG: #[[COLUMN:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[TILE:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32}

// CTAS: #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0], CGALayout = {{\[\[1\]\]}}}>
// CTAS: module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90"

// A slice to expand, a conversion to the default layout after it, and a broadcast that keeps the layout of its source.
// CHECK-LABEL: @shapes
tt.func @shapes() -> tensor<64x16xi32> {
  // CHECK: tt.make_range {{.*}} : tensor<64xi32, #[[ROW]]>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #[[UP]]}>>
  // CHECK-NEXT: tt.expand_dims {{.*}} -> tensor<64x1xi32, #[[UP]]>
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<64x1xi32, #[[COLUMN]]>
  %column = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: tt.broadcast {{.*}} -> tensor<64x16xi32, #[[COLUMN]]>
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<64x16xi32, #[[TILE]]>
  %tile = tt.broadcast %column : tensor<64x1xi32> -> tensor<64x16xi32>
  // CHECK-NEXT: tt.return {{.*}} : tensor<64x16xi32, #[[TILE]]>
  tt.return %tile : tensor<64x16xi32>
}

// Loops, while loops, branches, calls and block arguments carry tensors in the default layout.
// CHECK-LABEL: @control
// CHECK-SAME: (%{{.*}}: tensor<64xf32, #[[ROW]]>, %{{.*}}: i32, %{{.*}}: i1) -> tensor<64xf32, #[[ROW]]>
tt.func @control(%x: tensor<64xf32>, %n: i32, %c: i1) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: arith.constant dense<1.000000e+00> : tensor<64xf32, #[[ROW]]>
  %one = arith.constant dense<1.0> : tensor<64xf32>
  // CHECK: scf.for {{.*}} -> (tensor<64xf32, #[[ROW]]>)
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<64xf32>) : i32 {
    %next = arith.addf %acc, %one : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  // CHECK: scf.while {{.*}} : (tensor<64xf32, #[[ROW]]>, i32) -> (tensor<64xf32, #[[ROW]]>, i32)
  %w:2 = scf.while (%a = %sum, %k = %n) : (tensor<64xf32>, i32) -> (tensor<64xf32>, i32) {
    %more = arith.cmpi sgt, %k, %c0 : i32
    scf.condition(%more) %a, %k : tensor<64xf32>, i32
  } do {
  ^bb0(%a: tensor<64xf32>, %k: i32):
    %less = arith.subi %k, %c1 : i32
    scf.yield %a, %less : tensor<64xf32>, i32
  }
  // CHECK: tt.call @callee({{.*}}) : (tensor<64xf32, #[[ROW]]>) -> tensor<64xf32, #[[ROW]]>
  %called = tt.call @callee(%w#0) : (tensor<64xf32>) -> tensor<64xf32>
  cf.cond_br %c, ^bb1(%called : tensor<64xf32>), ^bb2
^bb1(%y: tensor<64xf32>):
  tt.return %y : tensor<64xf32>
^bb2:
  tt.return %one : tensor<64xf32>
}

tt.func private @callee(%x: tensor<64xf32>) -> tensor<64xf32> attributes {noinline = true} {
  tt.return %x : tensor<64xf32>
}

// The results of a reduction are slices; what nobody uses is not converted.
// CHECK-LABEL: @reduce
tt.func @reduce(%x: tensor<64x16xf32>, %i: tensor<64x16xi32>) -> tensor<64xf32> {
  // CHECK: (tensor<64xf32, #ttg.slice<{dim = 1, parent = #[[TILE]]}>>, tensor<64xi32, #ttg.slice<{dim = 1, parent = #[[TILE]]}>>)
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<64xf32, #[[ROW]]>
  // CHECK-NEXT: tt.return
  %r:2 = "tt.reduce"(%x, %i) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %m = arith.maxnumf %a, %b : f32
    tt.reduce.return %m, %ai : f32, i32
  }) : (tensor<64x16xf32>, tensor<64x16xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  tt.return %r#0 : tensor<64xf32>
}

// A dot works on squares of up to four by four; its operands hold the whole of K.
// CHECK-LABEL: @dot
tt.func @dot(%a: tensor<64x16xf16>, %b: tensor<16x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK: ttg.convert_layout {{.*}} -> tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #[[SQUARE:.*]]}>>
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #[[SQUARE]]}>>
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<64x64xf32, #[[SQUARE]]>
  // CHECK-NEXT: tt.dot
  // CHECK-NEXT: ttg.convert_layout {{.*}} tensor<64x64xf32, #[[SQUARE]]> -> tensor<64x64xf32
  %d = tt.dot %a, %b, %c : tensor<64x16xf16> * tensor<16x64xf16> -> tensor<64x64xf32>
  tt.return %d : tensor<64x64xf32>
}

// Pairs: join gives them to one thread, split asks for them in one thread; cat moves nothing.
// CHECK-LABEL: @pairs
tt.func @pairs(%x: tensor<32xf32>, %y: tensor<32xf32>) -> tensor<64xf32> {
  // CHECK: tt.join {{.*}} -> tensor<32x2xf32, #[[PAIR:.*]]>
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<32x2xf32, #[[DEFAULT:.*]]>
  %j = tt.join %x, %y : tensor<32xf32> -> tensor<32x2xf32>
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<32x2xf32, #[[PAIR]]>
  // CHECK-NEXT: tt.split {{.*}} -> tensor<32xf32, #[[ROW]]>
  %l, %r = tt.split %j : tensor<32x2xf32> -> tensor<32xf32>
  // CHECK-NEXT: tt.cat {{.*}} -> tensor<64xf32, #[[TWO:.*]]>
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<64xf32, #[[ROW]]>
  %c = tt.cat %l, %r : tensor<32xf32> -> tensor<64xf32>
  tt.return %c : tensor<64xf32>
}
