// RUN: not tilewright-opt %s --canonicalise 2>&1 | filecheck %s --check-prefix=NEAR
// RUN: not tilewright-opt %s --check-stage=tt 2>&1 | filecheck %s --check-prefix=STAGE
// RUN: tilewright-opt %s --check-stage=linalg | filecheck %s
// RUN: not tilewright-opt %s no_such_file.mlir 2>&1 | filecheck %s --check-prefix=TWO
// RUN: not tilewright-opt no_such_file.mlir 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not tilewright-opt %s -p "canonicalize{size=3}" 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not tilewright-opt %s -p "canonicalize{" 2>&1 | filecheck %s --check-prefix=BRACKET
// RUN: tilewright-opt %s --canonicalize --mlir-print-ir-after-all --mlir-timing 2>&1 | filecheck %s --check-prefix=WATCH
// RUN: tilewright-opt %s --canonicalize -o %t
// RUN: tilewright-opt --list-passes | filecheck %s --check-prefix=LIST
// RUN: not tilewright-opt %s --mlir-print-ir-after=no-pass 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: not tilewright-opt %s --cse --mlir-print-ir-tree-dir=/dev/null/x 2>&1 | filecheck %s --check-prefix=FOLDER
// RUN: not tilewright-opt %s -p 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: not tilewright-opt %s --run-reproducer 2>&1 | filecheck %s --check-prefix=NO-REPRODUCER

// NEAR: tilewright-opt: Unknown command line argument '--canonicalise'.  Try: 'tilewright-opt --help'
// NEAR-NEXT: tilewright-opt: Did you mean '--canonicalize'?
// STAGE: command_line.mlir:[[# @LINE + 17]]:1: error: 'func.func': is not legal in stage 'tt'
// TWO: tilewright-opt: Too many positional arguments specified!
// MISSING: {{^}}cannot open input file 'no_such_file.mlir': No such file or directory
// OPTION: <unknown>:0: error: <Pass-Options-Parser>: no such option size
// BRACKET: <unknown>:0: error: MLIR Textual PassPipeline Parser:1:13: error: missing closing '}'
// WATCH: // -----// IR Dump After Canonicalizer (canonicalize) //----- //
// WATCH: ... Execution time report ...
// WATCH: Parser
// WATCH: Canonicalizer
// WATCH: Total
// LIST: --canonicalize
// AFTER: tilewright-opt: for the --mlir-print-ir-after option: Cannot find option named 'no-pass'!
// FOLDER: error: cannot write /dev/null/x: Not a directory
// VALUE: tilewright-opt: for the -p option: requires a value!
// NO-REPRODUCER: the file is not a reproducer

// CHECK: func.func @f(%arg0: i32) -> i32 {
func.func @f(%a: i32) -> i32 {
  return %a : i32
}
