// More rules of AxisInfo: minima and maxima, casts, ops of which nothing is known, hints, blocks.
// RUN: tilewright-opt %s --test-print-alignment --verify-diagnostics

tt.func @minmax(%n: i32 {tt.divisibility = 16 : i32}, %m: i32) {
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = 4}}
  %c4 = arith.constant 4 : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = 12}}
  %c12 = arith.constant 12 : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = -4}}
  %minus = arith.constant -4 : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = 4}}
  %a = arith.maxsi %c4, %minus : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = -4}}
  %b = arith.minsi %c4, %minus : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = -4}}
  %c = arith.maxui %c4, %minus : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = 4}}
  %d = arith.minui %c4, %minus : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = <none>}}
  %e = arith.maxsi %n, %c12 : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %f = arith.minui %n, %m : i32
  // expected-remark@+1 {{contiguity = [64], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark@+1 {{contiguity = [64], divisibility = [32], constancy = [1], constant_value = <none>}}
  %s = tt.make_range {end = 96 : i32, start = 32 : i32} : tensor<64xi32>
  // expected-remark@+1 {{contiguity = [64], divisibility = [32], constancy = [1], constant_value = <none>}}
  %g = arith.maxsi %r, %s : tensor<64xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [64], constant_value = <none>}}
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %h = arith.minsi %ns, %r : tensor<64xi32>
  tt.return
}
tt.func @casts(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
  %0 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
  %1 = tt.int_to_ptr %0 : i64 -> !tt.ptr<f32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
  %2 = arith.index_cast %n : i32 to index
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
  %3 = arith.index_cast %2 : index to i64
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
  %4 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
  // expected-remark@+1 {{contiguity = [64], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %5 = arith.bitcast %r : tensor<64xi32> to tensor<64xf32>
  %6 = tt.bitcast %r : tensor<64xi32> -> tensor<64xf32>
  tt.return
}
tt.func @unknown(%x: tensor<64x64xi32>, %i: tensor<64x64xi32>, %n: i32) {
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %0 = tt.get_program_id x : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %1 = tt.get_num_programs x : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %2 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
    %s = arith.addi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<64x64xi32>) -> tensor<64xi32>
  // expected-remark@+1 {{contiguity = [1, 1], divisibility = [1, 1], constancy = [1, 1], constant_value = <none>}}
  %3 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %4 = arith.ceildivsi %n, %n : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %5 = arith.floordivsi %n, %n : i32
  tt.return
}
tt.func @hints(%n: i32) {
  // expected-remark@+1 {{contiguity = [1], divisibility = [32], constancy = [1], constant_value = <none>}}
  %0 = arith.muli %n, %n {tt.divisibility = 32 : i32} : i32
  // expected-remark@+1 {{contiguity = [8], divisibility = [16], constancy = [1], constant_value = <none>}}
  %r = tt.splat %n {tt.contiguity = dense<8> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>, tt.constancy = dense<1> : tensor<1xi32>} : i32 -> tensor<64xi32>
  tt.return
}
tt.func @blocks(%c: i1, %n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@+1 {{contiguity = [1], divisibility = [8], constancy = [1], constant_value = 8}}
  %c8 = arith.constant 8 : i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [8], constancy = [1], constant_value = 24}}
  %c24 = arith.constant 24 : i32
  cf.cond_br %c, ^bb1(%n : i32), ^bb1(%c24 : i32)
^bb1(%x: i32):
  // expected-remark@+1 {{contiguity = [1], divisibility = [8], constancy = [1], constant_value = <none>}}
  %0 = arith.addi %x, %c8 : i32
  cf.br ^bb2(%0 : i32)
^bb2(%y: i32):
  // expected-remark@+1 {{contiguity = [1], divisibility = [64], constancy = [1], constant_value = <none>}}
  %1 = arith.muli %y, %c8 : i32
  cf.cond_br %c, ^bb2(%1 : i32), ^bb3
^bb3:
  tt.return
}
