"""`tilewright-opt --show-op`: the places of an op's parts are those of its functions."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import tilewright
from tilewright.tools.opt import run

ROOT = Path(tilewright.__file__).parent


def card_of(name: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return run([f"--show-op={name}"], io.StringIO(), out, err), out.getvalue(), err.getvalue()


@pytest.mark.costly
def test_places_are_where_the_parts_are() -> None:
    status, text, _ = card_of("tt.clampf")
    first, _, table = text.partition("\n\n`%r = tt.clampf")
    assert status == 0 and "min(max(x, low), high)" in first
    rows = [line.split(maxsplit=1) for line in table.splitlines() if "  " in line]
    places = {key: value.split()[-1] for key, value in rows}
    for key, word in {
        "class": "class ClampFOp",
        "meaning": "def clamp(",
        "ttg_to_llvm": "def lower_clampf(",
    }.items():
        file, _, line = places[key].partition(":")
        near = (ROOT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1 : int(line) + 1]
        assert word in "".join(near), (key, near)
    assert "Elementwise" in table and "arith_to_linalg" in places
    assert "language/elementwise.py" in table


def test_an_unknown_op_is_a_wrong_command_line() -> None:
    status, text, error = card_of("tt.clamp")
    assert (status, text) == (1, "")
    assert "unknown op 'tt.clamp'" in error
