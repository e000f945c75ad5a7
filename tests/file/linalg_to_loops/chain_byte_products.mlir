// RUN: tilewright-opt %s --chain-byte-products="everywhere=true" | filecheck %s
// RUN: tilewright-opt %s --target=cpu:x86-64-v3 --chain-byte-products | filecheck %s --check-prefix=ALONE

// What is added besides comes last; zero is left out. Machines without the instruction keep their sums.
// CHECK-LABEL: @mixed
// CHECK: %[[A:.*]] = linalg_ext.dot_bytes unsigned_lhs %arg0, %arg2 : vector<4xi32>
// CHECK: %[[B:.*]] = linalg_ext.dot_bytes unsigned_rhs %arg2, %arg1 plus %[[A]] : vector<4xi32>
// CHECK-NEXT: %[[S:.*]] = arith.addi %[[B]], %arg3 : vector<4xi32>
// CHECK-NEXT: return %[[S]]
// ALONE-NOT: plus
func.func @mixed(%a: vector<4xi32>, %b: vector<4xi32>, %x: vector<4xi32>, %acc: vector<4xi32>) -> vector<4xi32> {
  %c0 = arith.constant 0 : i32
  %z = vector.broadcast %c0 : i32 to vector<4xi32>
  %0 = linalg_ext.dot_bytes unsigned_lhs %a, %x : vector<4xi32>
  %1 = arith.addi %0, %acc : vector<4xi32>
  %2 = linalg_ext.dot_bytes unsigned_rhs %x, %b : vector<4xi32>
  %3 = arith.addi %2, %1 : vector<4xi32>
  %4 = arith.addi %3, %z : vector<4xi32>
  return %4 : vector<4xi32>
}

// Two vectors times the same two words: the vectors get 128 more, and what that makes too much is summed once.
// CHECK-LABEL: @signed
// CHECK: %[[BITS:.*]] = vector.broadcast %{{.*}} : i32 to vector<4xi32>
// CHECK: %[[U:.*]] = arith.xori %arg2, %[[BITS]]
// CHECK: %[[P:.*]] = linalg_ext.dot_bytes unsigned_lhs %[[U]], %arg0 : vector<4xi32>
// CHECK: %[[C:.*]] = linalg_ext.dot_bytes unsigned_lhs %[[BITS]], %arg0 : vector<4xi32>
// CHECK: %[[Q:.*]] = linalg_ext.dot_bytes unsigned_lhs %{{.*}}, %arg0 : vector<4xi32>
// CHECK: %[[P2:.*]] = linalg_ext.dot_bytes unsigned_lhs %{{.*}}, %arg1 plus %[[P]] : vector<4xi32>
// CHECK: %[[C2:.*]] = linalg_ext.dot_bytes unsigned_lhs %[[BITS]], %arg1 plus %[[C]] : vector<4xi32>
// CHECK: arith.subi %[[P2]], %[[C2]]
// CHECK: %[[Q2:.*]] = linalg_ext.dot_bytes unsigned_lhs %{{.*}}, %arg1 plus %[[Q]] : vector<4xi32>
// CHECK-NEXT: arith.subi %[[Q2]], %[[C2]]
// CHECK-NOT: dot_bytes
// CHECK: return
func.func @signed(%w: vector<4xi32>, %v: vector<4xi32>, %x: vector<4xi32>, %x2: vector<4xi32>, %y: vector<4xi32>, %y2: vector<4xi32>) -> (vector<4xi32>, vector<4xi32>) {
  %0 = linalg_ext.dot_bytes %w, %x : vector<4xi32>
  %1 = linalg_ext.dot_bytes %w, %y : vector<4xi32>
  %2 = linalg_ext.dot_bytes %v, %x2 : vector<4xi32>
  %3 = arith.addi %2, %0 : vector<4xi32>
  %4 = linalg_ext.dot_bytes %v, %y2 : vector<4xi32>
  %5 = arith.addi %4, %1 : vector<4xi32>
  return %3, %5 : vector<4xi32>, vector<4xi32>
}

// A product that something else reads, one alone, and such of bytes without a sign on both sides are left alone.
// CHECK-LABEL: @left_alone
// CHECK-NOT: plus
// CHECK: return
func.func @left_alone(%a: vector<4xi32>, %b: vector<4xi32>, %acc: vector<4xi32>) -> (vector<4xi32>, vector<4xi32>, vector<4xi32>) {
  %0 = linalg_ext.dot_bytes unsigned_lhs %a, %b : vector<4xi32>
  %1 = linalg_ext.dot_bytes unsigned_lhs %b, %a : vector<4xi32>
  %2 = arith.addi %0, %1 : vector<4xi32>
  %3 = linalg_ext.dot_bytes unsigned_lhs unsigned_rhs %a, %a : vector<4xi32>
  %4 = linalg_ext.dot_bytes unsigned_lhs unsigned_rhs %a, %b : vector<4xi32>
  %5 = arith.addi %3, %4 : vector<4xi32>
  return %2, %5, %0 : vector<4xi32>, vector<4xi32>, vector<4xi32>
}
