"""Text in and text out: what Triton prints is what we print."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from suite.official_parser import printed_by_triton
from tilewright.dialects import make_context, ttg, ttng
from tilewright.ir.parsing import parse_module
from tilewright.ir.printing import print_op
from tilewright.ir.verify import verify_module
from tilewright.support import knobs

FOLDER = Path(__file__).parents[2] / "file" / "ttg"
OLD_FILES = ("ops", "encodings", "nvidia")
FILES = (*OLD_FILES, "indexed_access", "turns", "roles", "clusters", "inline_asm")
"""Triton 3.6 has the ops of all but the last five."""


def text_of(name: str) -> str:
    lines = (FOLDER / f"{name}.mlir").read_text(encoding="utf-8").split("// EXACT:")[0].splitlines()
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def parse(text: str) -> ModuleOp:
    return parse_module(text, make_context())


def test_every_op_occurs() -> None:
    text = "".join(map(text_of, FILES))
    implied = {"ttg.warp_specialize.partitions", "ttg.local_barrier"}
    assert [op.name for op in (*ttg.OPS, *ttng.OPS) if op.name not in text and op.name not in implied] == []


@pytest.mark.parametrize("name", FILES)
def test_text_is_a_fixed_point(name: str) -> None:
    module = parse(text_of(name))
    verify_module(module)
    assert print_op(module).strip() == text_of(name)


@pytest.mark.parametrize("name", FILES)
def test_generic_form_round_trips(name: str) -> None:
    module = parse(text_of(name))
    again = parse(print_op(module, generic=True))
    verify_module(again)
    assert print_op(again) == print_op(module)


def in_the_oldest_form(*, generic: bool = False) -> list[str]:
    """The files that Triton 3.6 reads, as it writes them."""
    with knobs.scope(triton_version="3.6"):
        return [print_op(parse(text_of(name)), generic=generic).strip() for name in OLD_FILES]


def test_barriers_are_written_as_the_version_does() -> None:
    module = parse("module { tt.func @f() { ttg.barrier local gpu.barrier tt.return } }")
    assert "ttg.barrier local\n    ttg.barrier all\n" in print_op(module)
    with knobs.scope(triton_version="3.6"):
        assert "ttg.local_barrier\n    gpu.barrier\n" in print_op(module)


def test_a_barrier_of_the_linalg_stage_is_upstreams() -> None:
    module = parse("module { func.func @f() { gpu.barrier func.return } }")
    assert "gpu.barrier\n" in print_op(module)


def test_triton_prints_the_same() -> None:
    texts = in_the_oldest_form()
    assert [answer.strip() for answer in printed_by_triton(texts)] == texts


def test_triton_reads_our_generic_form() -> None:
    assert [answer.strip() for answer in printed_by_triton(in_the_oldest_form(generic=True))] == in_the_oldest_form()
