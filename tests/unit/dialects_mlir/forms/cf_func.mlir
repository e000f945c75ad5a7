module {
  func.func private @external(i32, memref<*xf32> {tt.divisibility = 16 : i32}) -> f32
  func.func public @callee(%arg0: i32) -> (i32, f32) attributes {noinline = false} {
    %cst = arith.constant 1.000000e+00 : f32
    return %arg0, %cst : i32, f32
  }
  func.func @branches(%arg0: i1, %arg1: i32, %arg2: i32, %arg3: index) -> i32 {
    cf.assert %arg0, "must hold"
    %0:2 = call @callee(%arg1) : (i32) -> (i32, f32)
    cf.cond_br %arg0, ^bb1(%arg1 : i32), ^bb2
  ^bb1(%1: i32):  // 3 preds: ^bb0, ^bb2, ^bb4
    cf.br ^bb3(%1, %arg2 : i32, i32)
  ^bb2:  // pred: ^bb0
    cf.switch %arg1 : i32, [
      default: ^bb3(%arg1, %arg2 : i32, i32),
      42: ^bb1(%arg2 : i32),
      4294967293: ^bb4
    ]
  ^bb3(%2: i32, %3: i32):  // 2 preds: ^bb1, ^bb2
    return %2 : i32
  ^bb4:  // pred: ^bb2
    %4 = ub.poison : i32
    %5 = ub.poison : tensor<4xf32>
    cf.br ^bb1(%4 : i32)
  }
}

// -----
module {
  func.func @unreachable() {
    ub.unreachable
  }
}
