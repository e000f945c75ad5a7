"""`docs/passes.md` says what the docstrings of passes say, and the examples there that are whole are what passes do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, available_passes, available_pipelines, parse_pipeline
from tilewright.ir.printing import print_op
from tilewright.tools.pass_page import SECTIONS, passes_of, render

PAGE = Path(__file__).parents[3] / "docs" / "passes.md"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text() == render(), "run: python -m tilewright.tools.pass_page > docs/passes.md"


def test_every_pass_is_on_the_page_with_ir() -> None:
    listed = [cls for _, _, packages in SECTIONS for cls in passes_of(packages)]
    assert sorted(cls.name for cls in listed) == list(available_passes())
    assert not [cls.name for cls in listed if "```mlir\n" not in (cls.__doc__ or "")]
    assert not [cls.name for cls in listed if not cls.summary().endswith(".")]
    assert not [name for name in available_pipelines() if f"### `--{name}`" not in PAGE.read_text()]


@dataclass(frozen=True)
class Surroundings:
    """What an example leaves out."""

    arguments: str = ""
    """Of the function that the ops stand in; empty where the example has functions of its own."""
    before: str = ""
    """What is used behind the ops of the left side, so that it is not dead: `%0 : i32`."""
    after: str = ""
    """The same of the right side."""
    aliases: str = ""
    function: str = "tt.func public"


BLOCKED = "#ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = [{}], warpsPerCTA = [4, 1], order = [1, 0]}}>"
LAYOUTS = f"""\
#blocked = {BLOCKED.format("1, 32")}
#other = {BLOCKED.format("32, 1")}
#shared = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#smem = #ttg.shared_memory
"""

EXAMPLES = {
    "canonicalize": Surroundings("%n: i32", "%2 : tensor<16x8xi32>", "%0 : tensor<16x8xi32>"),
    "cse": Surroundings("%a: i32, %b: i32", "%2 : i32", "%1 : i32"),
    "dce": Surroundings("%a: i32, %b: i32"),
    "inline": Surroundings(),
    "loop-invariant-code-motion": Surroundings("%a: index, %b: index, %lb: index, %ub: index, %s: index"),
    "remove-dead-values": Surroundings("%lb: index, %ub: index, %s: index, %x: f32, %y: i32, %k: i32"),
    "symbol-dce": Surroundings(),
    "lift-cf-to-scf": Surroundings("%c: i1, %p: !tt.ptr<f32>, %v: f32"),
    "collapse-shape": Surroundings("%c: f32", "%f : tensor<4x8xf32>", "%f : tensor<4x8xf32>", function="func.func"),
    "structured-to-memref": Surroundings("%x: !tt.ptr<f32>, %o: index", "%v : tensor<64xf32>", "%v : tensor<64xf32>"),
    "unstructured-to-memref": Surroundings("%p: !tt.ptr<f32>, %i: i32", "%v : f32", "%v : f32"),
    "triton-arith-to-linalg": Surroundings(),
    "triton-ptr-to-memref": Surroundings(),
    "triton-to-structured": Surroundings("%x: !tt.ptr<f32>, %pid64: i32", "%v : tensor<64xf32>", "%v : tensor<64xf32>"),
    "triton-to-unstructured": Surroundings(
        "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %rows: tensor<64xi32>, %m: tensor<64xi1>, %s: f32",
        "%v : tensor<64xf32>",
        "%v : tensor<64xf32>",
    ),
    "triton-licm": Surroundings(
        "%lb: i32, %ub: i32, %s: i32, %zero: tensor<64xf32>, %p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, "
        "%o: tensor<64xf32>"
    ),
    "triton-combine": Surroundings(
        "%a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %c: tensor<32x32xf32>",
        "%e : tensor<32x32xf32>",
        "%e : tensor<32x32xf32>",
    ),
    "triton-reorder-broadcast": Surroundings(
        "%x: tensor<32x1xf32>, %y: f32", "%2 : tensor<32x64xf32>", "%2 : tensor<32x64xf32>"
    ),
    "triton-loop-aware-cse": Surroundings(
        "%x: i32, %k: i32, %lb: i32, %ub: i32, %s: i32", "%r#0, %r#1 : i32, i32", "%r, %r : i32, i32"
    ),
    "membar": Surroundings(
        "%x: tensor<32x32xf16, #blocked>, %m: !ttg.memdesc<32x32xf16, #shared, #smem, mutable>",
        "%y : tensor<32x32xf16, #other>",
        "%y : tensor<32x32xf16, #other>",
        aliases=LAYOUTS,
    ),
    "reconcile-unrealized-casts": Surroundings(
        "%0: memref<*xf32>", "%2 : memref<*xf32>", "%0 : memref<*xf32>", function="func.func"
    ),
}
"""The examples that are whole but for what is said here."""


def sides(documentation: str) -> tuple[str, str]:
    """The left and the right side of an example."""
    blocks = re.findall(r"```mlir\n(.*?)```", documentation, re.DOTALL)
    if len(blocks) == 1:
        left, _, right = blocks[0].partition("// becomes\n")
        return left, right
    return blocks[0], blocks[1]


def whole(ops: str, around: Surroundings, used: str) -> str:
    """A module of an example's side."""
    if not around.arguments:
        return ops
    leave = "tt.return" if around.function.startswith("tt") else "return"
    values, _, types = used.partition(" : ")
    use = f'"test.keep"({values}) : ({types}) -> ()' if used else ""
    end = "" if leave in ops else leave
    return f"{around.aliases}{around.function} @f({around.arguments}) {{\n{ops}\n{use}\n{end} }}"


def printed(text: str, pipeline: str = "") -> str:
    context = make_context()
    context.allow_unregistered = True
    module = parse_module(text, context, "<example>")
    parse_pipeline(pipeline).run(module, PassContext())
    return print_op(module)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_what_the_pass_does(name: str) -> None:
    around = EXAMPLES[name]
    left, right = sides(available_passes()[name].__doc__ or "")
    given, expected = whole(left, around, around.before), printed(whole(right, around, around.after))
    assert printed(given) != expected
    assert printed(given, name) == expected
