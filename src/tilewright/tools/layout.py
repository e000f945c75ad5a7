"""`tilewright layout`: draws a layout encoding for a shape, in colours on a terminal or as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from tilewright.layouts.draw import Picture, colour, draw_banks, draw_registers, render_svg, render_text, summary
from tilewright.support.errors import ParseError, TilewrightError

if TYPE_CHECKING:
    from xdsl.ir import Attribute

MAX_ROWS, MIN_COLUMNS = 64, 4
MAX_ELEMENTS = 1 << 20


class LayoutError(TilewrightError):
    """A layout that cannot be drawn for the shape."""


def show_layout(encoding: str, shape: str, *, bits: int = 32, svg: str | None = None) -> int:
    """Draw `encoding` (IR text) on a tensor of `shape` (`128x64`); the exit status. Raises LayoutError."""
    text, pictures = _draw(encoding, _parse_shape(shape), bits)
    if svg is not None:
        Path(svg).write_text(render_svg(pictures), encoding="utf-8")
        return 0
    console = Console(highlight=False)
    if text:
        console.print(text)
    for picture in pictures:
        console.print(_coloured(picture, console.width), no_wrap=True, crop=False)
    return 0


def _parse_shape(text: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(part) for part in text.split("x"))
    except ValueError:
        raise LayoutError(f"expected a shape such as 128x64, got '{text}'") from None
    if any(extent <= 0 or extent & (extent - 1) for extent in shape):
        raise LayoutError(f"every extent must be a power of two, got {text}")
    if math.prod(shape) > MAX_ELEMENTS:
        raise LayoutError(
            f"a tensor of {math.prod(shape)} elements is too large to draw; at most {MAX_ELEMENTS} can be"
        )
    return shape


def _draw(encoding: str, shape: tuple[int, ...], bits: int) -> tuple[str, Sequence[Picture]]:
    from tilewright.dialects import make_context
    from tilewright.ir.parsing import parse_module

    try:
        module = parse_module(f"module attributes {{tool.layout = {encoding}}} {{}}", make_context(), "<layout>")
    except ParseError as error:
        raise LayoutError(f"'{encoding}' is not a layout encoding: {error.message}") from error
    drawn = draw_encoding(module.attributes["tool.layout"], shape, bits)
    if drawn is None:
        raise LayoutError(f"'{encoding}' is not a layout encoding")
    return drawn


def draw_encoding(attribute: Attribute, shape: tuple[int, ...], bits: int) -> tuple[str, Sequence[Picture]] | None:
    """A summary and pictures of a layout of a tensor or buffer; None where the attribute is none. Raises LayoutError
    for a shape that it does not fit."""
    from tilewright.dialects.ttg import DistributedEncoding, SharedEncoding

    try:
        if isinstance(attribute, DistributedEncoding):
            linear = attribute.to_linear(shape)
            return summary(linear), draw_registers(linear)
        if isinstance(attribute, SharedEncoding):
            return "", draw_banks(attribute.buffer_layout, shape, bits)
    except ValueError as error:
        raise LayoutError(str(error)) from error
    return None


def _coloured(picture: Picture, width: int) -> Text:
    """The table of `render_text`, each cell on the colour of its group."""
    label = max(len(cell.label) for row in picture.cells[:MAX_ROWS] for cell in row)
    columns = max(MIN_COLUMNS, (width - 4) // (label + 1))
    lines = render_text(picture, max_rows=MAX_ROWS, max_columns=columns).splitlines()
    result = Text(lines[0] + "\n", style="bold")
    for row, line in zip(picture.cells[:MAX_ROWS], lines[1:], strict=False):
        shown = row[:columns]
        wide = len(line.removesuffix(" ...")) // len(shown) + 1
        for index, cell in enumerate(shown):
            piece = line[index * wide : (index + 1) * wide]
            result.append(piece, style=f"black on {colour(cell.group, picture.num_groups)}")
        result.append(line[len(shown) * wide :] + "\n")
    if len(lines) - 1 > len(picture.cells[:MAX_ROWS]):
        result.append(lines[-1])
    return result
