// What users of mlir-opt type out of habit.
// RUN: tilewright-opt %s --mlir-disable-threading -p "builtin.module(func.func(cse))" --dump-pass-pipeline --mlir-pass-statistics -o %t 2>&1 | filecheck %s --check-prefix=PIPELINE
// RUN: tilewright-opt %s --cse --canonicalize --mlir-print-ir-before=canonicalize -o %t 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: tilewright-opt %s -p "func.func(cse)" --mlir-print-ir-before-all --mlir-print-ir-module-scope -o %t 2>&1 | filecheck %s --check-prefix=SCOPE
// RUN: tilewright-opt %s --cse --canonicalize --mlir-print-ir-after-change -o %t 2>&1 | filecheck %s --check-prefix=CHANGED
// RUN: not tilewright-opt %s --cse --linalg-to-loops --mlir-print-ir-after-failure -o %t 2>&1 | filecheck %s --check-prefix=FAILED
// RUN: tilewright-opt %s --verify-roundtrip | filecheck %s --check-prefix=CHECK
// RUN: tilewright-opt %s --mlir-print-local-scope | filecheck %s --check-prefix=LOCAL
// RUN: tilewright-opt %s --mlir-print-skip-regions | filecheck %s --check-prefix=SKIPPED
// RUN: tilewright-opt %s --mlir-elide-elementsattrs-if-larger=2 | filecheck %s --check-prefix=ELIDED
// RUN: not tilewright-opt %s --mlir-elide-elementsattrs-if-larger=few 2>&1 | filecheck %s --check-prefix=NUMBER
// RUN: not tilewright-opt %s --no-implicit-module 2>&1 | filecheck %s --check-prefix=IMPLICIT
// RUN: tilewright-opt %s --split-input-file="// ====" --output-split-marker="// next" | filecheck %s --check-prefix=PARTS
// RUN: tilewright-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: tilewright-opt --version | filecheck %s --check-prefix=VERSION
// RUN: tilewright-opt --help | filecheck %s --check-prefix=HELP
// RUN: not tilewright-opt %s --verify-diagnostics=some 2>&1 | filecheck %s --check-prefix=DIAGNOSTICS

// PIPELINE: Pass Manager with 1 passes:
// PIPELINE-NEXT: builtin.module(
// PIPELINE-NEXT: func.func(
// PIPELINE-NEXT: cse
// PIPELINE: ... Pass statistics report ...
// PIPELINE: num-erased - Number of operations erased

// BEFORE-NOT: IR Dump After
// BEFORE: // -----// IR Dump Before Canonicalizer (canonicalize) //----- //
// BEFORE-NEXT: #map
// BEFORE-NEXT: module {

// SCOPE: IR Dump Before CSE (cse) ('func.func' operation: @f) //----- //
// SCOPE: module {
// SCOPE: IR Dump Before CSE (cse) ('func.func' operation: @g) //----- //

// CHANGED-NOT: (cse)
// CHANGED: IR Dump After Canonicalizer (canonicalize)

// FAILED-NOT: (cse)
// FAILED: IR Dump After LinalgToLoops Failed (linalg-to-loops)

// LOCAL-NOT: #map
// LOCAL: memref<4xf32, affine_map<(d0) -> (d0 * 2)>>
// SKIPPED: module {...}
// ELIDED: arith.constant dense_resource<__elided__> : tensor<4xi32>
// NUMBER: tilewright-opt: for the --mlir-elide-elementsattrs-if-larger option: 'few' value invalid for uint argument!
// IMPLICIT: error: expected one builtin.module at the top level
// PARTS: @f
// PARTS: // next
// PARTS: @g
// DIALECTS: Available Dialects: {{.*}}arith,{{.*}}tt,
// VERSION: tilewright-opt {{[0-9]+}}.
// HELP: --mlir-print-ir-before=PASS,...
// HELP: all passes and pipelines
// HELP: canonicalize
// DIAGNOSTICS: tilewright-opt: for the --verify-diagnostics option: Cannot find option named 'some'!

// CHECK: func.func @f
func.func @f(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  %0 = arith.addi %a, %c : i32
  return %0 : i32
}
// ====
func.func @g(%m: memref<4xf32, affine_map<(d0) -> (d0 * 2)>>) -> tensor<4xi32> {
  %0 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  return %0 : tensor<4xi32>
}
