// RUN: tilewright-opt %s --split-input-file --verify-diagnostics
// RUN: not tilewright-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: errors.mlir:[[# @LINE + 3]]:8: error: custom op 'arith.muli2' is unknown{{$}}
// CHECK: errors.mlir:[[# @LINE + 2]]:8: note: did you mean 'arith.muli'?
func.func @unknown_op(%a: i32) {
  %0 = arith.muli2 %a, %a : i32 // expected-error {{custom op 'arith.muli2' is unknown}}
  return
}

// -----

func.func @undefined(%a: i32) {
  %0 = arith.addi %a, %b : i32 // expected-error {{use of undeclared SSA value name}}
  return
}

// -----

func.func @wide_bits() {
  %0 = arith.constant dense<0x1FF800000> : tensor<4xf32> // expected-error {{hexadecimal float constant out of range for type}}
  return
}

// -----

func.func @types(%a: i32, %b: i1) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %0 = "arith.addi"(%a, %b) : (i32, i1) -> i32
  return
}

// -----

func.func @dominance(%a: i32, %p: i1) -> i32 {
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  %0 = arith.addi %a, %a : i32
  cf.br ^bb2
^bb2:
  return %0 : i32 // expected-error {{operand #0 does not dominate this use}}
}

// -----

func.func @cut_off(%a: i32) {
  %0 = arith.addi %a // expected-error {{expected ','}}
  return
}

// -----

func.func @alias() {
  %0 = arith.constant #nowhere // expected-error {{undefined symbol alias id 'nowhere'}}
  return
}

// -----

func.func @dialect() {
  test.op // expected-error {{Dialect `test' not found for custom op 'test.op'}}
  return
}

// -----

func.func @verifier_while_parsing(%x: tensor<4xf32>) {
  %y = arith.addi %x, %x : tensor<4xf32> // expected-error {{'arith.addi' op must be signless-integer-like, but got 'tensor<4xf32>'}}
  return
}

// -----

func.func @twice() { return }
func.func @twice() { return } // expected-error {{redefinition of symbol named 'twice'}}
