"""tilewright-opt beside mlir-opt 22: the same inputs and flags give the same output, errors and exit code."""

from __future__ import annotations

import io
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tilewright.tools import opt

MLIR_OPT = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
pytestmark = pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed")

SIGNATURE = "%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>, %x: i32, %m: memref<4xf32>"
ADDITION = "%0 = arith.constant 0 : i32\n  %1 = arith.addi %x, %0 : i32\n  return"

BODIES = {
    "types": "%1 = arith.addi %x, %a : i32\n  return",
    "returned": "return %x : i32",
    "syntax": "%1 = arith.addi %x %x : i32\n  return",
    "no_type": "%1 = arith.addi %x, %x : i33x\n  return",
    "narrow": "%1 = arith.extsi %x : i32 to i16\n  return",
    "matmul": "%0 = linalg.matmul ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%c : tensor<4x4xf32>)"
    " -> tensor<4x4xf32>\n  return",
    "permutation": "%0 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%b : tensor<8x4xf32>) permutation = [1, 1]\n"
    "  return",
    "dims": "%0 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%c : tensor<4x4xf32>) permutation = [1, 0]\n  return",
    "broadcast": "%0 = linalg.broadcast ins(%a : tensor<4x8xf32>) outs(%c : tensor<4x4xf32>) dimensions = [1]\n"
    "  return",
    "reduce": "%0 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%c : tensor<4x4xf32>)"
    " dimensions = [1]\n  return",
    "map": "%0 = linalg.map { arith.addf } ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%a : tensor<4x8xf32>)\n"
    "  return",
    "fill": "%0 = linalg.fill ins(%x : i32) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>\n  return",
    "add": "%0 = linalg.add ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>)"
    " -> tensor<4x4xf32>\n  return",
    "bools": "%t = tensor.empty() : tensor<4xi1>\n  %0 = linalg.sub ins(%t, %t : tensor<4xi1>, tensor<4xi1>)"
    " outs(%t : tensor<4xi1>) -> tensor<4xi1>\n  return",
    "branch": "cf.br ^bb1(%x : i32)\n^bb1:\n  return",
    "bounds": "scf.for %i = %x to %x step %x {\n  }\n  return",
    "no_else": "%p = arith.constant true\n  %r = scf.if %p -> (i32) {\n    scf.yield %x : i32\n  }\n  return",
    "callee": "call @g(%x) : (i32) -> ()\n  return",
    "dominance": "%1 = arith.addi %2, %x : i32\n  %2 = arith.addi %x, %x : i32\n  return",
    "index": "%1 = memref.load %m[%x] : memref<4xf32>\n  return",
    "sizes": "%1 = memref.alloc() : memref<?xf32>\n  return",
    "unregistered": '%1 = "foo.bar"(%x) : (i32) -> i32\n  return',
    "dictionary": "%1 = arith.addi %x, %x {foo = } : i32\n  return",
}
"""Functions with a mistake, one each."""

TEXTS = {
    "empty_function": "func.func @f() {\n}\n",
    "twice": "func.func @f() {\n  return\n}\nfunc.func @f() {\n  return\n}\n",
    "dims_of_maps": "#m = affine_map<(d0) -> (d1)>\nfunc.func private @f(memref<4xf32, #m>)\n",
    "alias": "func.func private @f(memref<4xf32, #m>)\n",
    "type_alias": "func.func private @f(!m)\n",
    "empty": "",
    "operands": 'func.func @f(%x: i32) {\n  %0 = "arith.addi"(%x) : (i32) -> i32\n  return\n}\n',
}

FLAGS = (
    "",
    "--mlir-print-op-generic",
    "--mlir-print-local-scope",
    "--canonicalize",
    "--canonicalize=max-iterations=1 top-down=false",
    "--canonicalize --dump-pass-pipeline",
    "--pass-pipeline=builtin.module(func.func(cse),canonicalize) --dump-pass-pipeline",
    "--cse --mlir-print-ir-before-all",
    "--cse --canonicalize --mlir-print-ir-after=canonicalize",
    "--cse --mlir-print-ir-after-all --mlir-print-ir-after-change",
    "--pass-pipeline=builtin.module(func.func(cse)) --mlir-print-ir-after-all",
    "--pass-pipeline=builtin.module(func.func(cse)) --mlir-print-ir-after-all --mlir-print-ir-module-scope"
    " --mlir-disable-threading",
    "--verify-roundtrip",
    "--verify-each=false",
    "--symbol-dce",
    "--loop-invariant-code-motion",
)

WRONG_FLAGS = """
--canonicalise
-canonicalise -cse
---cse
--canonicaliz -csee --symbol-dc --mlir-print-ir-afterall --split-input-fil --verify-diagnostic --mlir-timin
--show-dialect --convert-linalg-to-loop --lower-affin --allow-unregistered --mlir-print-op-generi=x
--cse --foo --verify-each=maybe -o
--cse=foo=1
--cse=
--canonicalize=max-iteration=1
--canonicalize=max-iterations=x
'--canonicalize=max-iterations=1 foo bar=2'
--canonicalize=max-iterations=1,top-down=false
--canonicalize={max-iterations=1
--canonicalize=top-down=maybe
--canonicalize=region-simplify=foo
--canonicalize max-iterations=1
--pass-pipeline
--pass-pipeline=builtin.module(foo)
--pass-pipeline=builtin.module(cse
--pass-pipeline=builtin.module(cse),cse
--pass-pipeline=builtin.module(cse))
--pass-pipeline=builtin.module(cse,,cse)
'--pass-pipeline=builtin.module(cse canonicalize)'
'--pass-pipeline=builtin.module(cse;canonicalize)'
--pass-pipeline=builtin.module(cse{)
--pass-pipeline=builtin.module(func.func)
--pass-pipeline=builtin.module(func.func(cse)
--pass-pipeline=builtin.module(func.func(cse)canonicalize)
--pass-pipeline=builtin.module(func.func(cse},canonicalize)
--pass-pipeline=builtin.module(func.func(cse,foo))
--pass-pipeline=builtin.module(cse(canonicalise))
--pass-pipeline=builtin.module(canonicalize{max-iteration=1})
--pass-pipeline=builtin.module(canonicalize{max-iterations})
--pass-pipeline=builtin.module(canonicalize{max-iterations=a},cse)
'--pass-pipeline=builtin.module(func.func(canonicalize{top-down=true foo=2}, cse))'
--cse --pass-pipeline=builtin.module(cse)
--pass-pipeline=builtin.module(cse) --pass-pipeline=builtin.module(canonicalize) --dump-pass-pipeline
--split-input-file --cse=foo=1
--mlir-print-ir-after
--mlir-print-ir-after=cse,foo --cse
--mlir-print-ir-before=cs
--mlir-print-ir-after-all=x
--mlir-print-ir-tree-dir
--mlir-elide-elementsattrs-if-larger=x
--mlir-timing-display=foo
--mlir-pass-statistics-display=foo
--verify-diagnostics=only-expectd
--verify-each=
-o /nonexistent/x
no_such_file.mlir
-- no_such_file.mlir
--
"""
"""Mistakes of flags, options and pipelines, one command line each."""

CHECKED = {
    "as_expected": "  // expected-error @+1 {{use of undeclared SSA value name}}\n  %0 = arith.addi %y, %x : i32",
    "pattern": "  // expected-error-re @+1 {{use of {{.*}} SSA}}\n  %0 = arith.addi %y, %x : i32",
    "missing": "  // expected-error @+1 {{nothing like it}}",
    "pointed_at": "  // expected-error @below {{undeclared}}\n  %0 = arith.addi %y, %x : i32",
    "note": "  // expected-note @-1 {{prior use here}}\n  %0 = arith.addf %x, %x : f32\n"
    "  // expected-error @-1 {{prior uses}}",
}


def function(body: str) -> str:
    return f"func.func @f({SIGNATURE}) {{\n  {body}\n}}\n"


def assert_same(text: str, tmp_path: Path, *flags: str) -> None:
    path = tmp_path / "input.mlir"
    path.write_text(text, encoding="utf-8")
    assert MLIR_OPT is not None
    command = ["tilewright-opt", str(path), *flags]  # LLVM's tools go by the name that they are called by
    theirs = subprocess.run(
        command, executable=MLIR_OPT, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL
    )
    out, err = io.StringIO(), io.StringIO()
    status = opt.run([str(path), *flags], io.StringIO(), out, err)
    assert (status, out.getvalue(), err.getvalue()) == (theirs.returncode, theirs.stdout, theirs.stderr)


@pytest.mark.parametrize("name", BODIES)
def test_mistakes_are_reported_alike(name: str, tmp_path: Path) -> None:
    assert_same(function(BODIES[name]), tmp_path)


@pytest.mark.parametrize("name", TEXTS)
def test_odd_texts_are_treated_alike(name: str, tmp_path: Path) -> None:
    assert_same(TEXTS[name], tmp_path)


@pytest.mark.parametrize("flags", FLAGS)
def test_flags_mean_the_same(flags: str, tmp_path: Path) -> None:
    words = [f"--{word}" for word in f" {flags}".split(" --")[1:]]
    assert_same(function(ADDITION), tmp_path, *words)


@pytest.mark.parametrize("flags", WRONG_FLAGS.split("\n")[1:-1])
def test_wrong_command_lines_are_reported_alike(flags: str, tmp_path: Path) -> None:
    assert_same(function(ADDITION), tmp_path, *shlex.split(flags))


def test_wrong_pipelines_are_reported_once_the_input_is_read(tmp_path: Path) -> None:
    flags = ("--split-input-file", "--pass-pipeline=builtin.module(foo)")
    assert_same("func.func @f() {\n  retur\n}\n// -----\nfunc.func @g() {\n  return\n}\n", tmp_path, *flags)


@pytest.mark.parametrize("name", CHECKED)
def test_expectations_are_checked_alike(name: str, tmp_path: Path) -> None:
    text = f"func.func @f(%x: i32) {{\n{CHECKED[name]}\n  return\n}}\n"
    assert_same(text, tmp_path, "--verify-diagnostics")


def test_parts_of_a_file_go_on_after_an_error(tmp_path: Path) -> None:
    parts = ["func.func @f() {\n  return\n}\n", "func.func @g() {\n  retur\n}\n", "func.func @h() {\n  return\n}\n"]
    assert_same("// -----\n".join(parts), tmp_path, "--split-input-file")


def test_a_file_of_mistakes_is_reported_alike(tmp_path: Path) -> None:
    mistakes = Path(__file__).with_name("mistakes.mlir").read_text(encoding="utf-8")
    assert_same(mistakes, tmp_path, "--split-input-file")
