// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --narrow-byte-sums | filecheck %s

// Bytes of 15 at most: eight products have 16 bits; here are three, and what they are added to.
// CHECK-LABEL: @nibbles
// CHECK: %[[A:.*]] = linalg_ext.dot_pairs %{{.*}}, %arg2 : vector<4xi32> -> vector<8xi16>
// CHECK: %[[B:.*]] = linalg_ext.dot_pairs %{{.*}}, %arg3 : vector<4xi32> -> vector<8xi16>
// CHECK: %[[AB:.*]] = arith.addi %[[A]], %[[B]] : vector<8xi16>
// CHECK: %[[C:.*]] = linalg_ext.dot_pairs %{{.*}}, %arg2 : vector<4xi32> -> vector<8xi16>
// CHECK: %[[ABC:.*]] = arith.addi %[[AB]], %[[C]] : vector<8xi16>
// CHECK: %[[WIDE:.*]] = linalg_ext.sum_pairs %[[ABC]] : vector<8xi16> -> vector<4xi32>
// CHECK: %[[SUM:.*]] = arith.addi %[[WIDE]], %arg4 : vector<4xi32>
// CHECK: return %[[SUM]]
func.func @nibbles(%a: vector<4xi32>, %b: vector<4xi32>, %x: vector<4xi32>, %y: vector<4xi32>, %acc: vector<4xi32>) -> vector<4xi32> {
  %mask = arith.constant 252645135 : i32
  %four = arith.constant 4 : i32
  %m = vector.broadcast %mask : i32 to vector<4xi32>
  %f = vector.broadcast %four : i32 to vector<4xi32>
  %p = arith.andi %a, %m : vector<4xi32>
  %s = arith.shrui %a, %f : vector<4xi32>
  %q = arith.andi %s, %m : vector<4xi32>
  %r = arith.andi %b, %m : vector<4xi32>
  %0 = linalg_ext.dot_bytes unsigned_lhs small_lhs %p, %x : vector<4xi32>
  %1 = arith.addi %0, %acc : vector<4xi32>
  %2 = linalg_ext.dot_bytes unsigned_lhs small_lhs %q, %y : vector<4xi32>
  %3 = arith.addi %2, %1 : vector<4xi32>
  %4 = linalg_ext.dot_bytes unsigned_lhs small_lhs %r, %x : vector<4xi32>
  %5 = arith.addi %4, %3 : vector<4xi32>
  return %5 : vector<4xi32>
}

// Bytes of 63: two products have 16 bits, the third is a sum of its own.
// CHECK-LABEL: @six_bits
// CHECK-COUNT-2: linalg_ext.dot_pairs
// CHECK: linalg_ext.dot_bytes
// CHECK: linalg_ext.sum_pairs
// CHECK: return
func.func @six_bits(%a: vector<4xi32>, %x: vector<4xi32>, %y: vector<4xi32>, %z: vector<4xi32>) -> vector<4xi32> {
  %mask = arith.constant 1061109567 : i32
  %m = vector.broadcast %mask : i32 to vector<4xi32>
  %p = arith.andi %a, %m : vector<4xi32>
  %0 = linalg_ext.dot_bytes unsigned_lhs small_lhs %p, %x : vector<4xi32>
  %1 = linalg_ext.dot_bytes unsigned_lhs small_lhs %p, %y : vector<4xi32>
  %2 = linalg_ext.dot_bytes unsigned_lhs small_lhs %p, %z : vector<4xi32>
  %3 = arith.addi %0, %1 : vector<4xi32>
  %4 = arith.addi %2, %3 : vector<4xi32>
  return %4 : vector<4xi32>
}

// Bytes of 127 leave room for one product; products of signed bytes, and one that is read twice, stay.
// CHECK-LABEL: @left_alone
// CHECK-NOT: linalg_ext.dot_pairs
// CHECK: return
func.func @left_alone(%a: vector<4xi32>, %x: vector<4xi32>, %y: vector<4xi32>) -> (vector<4xi32>, vector<4xi32>, vector<4xi32>) {
  %most = arith.constant 2139062143 : i32
  %n = vector.broadcast %most : i32 to vector<4xi32>
  %p = arith.andi %a, %n : vector<4xi32>
  %0 = linalg_ext.dot_bytes unsigned_lhs small_lhs %p, %x : vector<4xi32>
  %1 = linalg_ext.dot_bytes unsigned_lhs small_lhs %p, %y : vector<4xi32>
  %2 = arith.addi %0, %1 : vector<4xi32>
  %mask = arith.constant 252645135 : i32
  %m = vector.broadcast %mask : i32 to vector<4xi32>
  %q = arith.andi %a, %m : vector<4xi32>
  %3 = linalg_ext.dot_bytes %q, %x : vector<4xi32>
  %4 = linalg_ext.dot_bytes %q, %y : vector<4xi32>
  %5 = arith.addi %3, %4 : vector<4xi32>
  %6 = linalg_ext.dot_bytes unsigned_lhs small_lhs %q, %x : vector<4xi32>
  %7 = linalg_ext.dot_bytes unsigned_lhs small_lhs %q, %y : vector<4xi32>
  %8 = arith.addi %6, %7 : vector<4xi32>
  %9 = arith.addi %8, %6 : vector<4xi32>
  return %2, %5, %9 : vector<4xi32>, vector<4xi32>, vector<4xi32>
}
