// RUN: tilewright-opt %s --triton-narrow-comparisons | filecheck %s

// CHECK-LABEL: @equal
// CHECK: [[M:%[a-z0-9_]+]] = arith.trunci [[N:%[a-z0-9_]+]] : i64 to i32
// CHECK-NEXT: [[BACK:%[a-z0-9_]+]] = arith.extsi [[M]] : i32 to i64
// CHECK-NEXT: [[FITS:%[a-z0-9_]+]] = arith.cmpi eq, [[BACK]], [[N]] : i64
// CHECK-NEXT: [[Y:%[a-z0-9_]+]] = tt.splat [[M]] : i32 -> tensor<8xi32>
// CHECK-NEXT: [[SAME:%[a-z0-9_]+]] = arith.cmpi eq, [[X:%[a-z0-9_]+]], [[Y]] : tensor<8xi32>
// CHECK-NEXT: [[ALL:%[a-z0-9_]+]] = tt.splat [[FITS]] : i1 -> tensor<8xi1>
// CHECK-NEXT: [[HIT:%[a-z0-9_]+]] = arith.andi [[SAME]], [[ALL]] : tensor<8xi1>
// CHECK-NEXT: tt.return [[HIT]]
tt.func @equal(%x: tensor<8xi32>, %n: i64) -> tensor<8xi1> {
  %wide = arith.extsi %x : tensor<8xi32> to tensor<8xi64>
  %y = tt.splat %n : i64 -> tensor<8xi64>
  %hit = arith.cmpi eq, %wide, %y : tensor<8xi64>
  tt.return %hit : tensor<8xi1>
}

// Numbers without a sign, the other way round: what does not fit is different from all.
// CHECK-LABEL: @different
// CHECK: [[M:%[a-z0-9_]+]] = arith.trunci [[N:%[a-z0-9_]+]] : i64 to i8
// CHECK-NEXT: [[BACK:%[a-z0-9_]+]] = arith.extui [[M]] : i8 to i64
// CHECK-NEXT: [[BEYOND:%[a-z0-9_]+]] = arith.cmpi ne, [[BACK]], [[N]] : i64
// CHECK: arith.cmpi ne, {{.*}} : tensor<8xi8>
// CHECK-NEXT: [[ALL:%[a-z0-9_]+]] = tt.splat [[BEYOND]]
// CHECK-NEXT: arith.ori {{%[a-z0-9_]+}}, [[ALL]]
tt.func @different(%x: tensor<8xi8>, %n: i64) -> tensor<8xi1> {
  %wide = arith.extui %x : tensor<8xi8> to tensor<8xi64>
  %y = tt.splat %n : i64 -> tensor<8xi64>
  %hit = arith.cmpi ne, %y, %wide : tensor<8xi64>
  tt.return %hit : tensor<8xi1>
}

// A row and a column: the numbers of the column are looked at before they are broadcast.
// CHECK-LABEL: @row_and_column
// CHECK: [[M:%[a-z0-9_]+]] = arith.trunci [[N:%[a-z0-9_]+]] : tensor<4x1xi64> to tensor<4x1xi32>
// CHECK: [[FITS:%[a-z0-9_]+]] = arith.cmpi eq, {{.*}}, [[N]] : tensor<4x1xi64>
// CHECK: [[SAME:%[a-z0-9_]+]] = arith.cmpi eq, {{.*}} : tensor<4x8xi32>
// CHECK-NEXT: [[ALL:%[a-z0-9_]+]] = tt.broadcast [[FITS]] : tensor<4x1xi1> -> tensor<4x8xi1>
// CHECK-NEXT: arith.andi [[SAME]], [[ALL]]
tt.func @row_and_column(%x: tensor<1x8xi32>, %n: tensor<4x1xi64>) -> tensor<4x8xi1> {
  %wide = arith.extsi %x : tensor<1x8xi32> to tensor<1x8xi64>
  %row = tt.broadcast %wide : tensor<1x8xi64> -> tensor<4x8xi64>
  %column = tt.broadcast %n : tensor<4x1xi64> -> tensor<4x8xi64>
  %hit = arith.cmpi eq, %row, %column : tensor<4x8xi64>
  tt.return %hit : tensor<4x8xi1>
}

// Which is less, of constants: those of numbers without a sign are compared without one.
// CHECK-LABEL: @constants
// CHECK: [[ONE:%[a-z0-9_]+]] = arith.constant dense<1> : tensor<8xi32>
// CHECK-NEXT: arith.cmpi sge, {{%[a-z0-9_]+}}, [[ONE]] : tensor<8xi32>
// CHECK-NEXT: [[MANY:%[a-z0-9_]+]] = arith.constant dense<-56> : tensor<8xi8>
// CHECK-NEXT: arith.cmpi ult, [[MANY]], {{%[a-z0-9_]+}} : tensor<8xi8>
// CHECK: arith.cmpi slt, {{.*}} : tensor<8xi64>
tt.func @constants(%x: tensor<8xi32>, %z: tensor<8xi8>) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %one = arith.constant dense<1> : tensor<8xi64>
  %many = arith.constant dense<200> : tensor<8xi64>
  %beyond = arith.constant dense<5000000000> : tensor<8xi64>
  %wide = arith.extsi %x : tensor<8xi32> to tensor<8xi64>
  %positive = arith.extui %z : tensor<8xi8> to tensor<8xi64>
  %some = arith.cmpi sge, %wide, %one : tensor<8xi64>
  %more = arith.cmpi slt, %many, %positive : tensor<8xi64>
  %all = arith.cmpi slt, %wide, %beyond : tensor<8xi64>
  tt.return %some, %more, %all : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// Others stay: of which number is less, and of two tensors.
// CHECK-LABEL: @others
// CHECK-NOT: arith.trunci
// CHECK: tt.return
tt.func @others(%x: tensor<8xi32>, %z: tensor<8xi64>, %n: i64) -> (tensor<8xi1>, tensor<8xi1>) {
  %wide = arith.extsi %x : tensor<8xi32> to tensor<8xi64>
  %y = tt.splat %n : i64 -> tensor<8xi64>
  %less = arith.cmpi slt, %wide, %y : tensor<8xi64>
  %same = arith.cmpi eq, %wide, %z : tensor<8xi64>
  tt.return %less, %same : tensor<8xi1>, tensor<8xi1>
}
