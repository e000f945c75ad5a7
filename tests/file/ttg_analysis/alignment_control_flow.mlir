// RUN: tilewright-opt %s --test-print-alignment --verify-diagnostics --split-input-file

// Two values change places: what holds of both is left. What stays keeps its number.
tt.func @loop() {
  // expected-remark@+1 {{constant_value = 0}}
  %zero = arith.constant dense<0> : tensor<32xi32>
  // expected-remark@+1 {{constant_value = 24}}
  %number = arith.constant dense<24> : tensor<32xi32>
  // expected-remark@+1 {{constant_value = 16}}
  %low = arith.constant 16 : i32
  // expected-remark@+1 {{constant_value = 128}}
  %high = arith.constant 128 : i32
  // expected-remark@+1 {{constant_value = 48}}
  %step = arith.constant 48 : i32
  // expected-remark@+3 {{contiguity = [1], divisibility = [8], constancy = [32], constant_value = <none>}}
  // expected-remark@+2 {{contiguity = [1], divisibility = [8], constancy = [32], constant_value = <none>}}
  // expected-remark@+1 {{contiguity = [1], divisibility = [8], constancy = [32], constant_value = 24}}
  %0:3 = scf.for %i = %low to %high step %step iter_args(%a = %zero, %b = %number, %c = %number) -> (tensor<32xi32>, tensor<32xi32>, tensor<32xi32>) : i32 {
    // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
    %iv = arith.extsi %i : i32 to i64
    scf.yield %b, %a, %c : tensor<32xi32>, tensor<32xi32>, tensor<32xi32>
  }
  tt.return
}

// -----

// The pointer of a loop: divisible by what divides its start and its step.
tt.func @carried_pointer(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  // expected-remark@+1 {{}}
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark@+1 {{}}
  %base = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  // expected-remark@+1 {{contiguity = [64], divisibility = [16]}}
  %start = tt.addptr %base, %range : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  // expected-remark@+1 {{}}
  %four = arith.constant dense<4> : tensor<64xi32>
  // expected-remark@+1 {{}}
  %one = arith.constant 1 : i32
  // expected-remark@+1 {{contiguity = [64], divisibility = [8], constancy = [1], constant_value = <none>}}
  %0 = scf.for %i = %one to %n step %one iter_args(%q = %start) -> (tensor<64x!tt.ptr<f16>>) : i32 {
    // expected-remark@+1 {{contiguity = [64], divisibility = [8], constancy = [1], constant_value = <none>}}
    %next = tt.addptr %q, %four : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
    scf.yield %next : tensor<64x!tt.ptr<f16>>
  }
  tt.return
}

// -----

// Halving again and again says nothing, and comes to an end.
tt.func @halved(%n: i64) {
  // expected-remark@+1 {{}}
  %zero = arith.constant 0 : i64
  // expected-remark@+1 {{}}
  %one = arith.constant 1 : i64
  // expected-remark@+1 {{}}
  %large = arith.constant 4611686018427387904 : i64
  // expected-remark@+1 {{divisibility = [1], constancy = [1], constant_value = <none>}}
  %0 = scf.for %i = %zero to %n step %one iter_args(%x = %large) -> (i64) : i64 {
    // expected-remark@+1 {{divisibility = [1]}}
    %half = arith.shrsi %x, %one : i64
    scf.yield %half : i64
  }
  tt.return
}

// -----

tt.func @conditional(%c: i1, %n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@+1 {{contiguity = [1], divisibility = [8], constancy = [1], constant_value = <none>}}
  %0 = scf.if %c -> (i32) {
    scf.yield %n : i32
  } else {
    // expected-remark@+1 {{constant_value = 24}}
    %1 = arith.constant 24 : i32
    scf.yield %1 : i32
  }
  tt.return
}

// -----

tt.func @while(%n: i32 {tt.divisibility = 64 : i32}) {
  // expected-remark@+1 {{constant_value = 32}}
  %step = arith.constant 32 : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [32], constancy = [1], constant_value = <none>}}
  %0 = scf.while (%x = %n) : (i32) -> i32 {
    // expected-remark@+1 {{divisibility = [1]}}
    %more = arith.cmpi sgt, %x, %step : i32
    scf.condition(%more) %x : i32
  } do {
  ^bb0(%y: i32):
    // expected-remark@+1 {{divisibility = [32]}}
    %next = arith.subi %y, %step : i32
    scf.yield %next : i32
  }
  tt.return
}

// -----

tt.func @branches(%c: i1, %n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@+1 {{constant_value = 12}}
  %0 = arith.constant 12 : i32
  cf.cond_br %c, ^bb1(%0 : i32), ^bb1(%n : i32)
^bb1(%x: i32):
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = <none>}}
  %1 = arith.extsi %x : i32 to i64
  cf.cond_br %c, ^bb1(%n : i32), ^bb2
^bb2:
  tt.return
}

// -----

// A function that is not inlined has what all of its calls pass; its callers have what it returns.
tt.func private @callee(%n: i32, %x: tensor<32xi32>) -> i32 attributes {noinline = true} {
  // expected-remark@+1 {{contiguity = [1], divisibility = [8], constancy = [1], constant_value = <none>}}
  %0 = arith.extsi %n : i32 to i64
  // expected-remark@+1 {{contiguity = [32], divisibility = [32], constancy = [1], constant_value = <none>}}
  %1 = arith.extsi %x : tensor<32xi32> to tensor<32xi64>
  // expected-remark@+1 {{constant_value = 4}}
  %2 = arith.constant 4 : i32
  // expected-remark@+1 {{divisibility = [32]}}
  %3 = arith.muli %n, %2 : i32
  tt.return %3 : i32
}
tt.func public @first(%n: i32 {tt.divisibility = 8 : i32}) {
  // expected-remark@+1 {{}}
  %0 = tt.make_range {end = 64 : i32, start = 32 : i32} : tensor<32xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [32], constancy = [1], constant_value = <none>}}
  %1 = tt.call @callee(%n, %0) : (i32, tensor<32xi32>) -> i32
  tt.return
}
tt.func public @second(%n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@+1 {{}}
  %0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // expected-remark@+1 {{divisibility = [32]}}
  %1 = tt.call @callee(%n, %0) : (i32, tensor<32xi32>) -> i32
  tt.return
}
