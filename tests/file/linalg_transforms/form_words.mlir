// RUN: tilewright-opt %s --linalg-form-words --canonicalize | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#second3 = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#first3 = affine_map<(d0, d1, d2) -> (d0, d2)>

// Four bits, which a mask keeps below 128, times signed bytes, 32 of them: sums of eight words. The second factor is one
// row for all.
// CHECK-LABEL: @low_bits
// CHECK: %[[Y:.*]] = linalg_ext.as_words %arg1 : tensor<1x32xi8> -> tensor<1x8xi32>
// CHECK: %[[X:.*]] = linalg_ext.as_words %arg0 : tensor<8x32xi8> -> tensor<8x8xi32>
// CHECK: %[[L:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<8x8xi32>)
// CHECK: arith.andi %{{.*}}, %c252645135_i32
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[L]], %[[Y]] : tensor<8x8xi32>, tensor<1x8xi32>)
// CHECK: %[[D:.*]] = linalg_ext.dot_bytes unsigned_lhs small_lhs %{{.*}}, %{{.*}} : i32
// CHECK-NEXT: arith.addi %[[D]]
// CHECK-NOT: muli
func.func @low_bits(%x: tensor<8x32xi8>, %y: tensor<1x32xi8>, %start: tensor<8xi32>) -> tensor<8xi32> {
  %mask = arith.constant dense<15> : tensor<8x32xi8>
  %l = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %mask : tensor<8x32xi8>, tensor<8x32xi8>) outs(%x : tensor<8x32xi8>) {
  ^bb0(%a: i8, %b: i8, %c: i8):
    %0 = arith.andi %a, %b : i8
    linalg.yield %0 : i8
  } -> tensor<8x32xi8>
  %e = tensor.empty() : tensor<8x32xi32>
  %lw = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%l : tensor<8x32xi8>) outs(%e : tensor<8x32xi32>) {
  ^bb0(%a: i8, %b: i32):
    %0 = arith.extui %a : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<8x32xi32>
  %e1 = tensor.empty() : tensor<1x32xi32>
  %yw = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<1x32xi8>) outs(%e1 : tensor<1x32xi32>) {
  ^bb0(%a: i8, %b: i32):
    %0 = arith.extsi %a : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<1x32xi32>
  %yb = linalg.generic {indexing_maps = [#column, #id], iterator_types = ["parallel", "parallel"]} ins(%yw : tensor<1x32xi32>) outs(%e : tensor<8x32xi32>) {
  ^bb0(%a: i32, %b: i32):
    linalg.yield %a : i32
  } -> tensor<8x32xi32>
  %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%lw, %yb : tensor<8x32xi32>, tensor<8x32xi32>) outs(%e : tensor<8x32xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %0 = arith.muli %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<8x32xi32>
  %r = linalg.reduce ins(%p : tensor<8x32xi32>) outs(%start : tensor<8xi32>) dimensions = [1]
    (%a: i32, %b: i32) {
      %0 = arith.addi %a, %b : i32
      linalg.yield %0 : i32
    }
  return %r : tensor<8xi32>
}

// Four bytes are one word: nothing is reduced any more. A shift leaves its bits in their byte; signed bytes both.
// CHECK-LABEL: @one_word
// CHECK: linalg_ext.as_words %arg0 : tensor<8x4xi8> -> tensor<8x1xi32>
// CHECK: arith.shli %{{.*}}, %c2_i32
// CHECK-NEXT: arith.andi %{{.*}}, %c-50529028_i32
// CHECK: iterator_types = ["parallel"]}
// CHECK: %[[D:.*]] = linalg_ext.dot_bytes %{{.*}}, %{{.*}} : i32
// CHECK-NEXT: linalg.yield %[[D]]
func.func @one_word(%x: tensor<8x4xi8>) -> tensor<8xi32> {
  %two = arith.constant dense<2> : tensor<8x4xi8>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %two : tensor<8x4xi8>, tensor<8x4xi8>) outs(%x : tensor<8x4xi8>) {
  ^bb0(%a: i8, %b: i8, %c: i8):
    %0 = arith.shli %a, %b : i8
    linalg.yield %0 : i8
  } -> tensor<8x4xi8>
  %e = tensor.empty() : tensor<8x4xi32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x4xi8>) outs(%e : tensor<8x4xi32>) {
  ^bb0(%a: i8, %b: i32):
    %0 = arith.extsi %a : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<8x4xi32>
  %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %w : tensor<8x4xi32>, tensor<8x4xi32>) outs(%e : tensor<8x4xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %0 = arith.muli %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<8x4xi32>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %r = linalg.reduce ins(%p : tensor<8x4xi32>) outs(%zero : tensor<8xi32>) dimensions = [1]
    (%a: i32, %b: i32) {
      %0 = arith.addi %a, %b : i32
      linalg.yield %0 : i32
    }
  return %r : tensor<8xi32>
}

// Sums of bytes are products with ones; bytes without a sign may be above 127.
// CHECK-LABEL: @sum
// CHECK: linalg_ext.dot_bytes unsigned_lhs %{{.*}}, %c16843009_i32 : i32
func.func @sum(%x: tensor<8x32xi8>, %start: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8x32xi32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x32xi8>) outs(%e : tensor<8x32xi32>) {
  ^bb0(%a: i8, %b: i32):
    %0 = arith.extui %a : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<8x32xi32>
  %r = linalg.reduce ins(%w : tensor<8x32xi32>) outs(%start : tensor<8xi32>) dimensions = [1]
    (%a: i32, %b: i32) {
      %0 = arith.addi %a, %b : i32
      linalg.yield %0 : i32
    }
  return %r : tensor<8xi32>
}

// Left alone: bytes of another dimension than the last are no neighbours, six are no words, and sums are to have 32 bits.
// CHECK-LABEL: @first_dimension
// CHECK-NOT: linalg_ext
func.func @first_dimension(%x: tensor<8x32xi8>, %start: tensor<32xi32>) -> tensor<32xi32> {
  %e = tensor.empty() : tensor<8x32xi32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x32xi8>) outs(%e : tensor<8x32xi32>) {
  ^bb0(%a: i8, %b: i32):
    %0 = arith.extui %a : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<8x32xi32>
  %r = linalg.reduce ins(%w : tensor<8x32xi32>) outs(%start : tensor<32xi32>) dimensions = [0]
    (%a: i32, %b: i32) {
      %0 = arith.addi %a, %b : i32
      linalg.yield %0 : i32
    }
  return %r : tensor<32xi32>
}

// CHECK-LABEL: @six
// CHECK-NOT: linalg_ext
func.func @six(%x: tensor<8x6xi8>, %start: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8x6xi32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x6xi8>) outs(%e : tensor<8x6xi32>) {
  ^bb0(%a: i8, %b: i32):
    %0 = arith.extui %a : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<8x6xi32>
  %r = linalg.reduce ins(%w : tensor<8x6xi32>) outs(%start : tensor<8xi32>) dimensions = [1]
    (%a: i32, %b: i32) {
      %0 = arith.addi %a, %b : i32
      linalg.yield %0 : i32
    }
  return %r : tensor<8xi32>
}

// CHECK-LABEL: @sixteen_bits
// CHECK-NOT: linalg_ext
func.func @sixteen_bits(%x: tensor<8x32xi8>, %start: tensor<8xi16>) -> tensor<8xi16> {
  %e = tensor.empty() : tensor<8x32xi16>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x32xi8>) outs(%e : tensor<8x32xi16>) {
  ^bb0(%a: i8, %b: i16):
    %0 = arith.extui %a : i8 to i16
    linalg.yield %0 : i16
  } -> tensor<8x32xi16>
  %r = linalg.reduce ins(%w : tensor<8x32xi16>) outs(%start : tensor<8xi16>) dimensions = [1]
    (%a: i16, %b: i16) {
      %0 = arith.addi %a, %b : i16
      linalg.yield %0 : i16
    }
  return %r : tensor<8xi16>
}

// The mask is seen through a unit dimension, which the masked bytes have for two rows of the other factor.
// CHECK-LABEL: @low_bits_of_rows
// CHECK-DAG: %[[X:.*]] = linalg_ext.as_words %arg0 : tensor<8x32xi8> -> tensor<8x8xi32>
// CHECK-DAG: %[[Y:.*]] = linalg_ext.as_words %arg1 : tensor<2x32xi8> -> tensor<2x8xi32>
// CHECK: %[[L:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<8x8xi32>)
// CHECK: ins(%[[L]], %[[Y]] : tensor<8x8xi32>, tensor<2x8xi32>)
// CHECK: linalg_ext.dot_bytes unsigned_lhs small_lhs
func.func @low_bits_of_rows(%x: tensor<8x32xi8>, %y: tensor<2x32xi8>, %start: tensor<2x8xi32>) -> tensor<2x8xi32> {
  %mask = arith.constant dense<15> : tensor<8x32xi8>
  %l = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %mask : tensor<8x32xi8>, tensor<8x32xi8>) outs(%x : tensor<8x32xi8>) {
  ^bb0(%a: i8, %b: i8, %c: i8):
    %0 = arith.andi %a, %b : i8
    linalg.yield %0 : i8
  } -> tensor<8x32xi8>
  %one = tensor.expand_shape %l [[0, 1], [2]] output_shape [1, 8, 32] : tensor<8x32xi8> into tensor<1x8x32xi8>
  %e1 = tensor.empty() : tensor<1x8x32xi32>
  %lw = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%one : tensor<1x8x32xi8>) outs(%e1 : tensor<1x8x32xi32>) {
  ^bb0(%a: i8, %b: i32):
    %0 = arith.extui %a : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<1x8x32xi32>
  %e2 = tensor.empty() : tensor<2x32xi32>
  %yw = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<2x32xi8>) outs(%e2 : tensor<2x32xi32>) {
  ^bb0(%a: i8, %b: i32):
    %0 = arith.extsi %a : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<2x32xi32>
  %e = tensor.empty() : tensor<2x8x32xi32>
  %p = linalg.generic {indexing_maps = [#second3, #first3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%lw, %yw : tensor<1x8x32xi32>, tensor<2x32xi32>) outs(%e : tensor<2x8x32xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %0 = arith.muli %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<2x8x32xi32>
  %r = linalg.reduce ins(%p : tensor<2x8x32xi32>) outs(%start : tensor<2x8xi32>) dimensions = [2]
    (%a: i32, %b: i32) {
      %0 = arith.addi %a, %b : i32
      linalg.yield %0 : i32
    }
  return %r : tensor<2x8xi32>
}
