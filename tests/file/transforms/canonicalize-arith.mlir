// Integer arithmetic.
// RUN: tilewright-opt %s --canonicalize --verify-each | exact %s

tt.func public @sums(%x: i32, %y: i64, %v: tensor<4xi32>) -> (i32, i32, i32, i32, i32, i32, i64, tensor<4xi32>) {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %k = arith.constant dense<2> : tensor<4xi32>
  %0 = arith.addi %c3, %x : i32
  %1 = arith.addi %0, %c5 : i32
  %2 = arith.subi %x, %c3 : i32
  %3 = arith.addi %2, %c5 : i32
  %4 = arith.subi %c3, %x : i32
  %5 = arith.subi %c5, %4 : i32
  %6 = arith.addi %4, %c5 : i32
  %7 = arith.subi %2, %c5 : i32
  %8 = arith.muli %x, %c3 : i32
  %9 = arith.muli %8, %c5 : i32
  %10 = arith.addi %x, %c3 overflow<nsw> : i32
  // The sum of the flags is not known: stays.
  %11 = arith.addi %10, %c5 : i32
  %big = arith.constant 9223372036854775807 : i64
  %12 = arith.addi %y, %big : i64
  %13 = arith.addi %12, %big : i64
  %14 = arith.addi %v, %k : tensor<4xi32>
  %15 = arith.addi %14, %k : tensor<4xi32>
  %sum = arith.addi %9, %7 : i32
  tt.return %1, %3, %5, %6, %sum, %11, %13, %15 : i32, i32, i32, i32, i32, i32, i64, tensor<4xi32>
}
tt.func public @logic(%x: i32, %c: i1, %a: f32, %b: f32) -> (i1, i1, f32, i1, f32) {
  %true = arith.constant true
  %false = arith.constant false
  %c9 = arith.constant 9 : i32
  %0 = arith.cmpi slt, %x, %c9 : i32
  %1 = arith.xori %0, %true : i1
  %2 = arith.cmpi ult, %c9, %x : i32
  %3 = arith.xori %c, %true : i1
  %4 = arith.select %3, %a, %b : f32
  %5 = arith.select %c, %false, %true : i1
  %6 = arith.select %c, %a, %b : f32
  %7 = arith.select %c, %6, %a : f32
  tt.return %1, %2, %4, %5, %7 : i1, i1, f32, i1, f32
}
tt.func public @casts(%x: i8, %y: i64) -> (i64, i64, i16, i8, i8, index, i16) {
  %0 = arith.extsi %x : i8 to i32
  %1 = arith.extsi %0 : i32 to i64
  %2 = arith.extui %x : i8 to i32
  %3 = arith.extsi %2 : i32 to i64
  %4 = arith.trunci %1 : i64 to i16
  %5 = arith.trunci %1 : i64 to i8
  %6 = arith.trunci %y : i64 to i32
  %7 = arith.trunci %6 : i32 to i8
  %8 = arith.index_cast %1 : i64 to index
  %9 = arith.extui %0 : i32 to i64
  %10 = arith.trunci %9 : i64 to i16
  tt.return %1, %3, %4, %5, %7, %8, %10 : i64, i64, i16, i8, i8, index, i16
}

// EXACT:
// module {
//   tt.func public @sums(%arg0: i32, %arg1: i64, %arg2: tensor<4xi32>) -> (i32, i32, i32, i32, i32, i32, i64, tensor<4xi32>) {
//     %cst = arith.constant dense<4> : tensor<4xi32>
//     %c-2_i64 = arith.constant -2 : i64
//     %c15_i32 = arith.constant 15 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %c3_i32 = arith.constant 3 : i32
//     %c5_i32 = arith.constant 5 : i32
//     %c8_i32 = arith.constant 8 : i32
//     %0 = arith.addi %arg0, %c8_i32 : i32
//     %1 = arith.addi %arg0, %c2_i32 : i32
//     %2 = arith.addi %arg0, %c2_i32 : i32
//     %3 = arith.subi %c8_i32, %arg0 : i32
//     %4 = arith.subi %arg0, %c8_i32 : i32
//     %5 = arith.muli %arg0, %c15_i32 : i32
//     %6 = arith.addi %arg0, %c3_i32 overflow<nsw> : i32
//     %7 = arith.addi %6, %c5_i32 : i32
//     %8 = arith.addi %arg1, %c-2_i64 : i64
//     %9 = arith.addi %arg2, %cst : tensor<4xi32>
//     %10 = arith.addi %5, %4 : i32
//     tt.return %0, %1, %2, %3, %10, %7, %8, %9 : i32, i32, i32, i32, i32, i32, i64, tensor<4xi32>
//   }
//   tt.func public @logic(%arg0: i32, %arg1: i1, %arg2: f32, %arg3: f32) -> (i1, i1, f32, i1, f32) {
//     %true = arith.constant true
//     %c9_i32 = arith.constant 9 : i32
//     %0 = arith.cmpi sge, %arg0, %c9_i32 : i32
//     %1 = arith.cmpi ugt, %arg0, %c9_i32 : i32
//     %2 = arith.select %arg1, %arg3, %arg2 : f32
//     %3 = arith.xori %arg1, %true : i1
//     tt.return %0, %1, %2, %3, %arg2 : i1, i1, f32, i1, f32
//   }
//   tt.func public @casts(%arg0: i8, %arg1: i64) -> (i64, i64, i16, i8, i8, index, i16) {
//     %0 = arith.extsi %arg0 : i8 to i64
//     %1 = arith.extui %arg0 : i8 to i64
//     %2 = arith.extsi %arg0 : i8 to i16
//     %3 = arith.trunci %arg1 : i64 to i8
//     %4 = arith.index_cast %arg0 : i8 to index
//     %5 = arith.extsi %arg0 : i8 to i16
//     tt.return %0, %1, %2, %arg0, %3, %4, %5 : i64, i64, i16, i8, i8, index, i16
//   }
// }
