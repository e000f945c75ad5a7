"""Pictures of layouts."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tilewright.layouts.distributed import BlockedLayout, SliceLayout
from tilewright.layouts.draw import draw_banks, draw_registers, owners_of, render_svg, render_text, summary
from tilewright.layouts.shared import SwizzledSharedLayout
from tilewright.tools.cli import main

SMALL = BlockedLayout((1, 2), (4, 8), (2, 1), (1, 0))
TEXT = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>"
SHARED = "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>"


def test_owners_follow_the_definition() -> None:
    linear = SMALL.to_linear((16, 16))
    owners = owners_of(linear)
    assert len(owners) == 256
    for element, places in owners.items():
        for place in places:
            index = {"register": place.register, "lane": place.lane, "warp": place.warp, "block": place.block}
            assert linear.apply(index) == {"dim0": element // 16, "dim1": element % 16}


def test_register_table() -> None:
    (picture,) = draw_registers(SMALL.to_linear((8, 16)))
    lines = render_text(picture).splitlines()
    assert lines[0] == "[:8][:16]"
    assert lines[1].split() == [f"T{lane}:{register}" for lane in range(8) for register in range(2)]
    assert lines[5].split()[0] == "T32:0"
    assert render_text(picture, max_rows=1, max_columns=2).splitlines()[1:] == ["T0:0 T0:1 ...", "..."]


def test_elements_held_twice_are_marked() -> None:
    (picture,) = draw_registers(SliceLayout(1, SMALL).to_linear((8,)))
    assert picture.cells[0][0].label == "T0:0+" and "lane 7" in picture.cells[0][0].title
    assert "repeats  lane bits 0b111" in summary(SliceLayout(1, SMALL).to_linear((8,)))


def test_a_picture_per_outer_index() -> None:
    deep = BlockedLayout((1, 1, 2), (1, 4, 8), (2, 1, 1), (2, 1, 0)).to_linear((2, 4, 16))
    assert [picture.caption for picture in draw_registers(deep)] == ["[0][:4][:16]", "[1][:4][:16]"]


def test_bank_table() -> None:
    (picture,) = draw_banks(SwizzledSharedLayout(2, 1, 4, (1, 0)), (4, 8), 32)
    assert [cell.label for cell in picture.cells[0]] == [f"b{c} @{c}" for c in range(8)]
    assert [cell.label for cell in picture.cells[1]][:4] == ["b10 @10", "b11 @11", "b8 @8", "b9 @9"]


def test_svg_is_well_formed() -> None:
    pictures = draw_registers(SMALL.to_linear((8, 16)))
    root = ElementTree.fromstring(render_svg(pictures))
    rectangles = root.findall(".//{http://www.w3.org/2000/svg}rect")
    assert len(rectangles) == 128 and len({rectangle.get("fill") for rectangle in rectangles}) > 32


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["layout", TEXT, "8x16"]) == 0
    assert "T0:0" in capsys.readouterr().out
    assert main(["layout", SHARED, "4x8", "--bits", "32"]) == 0
    assert "b10 @10" in capsys.readouterr().out
    file = tmp_path / "layout.svg"
    assert main(["layout", TEXT, "8x16", "--svg", str(file)]) == 0
    assert file.read_text().startswith("<svg")


@pytest.mark.parametrize(
    "encoding, shape, message",
    [
        (TEXT, "8", "layout of rank 2 on a tensor of rank 1"),
        (TEXT, "8x12", "power of two"),
        (TEXT, "wide", "expected a shape"),
        ("#ttg.blocked<{}>", "8", "missing sizePerThread"),
        ("#ttg.shared_memory", "8", "is not a layout encoding"),
    ],
)
def test_the_command_explains(encoding: str, shape: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["layout", encoding, shape]) == 2
    assert message in capsys.readouterr().err
