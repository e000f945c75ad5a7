"""Functions that return at any depth, for tiles and for numbers."""

from __future__ import annotations

from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.values import COMPARISONS

DEEPEST = 2


def returning_function(b: Builder) -> str:
    """A function of two tiles of int32 and two numbers, which gives a tile; returns its name."""
    lines = _block(b, 0)
    lines.append(f"return ({b.pick(('x', 'y', 'x - y'))}).to(tl.int32)")
    b.writer.features.add("returning function")
    return b.writer.function("x, y, n, m", "\n".join(lines))


def _block(b: Builder, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(b.integer(1, 2)):
        lines += _statement(b, depth)
    return lines


def _statement(b: Builder, depth: int) -> list[str]:
    changes = (
        "x = x + y",
        "x = (x + m).to(tl.int32)",
        "y = y - x * 2",
        "x = tl.where(x > n, x, y)",
        "x = tl.maximum(x, m).to(tl.int32)",
    )
    if depth == DEEPEST or b.chance(0.4):
        return [b.pick(changes)]
    if b.chance(0.2):
        return [
            f"for i in range({b.pick(('n % 4', 'm % 3', '2'))}):",
            f"    x = (x + i * {b.integer(1, 3)}).to(tl.int32)",
        ]
    lines = [f"if {_condition(b)}:", *_indented(_branch(b, depth))]
    if b.chance(0.3):
        lines += [f"elif {_condition(b)}:", *_indented(_branch(b, depth))]
    if b.chance(0.4):
        lines += ["else:", *_indented(_branch(b, depth))]
    return lines


def _branch(b: Builder, depth: int) -> list[str]:
    """Statements, and a return at times."""
    lines = _block(b, depth + 1)
    if b.chance(0.6):
        lines.append(f"return ({b.pick(('x', 'y', 'x + y', 'x * 3'))}).to(tl.int32)")
    return lines


def _condition(b: Builder) -> str:
    return f"{b.pick(('n', 'm', 'n + m', 'n % 2'))} {b.pick(COMPARISONS)} {b.integer(0, 9)}"


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
