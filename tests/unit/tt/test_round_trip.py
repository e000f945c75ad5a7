"""Text in and text out: what Triton prints is what we print."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from suite.official_parser import printed_by_triton
from tilewright.dialects import tt
from tilewright.ir.printing import print_op
from tilewright.ir.verify import verify_module
from tilewright.support import knobs

OPS = Path(__file__).parents[2] / "file" / "tt" / "ops.mlir"


RECENT = OPS.with_name("recent_ops.mlir")


def _module_text() -> str:
    source = OPS.read_text(encoding="utf-8").split("// EXACT:")[0]
    return source[source.index("module {") :].strip()


def test_every_op_occurs() -> None:
    text = _module_text() + RECENT.read_text(encoding="utf-8")
    missing = [op.name for op in tt.OPS if not re.search(rf"{op.name}[ \n\"]", text)]
    assert [name for name in missing if name != "tt.return"] == []


def test_text_is_a_fixed_point(parse: Callable[[str], ModuleOp]) -> None:
    text = _module_text()
    module = parse(text)
    verify_module(module)
    assert print_op(module).strip() == text


def test_generic_form_round_trips(parse: Callable[[str], ModuleOp]) -> None:
    module = parse(_module_text())
    again = parse(print_op(module, generic=True))
    verify_module(again)
    assert print_op(again) == print_op(module)


def _in_the_oldest_form(parse: Callable[[str], ModuleOp], *, generic: bool = False) -> str:
    """The file as Triton 3.6 writes it."""
    with knobs.scope(triton_version="3.6"):
        return print_op(parse(_module_text()), generic=generic).strip()


def test_triton_prints_the_same(parse: Callable[[str], ModuleOp]) -> None:
    text = _in_the_oldest_form(parse)
    assert printed_by_triton([text])[0].strip() == text


def test_triton_reads_our_generic_form(parse: Callable[[str], ModuleOp]) -> None:
    generic = _in_the_oldest_form(parse, generic=True)
    assert printed_by_triton([generic])[0].strip() == _in_the_oldest_form(parse)
