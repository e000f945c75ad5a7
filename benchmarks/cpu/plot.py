"""The plot of the benchmark: per row the fraction of the machine's limit that we and PyTorch achieve, as SVG text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

LABEL_WIDTH, BAR_WIDTH, ROW_HEIGHT, TOP = 270, 520, 20, 60
OURS, THEIRS, GRID, INK = "#2b6cb0", "#dd6b20", "#d9dee5", "#2d3748"
MOST = 1.2
"""The right end of the axis; caches can carry a kernel beyond the bandwidth of its footprint."""


def achieved_svg(rows: Sequence[dict[str, Any]]) -> str:
    """A chart of horizontal bars (ours) and marks (PyTorch), one block of rows per number of threads."""
    threads = sorted({row["threads"] for row in rows})
    groups = [[row for row in rows if row["threads"] == count] for count in threads]
    height = TOP + sum(ROW_HEIGHT * (len(group) + 2) for group in groups) + 20
    width = LABEL_WIDTH + BAR_WIDTH + 60
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<text x="12" y="22" font-size="15">Achieved fraction of the measured limit (bandwidth or peak)</text>',
        *_legend(),
    ]
    y = TOP
    for count, group in zip(threads, groups, strict=True):
        lines.append(f'<text x="12" y="{y + 14}" font-weight="bold">{count} thread{"s" if count > 1 else ""}</text>')
        y += ROW_HEIGHT
        lines.extend(_grid(y, ROW_HEIGHT * len(group)))
        for row in group:
            lines.extend(_bar(row, y))
            y += ROW_HEIGHT
        y += ROW_HEIGHT
    return "\n".join([*lines, "</svg>"]) + "\n"


def _place(fraction: float) -> float:
    return LABEL_WIDTH + BAR_WIDTH * min(fraction, MOST) / MOST


def _legend() -> Iterator[str]:
    yield f'<rect x="12" y="34" width="22" height="10" fill="{OURS}"/><text x="40" y="44">tilewright</text>'
    yield f'<circle cx="130" cy="39" r="4" fill="{THEIRS}"/><text x="140" y="44">PyTorch eager</text>'


def _grid(y: int, height: int) -> Iterator[str]:
    for step in range(int(MOST * 5) + 1):
        x = _place(step / 5)
        yield f'<line x1="{x:.1f}" y1="{y}" x2="{x:.1f}" y2="{y + height}" stroke="{GRID}"/>'
        yield f'<text x="{x:.1f}" y="{y - 3}" font-size="10" text-anchor="middle">{step / 5:.1f}</text>'


def _bar(row: dict[str, Any], y: int) -> Iterator[str]:
    end = _place(row["achieved"])
    yield f'<text x="{LABEL_WIDTH - 8}" y="{y + 14}" text-anchor="end">{escape(row["name"])}</text>'
    yield f'<rect x="{LABEL_WIDTH}" y="{y + 4}" width="{end - LABEL_WIDTH:.1f}" height="12" fill="{OURS}"/>'
    yield f'<text x="{_place(MOST) + 6:.1f}" y="{y + 14}" font-size="10">{row["achieved"]:.0%}</text>'
    if "PyTorch" in row["peers_ms"]:
        x = _place(row["limit_ms"] / row["peers_ms"]["PyTorch"])
        yield f'<circle cx="{x:.1f}" cy="{y + 10}" r="4" fill="{THEIRS}"/>'
