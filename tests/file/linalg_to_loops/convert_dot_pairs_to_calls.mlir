// RUN: tilewright-opt %s --convert-dot-bytes-to-calls | filecheck %s

// Sums of pairs, and sums of these.
// CHECK-LABEL: @pairs
// CHECK: %[[P:.*]] = call @tw_dot_pairs_8xi32(%arg0, %arg1) : (vector<8xi32>, vector<8xi32>) -> vector<16xi16>
// CHECK: call @tw_sum_pairs_16xi16(%[[P]]) : (vector<16xi16>) -> vector<8xi32>
func.func @pairs(%a: vector<8xi32>, %b: vector<8xi32>) -> vector<8xi32> {
  %0 = linalg_ext.dot_pairs %a, %b : vector<8xi32> -> vector<16xi16>
  %1 = linalg_ext.sum_pairs %0 : vector<16xi16> -> vector<8xi32>
  return %1 : vector<8xi32>
}

// Products that are added to a sum have names of their own.
// CHECK-LABEL: @added
// CHECK: %[[A:.*]] = call @tw_dot_bytes_u8_s8_4xi32(%arg0, %arg1) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
// CHECK: call @tw_add_dot_bytes_s8_u8_4xi32(%arg1, %arg0, %[[A]]) : (vector<4xi32>, vector<4xi32>, vector<4xi32>) -> vector<4xi32>
func.func @added(%a: vector<4xi32>, %b: vector<4xi32>) -> vector<4xi32> {
  %0 = linalg_ext.dot_bytes unsigned_lhs %a, %b : vector<4xi32>
  %1 = linalg_ext.dot_bytes unsigned_rhs %b, %a plus %0 : vector<4xi32>
  return %1 : vector<4xi32>
}
