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
