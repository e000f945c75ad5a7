// RUN: tilewright-opt %s --test-print-alignment --verify-diagnostics

// Facts about results, rule by rule. What Triton finds is a lower bound of what has to be found.

tt.func @ranges() {
  // expected-remark@+1 {{contiguity = [128], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [64], divisibility = [32], constancy = [1], constant_value = <none>}}
  %1 = tt.make_range {end = 96 : i32, start = 32 : i32} : tensor<64xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = 4}}
  %2 = tt.make_range {end = 5 : i32, start = 4 : i32} : tensor<1xi32>
  tt.return
}

tt.func @constants() {
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [128], constant_value = 12}}
  %0 = arith.constant dense<12> : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [4611686018427387904], constancy = [1], constant_value = 0}}
  %1 = arith.constant 0 : i64
  // expected-remark@+1 {{contiguity = [1, 1], divisibility = [1, 1], constancy = [4, 8], constant_value = 1}}
  %2 = arith.constant dense<true> : tensor<4x8xi1>
  // expected-remark@+1 {{contiguity = [1], divisibility = [8], constancy = [1], constant_value = -8}}
  %3 = arith.constant -8 : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %4 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // expected-remark@+1 {{contiguity = [64], divisibility = [4611686018427387904], constancy = [64], constant_value = <none>}}
  %5 = ub.poison : tensor<64xi32>
  tt.return
}

tt.func @sums(%n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@+1 {{}}
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 1}}
  %one = arith.constant dense<1> : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [128], constant_value = <none>}}
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  // expected-remark@+1 {{contiguity = [128], divisibility = [1], constancy = [1], constant_value = <none>}}
  %0 = arith.addi %range, %one : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [128], divisibility = [16], constancy = [1], constant_value = <none>}}
  %1 = arith.addi %ns, %range : tensor<128xi32>
  // The sum of two ranges is even.
  // expected-remark@+1 {{contiguity = [1], divisibility = [2], constancy = [1], constant_value = <none>}}
  %2 = arith.addi %range, %range : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [2], constancy = [128], constant_value = 2}}
  %3 = arith.addi %one, %one : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [128], divisibility = [16], constancy = [1], constant_value = <none>}}
  %4 = arith.subi %range, %ns : tensor<128xi32>
  // A range that is subtracted runs backwards; two ranges have a constant difference.
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %5 = arith.subi %ns, %range : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [128], constant_value = <none>}}
  %6 = arith.subi %1, %range : tensor<128xi32>
  tt.return
}

tt.func @products(%n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@+1 {{}}
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 1}}
  %one = arith.constant dense<1> : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 0}}
  %zero = arith.constant dense<0> : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 4}}
  %four = arith.constant dense<4> : tensor<128xi32>
  // expected-remark@+1 {{constancy = [128]}}
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  // expected-remark@+1 {{contiguity = [128], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %0 = arith.muli %range, %one : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [4611686018427387904], constancy = [128], constant_value = 0}}
  %1 = arith.muli %zero, %range : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [64], constancy = [128], constant_value = <none>}}
  %2 = arith.muli %ns, %four : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = <none>}}
  %3 = arith.muli %range, %four : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [256], constancy = [128], constant_value = <none>}}
  %4 = arith.muli %ns, %ns : tensor<128xi32>
  tt.return
}

tt.func @quotients(%n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@+1 {{}}
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 1}}
  %one = arith.constant dense<1> : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 64}}
  %c64 = arith.constant dense<64> : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 66}}
  %c66 = arith.constant dense<66> : tensor<128xi32>
  // expected-remark@+1 {{constancy = [128]}}
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  // expected-remark@+1 {{contiguity = [128], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %0 = arith.divsi %range, %one : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [64], constant_value = <none>}}
  %1 = arith.divsi %range, %c64 : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [2], constant_value = <none>}}
  %2 = arith.divui %range, %c66 : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [16], constant_value = <none>}}
  %3 = arith.divsi %range, %ns : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %4 = arith.divsi %c64, %range : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [128], constant_value = 1}}
  %5 = arith.divsi %c66, %c64 : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 16}}
  %c16 = arith.constant 16 : i32
  // expected-remark@+1 {{constant_value = 4}}
  %c4 = arith.constant 4 : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %6 = arith.divsi %n, %c16 : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = <none>}}
  %7 = arith.divsi %n, %c4 : i32
  // Below zero a quotient is rounded up: -16, .., -1 by 16 gives -1 once and 0 else.
  // expected-remark@+1 {{contiguity = [128], divisibility = [64], constancy = [1], constant_value = <none>}}
  %below = arith.subi %range, %c64 : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %8 = arith.divsi %below, %c64 : tensor<128xi32>
  tt.return
}

tt.func @remainders(%n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@+1 {{}}
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 1}}
  %one = arith.constant dense<1> : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 48}}
  %c48 = arith.constant dense<48> : tensor<128xi32>
  // expected-remark@+1 {{constancy = [128]}}
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [4611686018427387904], constancy = [128], constant_value = 0}}
  %0 = arith.remsi %range, %one : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [16], divisibility = [16], constancy = [1], constant_value = <none>}}
  %1 = arith.remsi %range, %c48 : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [16], divisibility = [16], constancy = [1], constant_value = <none>}}
  %2 = arith.remui %range, %ns : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [128], constant_value = <none>}}
  %3 = arith.remsi %c48, %ns : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %4 = arith.remsi %c48, %range : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [128], divisibility = [16], constancy = [1], constant_value = <none>}}
  %below = arith.subi %range, %c48 : tensor<128xi32>
  // Below zero a remainder is negative: -16 % 16 = 0 stands before -15 % 16 = -15.
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %5 = arith.remsi %below, %c48 : tensor<128xi32>
  tt.return
}

tt.func @comparisons() {
  // expected-remark@+1 {{}}
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 8}}
  %eight = arith.constant dense<8> : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 0}}
  %zero = arith.constant dense<0> : tensor<128xi32>
  // expected-remark@+1 {{constancy = [8], constant_value = <none>}}
  %0 = arith.cmpi slt, %range, %eight : tensor<128xi32>
  // expected-remark@+1 {{constancy = [8], constant_value = <none>}}
  %1 = arith.cmpi uge, %range, %eight : tensor<128xi32>
  // expected-remark@+1 {{constancy = [8], constant_value = <none>}}
  %2 = arith.cmpi sgt, %eight, %range : tensor<128xi32>
  // expected-remark@+1 {{constancy = [8], constant_value = <none>}}
  %3 = arith.cmpi ule, %eight, %range : tensor<128xi32>
  // expected-remark@+1 {{constancy = [1], constant_value = <none>}}
  %4 = arith.cmpi sle, %range, %eight : tensor<128xi32>
  // expected-remark@+1 {{constancy = [1], constant_value = <none>}}
  %5 = arith.cmpi slt, %eight, %range : tensor<128xi32>
  // expected-remark@+1 {{constancy = [1], constant_value = <none>}}
  %6 = arith.cmpi eq, %range, %eight : tensor<128xi32>
  // expected-remark@+1 {{constancy = [128], constant_value = <none>}}
  %7 = arith.cmpi slt, %range, %zero : tensor<128xi32>
  // expected-remark@+1 {{constancy = [128], constant_value = 1}}
  %8 = arith.cmpi sgt, %eight, %zero : tensor<128xi32>
  tt.return
}

tt.func @bits() {
  // expected-remark@+1 {{}}
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 15}}
  %low = arith.constant dense<15> : tensor<128xi32>
  // expected-remark@+1 {{constant_value = -16}}
  %high = arith.constant dense<-16> : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 256}}
  %bit = arith.constant dense<256> : tensor<128xi32>
  // expected-remark@+1 {{constant_value = 3}}
  %three = arith.constant dense<3> : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [16], divisibility = [16], constancy = [1], constant_value = <none>}}
  %0 = arith.andi %range, %low : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [16], constant_value = <none>}}
  %1 = arith.andi %range, %high : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [128], divisibility = [256], constancy = [1], constant_value = <none>}}
  %2 = arith.ori %range, %bit : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %3 = arith.xori %range, %three : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [8], constancy = [1], constant_value = <none>}}
  %4 = arith.shli %range, %three : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [8], constant_value = <none>}}
  %5 = arith.shrsi %range, %three : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [32], constancy = [128], constant_value = 32}}
  %6 = arith.shrui %bit, %three : tensor<128xi32>
  tt.return
}

tt.func @choices(%c: i1, %m: tensor<128xi1>) {
  // expected-remark@+1 {{}}
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@+1 {{}}
  %1 = tt.make_range {end = 192 : i32, start = 64 : i32} : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [128], divisibility = [64], constancy = [1], constant_value = <none>}}
  %2 = arith.maxsi %0, %1 : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [128], divisibility = [64], constancy = [1], constant_value = <none>}}
  %3 = arith.select %c, %0, %1 : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %4 = arith.select %m, %0, %1 : tensor<128xi1>, tensor<128xi32>
  // expected-remark@+1 {{constant_value = 32}}
  %c32 = arith.constant dense<32> : tensor<128xi32>
  // expected-remark@+1 {{constancy = [32]}}
  %less = arith.cmpi slt, %0, %c32 : tensor<128xi32>
  // expected-remark@+1 {{contiguity = [32], divisibility = [32], constancy = [1], constant_value = <none>}}
  %5 = arith.select %less, %0, %1 : tensor<128xi1>, tensor<128xi32>
  // expected-remark@+1 {{constant_value = 1}}
  %true = arith.constant true
  // expected-remark@+1 {{contiguity = [128], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %6 = arith.select %true, %0, %1 : tensor<128xi32>
  tt.return
}

tt.func @casts(%n: i64) {
  // expected-remark@+1 {{}}
  %0 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  // expected-remark@+1 {{contiguity = [512], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %1 = arith.extsi %0 : tensor<512xi32> to tensor<512xi64>
  // Eight bits count to 127 and on from -128.
  // expected-remark@+1 {{contiguity = [128], divisibility = [128], constancy = [1], constant_value = <none>}}
  %2 = arith.trunci %0 : tensor<512xi32> to tensor<512xi8>
  // expected-remark@+1 {{contiguity = [128], divisibility = [128], constancy = [1], constant_value = <none>}}
  %3 = arith.extsi %2 : tensor<512xi8> to tensor<512xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [512], constant_value = <none>}}
  %ns = tt.splat %n : i64 -> tensor<512xi64>
  // expected-remark@+1 {{contiguity = [512], divisibility = [1], constancy = [1], constant_value = <none>}}
  %4 = arith.addi %1, %ns : tensor<512xi64>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %5 = arith.trunci %4 : tensor<512xi64> to tensor<512xi32>
  // expected-remark@+1 {{constant_value = 1}}
  %true = arith.constant true
  // expected-remark@+1 {{constant_value = -1}}
  %6 = arith.extsi %true : i1 to i32
  // expected-remark@+1 {{constant_value = 1}}
  %7 = arith.extui %true : i1 to i32
  tt.return
}
