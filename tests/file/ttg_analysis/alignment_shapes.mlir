// RUN: tilewright-opt %s --test-print-alignment --verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {

tt.func @views(%n: i32 {tt.divisibility = 8 : i32}) {
  // expected-remark@+1 {{contiguity = [16]}}
  %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // expected-remark@+1 {{contiguity = [1, 16], divisibility = [1, 1073741824], constancy = [1, 1], constant_value = <none>}}
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  // expected-remark@+1 {{contiguity = [1, 16], divisibility = [1, 1073741824], constancy = [8, 1], constant_value = <none>}}
  %2 = tt.broadcast %1 : tensor<1x16xi32> -> tensor<8x16xi32>
  // expected-remark@+1 {{contiguity = [16, 1], divisibility = [1073741824, 1], constancy = [1, 8], constant_value = <none>}}
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<8x16xi32> -> tensor<16x8xi32>
  // expected-remark@+1 {{contiguity = [1, 1], divisibility = [8, 8], constancy = [4, 4], constant_value = <none>}}
  %4 = tt.splat %n : i32 -> tensor<4x4xi32>
  // expected-remark@+1 {{contiguity = [1, 1], divisibility = [8, 8], constancy = [2, 8], constant_value = <none>}}
  %5 = tt.reshape %4 : tensor<4x4xi32> -> tensor<2x8xi32>
  // Rows of a range count on, columns step by 4.
  // expected-remark@+1 {{contiguity = [1, 4], divisibility = [1, 4], constancy = [1, 1], constant_value = <none>}}
  %6 = tt.reshape %0 : tensor<16xi32> -> tensor<4x4xi32>
  // expected-remark@+1 {{contiguity = [4], divisibility = [4], constancy = [1], constant_value = <none>}}
  %7 = tt.reshape %6 : tensor<4x4xi32> -> tensor<16xi32>
  // expected-remark@+1 {{contiguity = [1, 1], divisibility = [1, 1], constancy = [1, 1], constant_value = <none>}}
  %8 = tt.reshape %0 allow_reorder : tensor<16xi32> -> tensor<4x4xi32>
  // expected-remark@+1 {{contiguity = [16, 1], divisibility = [1073741824, 1], constancy = [1, 1], constant_value = <none>}}
  %9 = tt.join %0, %0 : tensor<16xi32> -> tensor<16x2xi32>
  // expected-remark@+1 {{contiguity = [16], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %10, %11 = tt.split %9 : tensor<16x2xi32> -> tensor<16xi32> // expected-remark {{contiguity = [16]}}
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %12 = tt.cat %0, %0 : tensor<16xi32> -> tensor<32xi32>
  tt.return
}

tt.func @pointers(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %m: tensor<64xi1>) {
  // expected-remark@+1 {{contiguity = [64]}}
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [64], constant_value = <none>}}
  %1 = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  // expected-remark@+1 {{contiguity = [64], divisibility = [16], constancy = [1], constant_value = <none>}}
  %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  // expected-remark@+1 {{constant_value = 3}}
  %c3 = arith.constant 3 : i32
  // An element of two bytes.
  // expected-remark@+1 {{contiguity = [1], divisibility = [2], constancy = [1], constant_value = <none>}}
  %3 = tt.addptr %p, %c3 : !tt.ptr<f16>, i32
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
  %4 = tt.addptr %p, %n : !tt.ptr<f16>, i32
  // Neighbours are no neighbours when elements are smaller.
  // expected-remark@+1 {{contiguity = [1], divisibility = [2], constancy = [1], constant_value = <none>}}
  %5 = tt.bitcast %2 : tensor<64x!tt.ptr<f16>> -> tensor<64x!tt.ptr<i8>>
  // expected-remark@+1 {{contiguity = [64], divisibility = [16], constancy = [1], constant_value = <none>}}
  %6 = tt.bitcast %2 : tensor<64x!tt.ptr<f16>> -> tensor<64x!tt.ptr<i16>>
  // expected-remark@+1 {{contiguity = [1], divisibility = [2], constancy = [1], constant_value = <none>}}
  %7 = tt.ptr_to_int %2 : tensor<64x!tt.ptr<f16>> -> tensor<64xi64>
  // expected-remark@+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
  %8 = tt.ptr_to_int %p : !tt.ptr<f16> -> i64
  tt.return
}

tt.func @loaded(%p: tensor<64x!tt.ptr<i32>> {tt.constancy = 16 : i32}, %m: tensor<64xi1> {tt.constancy = 8 : i32}) {
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [16], constant_value = <none>}}
  %0 = tt.load %p : tensor<64x!tt.ptr<i32>>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [8], constant_value = <none>}}
  %1 = tt.load %p, %m : tensor<64x!tt.ptr<i32>>
  // expected-remark@+1 {{}}
  %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %3 = tt.load %p, %m, %2 : tensor<64x!tt.ptr<i32>>
  tt.return
}

tt.func @block_pointers(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %rows: i64, %stride: i64 {tt.divisibility = 16 : i32}, %i: i32 {tt.divisibility = 32 : i32}) {
  // expected-remark@+1 {{constant_value = 1}}
  %one = arith.constant 1 : i64
  // expected-remark@+1 {{contiguity = [1, 64], divisibility = [2, 16], constancy = [1, 1], constant_value = <none>}}
  %0 = tt.make_tensor_ptr %p, [%rows, %rows], [%stride, %one], [%i, %i] {order = array<i32: 1, 0>} : <tensor<32x64xf16>>
  // expected-remark@+1 {{constant_value = 4}}
  %four = arith.constant 4 : i32
  // expected-remark@+1 {{contiguity = [1, 64], divisibility = [2, 8], constancy = [1, 1], constant_value = <none>}}
  %1 = tt.advance %0, [%i, %four] : <tensor<32x64xf16>>
  tt.return
}

tt.func @layouts(%x: tensor<32x32xi32, #blocked> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[1, 16]> : tensor<2xi32>}) {
  // expected-remark@+1 {{contiguity = [1, 8], divisibility = [1, 16], constancy = [1, 1], constant_value = <none>}}
  %0 = ttg.convert_layout %x : tensor<32x32xi32, #blocked> -> tensor<32x32xi32, #other>
  tt.return
}

tt.func @hints(%x: tensor<64xi32>, %n: i32) {
  // expected-remark@+1 {{constant_value = 1}}
  %one = arith.constant dense<1> : tensor<64xi32>
  // expected-remark@+1 {{contiguity = [16], divisibility = [32], constancy = [1], constant_value = <none>}}
  %0 = arith.addi %x, %one {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<32> : tensor<1xi32>} : tensor<64xi32>
  // What a promise says beyond powers of two helps nobody, nor more elements than there are.
  // expected-remark@+1 {{contiguity = [64], divisibility = [16], constancy = [1], constant_value = <none>}}
  %1 = arith.addi %x, %one {tt.contiguity = dense<128> : tensor<1xi32>, tt.divisibility = dense<48> : tensor<1xi32>} : tensor<64xi32>
  // expected-remark@+1 {{contiguity = [1], divisibility = [1], constancy = [32], constant_value = <none>}}
  %2 = arith.addi %x, %one {tt.constancy = dense<32> : tensor<1xi32>} : tensor<64xi32>
  tt.return
}
}
