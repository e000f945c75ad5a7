"""docs/tour.md: its kernel, its IR and the names of files and functions in it are those of the code."""

from __future__ import annotations

import ast
import re
import runpy
from functools import cache
from pathlib import Path

import pytest

from tilewright import compat
from tilewright.codegen import llvm_backend
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.compiler.stages import lower
from tilewright.ir.printing import print_op
from tilewright.lowering.loops_to_llvm import lower_to_llvm
from tilewright.lowering.loops_to_llvm.types import TypeTable
from tilewright.targets.cpu.entry import emit_entry
from tilewright.targets.cpu.facts import named_facts
from tilewright.targets.cpu.target import CpuTarget
from tilewright.targets.cuda.target import CudaTarget

REPOSITORY = Path(__file__).parents[3]
PACKAGE = REPOSITORY / "src" / "tilewright"
PAGE = (REPOSITORY / "docs" / "tour.md").read_text()
BLOCKS = re.findall(r"^```\w+ (\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
NAMED = re.findall(r"`((?:\w+/)+(?:\w+\.py)?(?::[\w.]+)?)`", PAGE)
MOST_WORDS = 3000


@cache
def stages() -> dict[str, str]:
    """The text of every stage, on a processor with 256-bit vectors and on sm_90."""
    with compat.standing_in():
        kernel = runpy.run_path(str(REPOSITORY / "examples" / "tour.py"))["normalize"]
    types = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = ASTSource(kernel, types, {"BLOCK": 256}, {}, noalias=True)
    texts = {stage: print_op(module) for stage, module in lower(source, CompileOptions(), CudaTarget(90))}
    cpu, module = CpuTarget(named_facts("x86-64-v3")), None
    for stage, reached in lower(source, CompileOptions(), cpu):
        texts[stage], module = print_op(reached), reached
    assert module is not None
    lowered = lower_to_llvm(module, cpu.facts, data_layout=llvm_backend.data_layout(cpu.facts))
    emit_entry(lowered.kernel_name, lowered, TypeTable(cpu.facts))
    return texts | {"llir": str(lowered.text)}


@pytest.mark.parametrize(("stage", "block"), BLOCKS)
def test_the_ir_is_what_the_compiler_prints(stage: str, block: str) -> None:
    """Each line, `...` standing for anything, in the order of the page."""
    lines = iter(stages()[stage].splitlines())
    for wanted in block.splitlines():
        pattern = ".*".join(map(re.escape, wanted.split("...")))
        assert any(re.fullmatch(pattern, line.strip()) for line in lines), f"{stage} has no further line\n{wanted}"


def test_the_kernel_is_that_of_the_example() -> None:
    kernel = re.search(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert kernel is not None and kernel[1] in (REPOSITORY / "examples" / "tour.py").read_text()


@pytest.mark.parametrize("name", sorted(set(NAMED)))
def test_files_and_functions_are_there(name: str) -> None:
    path, _, function = name.partition(":")
    root = REPOSITORY if (REPOSITORY / path).exists() else PACKAGE
    assert (root / path).exists()
    if function:
        defined = ast.parse((root / path).read_text()).body
        for part in function.split("."):
            found = [node for node in defined if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == part]
            assert found, f"{path} has no {function}"
            defined = found[0].body


def test_it_is_a_tour_and_no_manual() -> None:
    assert len(BLOCKS) >= 6 and len(NAMED) >= 20
    assert len(PAGE.split()) <= MOST_WORDS
