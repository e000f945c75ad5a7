"""Printed lines know where they come from, and values keep their names from print to print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.dialects import make_context
from tilewright.ir.line_places import LastingNames, print_lines
from tilewright.ir.parsing import parse_module
from tilewright.ir.printing import print_op
from tilewright.support.spans import Span

TEXT = """
#map = affine_map<(d0) -> (d0)>
module {
  tt.func public @f(%x: i32, %flag: i1) -> i32 {
    %c1 = arith.constant 1 : i32 loc("k.py":2:1)
    %0 = arith.addi %x, %c1 {m = #map} : i32 loc("k.py":3:7)
    %1 = arith.muli %0, %x : i32 loc(callsite("h.py":9:2 at "k.py":4:5))
    %2:2 = scf.if %flag -> (i32, i32) {
      %4 = arith.subi %1, %x : i32 loc(fused["k.py":5:1, "k.py":6:1])
      scf.yield %4, %1 : i32, i32 loc("k.py":6:1)
    } else {
      scf.yield %x, %x : i32, i32 loc("k.py":7:1)
    } loc("k.py":5:3)
    %5 = arith.addi %2#0, %2#1 : i32 loc(unknown)
    tt.return %5 : i32 loc("k.py":8:1)
  } loc("k.py":1:1)
} loc("k.py":1:1)
"""


def places(text: str) -> dict[str, list[str]]:
    module = parse_module(text, make_context(), "<text>")
    return {line.text.strip(): [str(place) for place in line.places] for line in print_lines(module)}


def test_each_line_has_the_places_of_its_op() -> None:
    found = places(TEXT)
    assert found["%c1_i32 = arith.constant 1 : i32"] == ["k.py:2:1"]
    assert found["%1 = arith.muli %0, %arg0 : i32"] == ["h.py:9:2", "k.py:4:5"]
    assert found["%4 = arith.subi %1, %arg0 : i32"] == ["k.py:5:1", "k.py:6:1"]
    assert found["%2:2 = scf.if %arg1 -> (i32, i32) {"] == ["k.py:5:3"]
    assert found["} else {"] == ["k.py:6:1"], "a line between ops goes with the one before"
    assert found["%3 = arith.addi %2#0, %2#1 : i32"] == []
    assert found["#map = affine_map<(d0) -> (d0)>"] == []


def test_lines_are_those_of_print_op() -> None:
    module = parse_module(TEXT, make_context(), "<text>")
    lines = print_lines(module)
    assert [line.text for line in lines] == print_op(module, names_from_locations=True).splitlines()


def test_values_keep_their_names() -> None:
    """What a pass leaves alone is the same line behind it, although it is numbered anew when printed by itself."""
    module = parse_module(TEXT, make_context(), "<text>")
    names = LastingNames()
    before = {line.text for line in print_lines(module, names.of(module))}
    first = next(op for op in module.walk() if op.name == "arith.addi")
    first.results[0].replace_all_uses_with(first.operands[0])
    first.detach()
    first.erase()
    after = [line.text for line in print_lines(module, names.of(module))]
    gone = [line for line in before if line not in after]
    new = [line for line in after if line not in before]
    assert [line.strip() for line in new] == ["%1 = arith.muli %arg0, %arg0 : i32"]
    assert len(gone) == 3, "the map, the sum, and the product as it was"
    assert "%2:2 = scf.if %arg1 -> (i32, i32) {" in {line.strip() for line in after}
    assert parse_module("\n".join(after), make_context(), "<again>").is_structurally_equivalent(module)


@pytest.mark.parametrize("file", ["softmax", "matmul"])
def test_names_are_ir(file: str) -> None:
    """Texts under lasting names are parsed as any other: names are unique."""
    from tilewright.compiler.stages import lower
    from tilewright.targets.base import find_target
    from tilewright.tools.validation.file_launches import find_launches

    launch = next(find_launches(Path(__file__).parents[3] / "examples" / f"{file}.py")).launch
    names = LastingNames()
    for stage, module in lower(launch.source, launch.options, find_target("cpu")):
        lines = print_lines(module, names.of(module))
        text = "\n".join(line.text for line in lines)
        assert print_op(parse_module(text, make_context(), stage)) == print_op(module)
        assert any(place.filename.endswith(f"{file}.py") for line in lines for place in line.places)


def test_spans_of_a_line() -> None:
    (line,) = [line for line in print_lines(parse_module(TEXT, make_context(), "<t>")) if "muli" in line.text]
    assert line.places == (Span("h.py", 9, 2), Span("k.py", 4, 5))
