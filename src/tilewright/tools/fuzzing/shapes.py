"""Shapes and places: transposes, reshapes, joins and splits, flips, sorts, gathers."""

from __future__ import annotations

from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.values import BOOL, Value


def rearrangement(b: Builder) -> Value | None:
    """One of them, back at the tile's shape where that is easy."""
    value = b.pick_value(lambda v: v.shape == b.shape and v.dtype != BOOL)
    if value is None:
        return None
    kind = b.pick(("trans", "reshape", "flip", "interleave", "split", "sort", "ravel", "deep", "broadcast", "cat"))
    text, shape, dtype = value.text, b.shape, value.dtype
    b.writer.features.add(f"shape {kind}")
    match kind:
        case "trans" if len(shape) == 2 and shape[0] == shape[1]:
            return _like(b, value, f"tl.trans({text})")
        case "reshape" if len(shape) == 2:
            other = f"tl.reshape({text}, {b.shape_text((shape[1], shape[0]))})"
            return _like(b, value, f"(tl.reshape({other} + 0, {b.shape_text()})).to(tl.{dtype})")
        case "flip" if shape[-1] > 1:
            return _like(
                b, value, f"tl.flip({text}, {b.integer(0, len(shape) - 1) if min(shape) > 1 else len(shape) - 1})"
            )
        case "interleave" if shape[-1] > 1:
            return _interleaved(b, value)
        case "split":
            return _split(b, value)
        case "sort" if value.is_exact and shape[-1] > 1 and dtype != "bfloat16":
            return _like(b, value, f"tl.sort({text}{b.pick(('', ', descending=True'))})")
        case "ravel" if len(shape) == 2:
            return b.named(f"tl.ravel({text})", dtype, (b.tile,), value.bound, value.slack)
        case "deep" if b.tile >= 8:
            return _deep(b, value)
        case "broadcast" if len(shape) == 2:
            return _broadcast(b, value)
        case "cat" if len(shape) == 1 and value.is_exact and not value.is_float:
            # The order of the result is open: only what does not depend on it is used.
            both = f"tl.sum(tl.cat({text}, {text}, can_reorder=True), 0).to(tl.{dtype})"
            return b.named(both, dtype, ())
        case _:
            return None


def _like(b: Builder, value: Value, text: str) -> Value:
    return b.named(text, value.dtype, value.shape, value.bound, value.slack)


def _interleaved(b: Builder, value: Value) -> Value:
    other = b.pick_value(lambda v: v.same_kind(value)) or value
    wide = (*value.shape[:-1], 2 * value.shape[-1])
    bound, slack = max(value.bound, other.bound), max(value.slack, other.slack)
    return b.named(f"tl.interleave({value.text}, {other.text})", value.dtype, wide, bound, slack)


def _split(b: Builder, value: Value) -> Value:
    """Two tiles joined and taken apart."""
    other = b.pick_value(lambda v: v.same_kind(value)) or value
    first, second = b.writer.name("s"), b.writer.name("s")
    b.writer.line(f"{first}, {second} = tl.split(tl.join({value.text}, {other.text}))")
    chosen, name = b.pick(((value, first), (other, second)))
    return b.named(name, value.dtype, value.shape, chosen.bound, chosen.slack)


def _deep(b: Builder, value: Value) -> Value:
    """Through three dimensions, permuted, and at times reduced along one of them."""
    low = b.pick([n for n in (2, 4, 8) if b.tile // n >= 2])
    middle = b.pick([n for n in (1, 2, 4) if b.tile // low // n >= 1])
    shape = (b.tile // low // middle, middle, low)
    order = b.pick(((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)))
    text = f"tl.permute(tl.reshape({value.text}, {b.shape_text(shape)}), {b.shape_text(order)})"
    permuted = tuple(shape[dim] for dim in order)
    if b.chance(0.5):
        axis = b.integer(0, 2)
        rest = tuple(extent for dim, extent in enumerate(permuted) if dim != axis)
        return b.named(f"tl.max({text}, {axis}).to(tl.{value.dtype})", value.dtype, rest, value.bound, value.slack)
    return _like(b, value, f"tl.reshape({text}, {b.shape_text()})")


def _broadcast(b: Builder, value: Value) -> Value:
    """A row or column of maxima over all rows or columns."""
    axis = b.integer(0, 1)
    text = f"tl.expand_dims(tl.max({value.text}, {axis}), {axis})"
    other = b.shape_text()
    return _like(b, value, f"tl.broadcast_to({text}, {other}).to(tl.{value.dtype})")


def lookup(b: Builder) -> Value | None:
    """`tl.gather` along an axis."""
    value = b.operand()
    if value is None:
        return None
    axis = b.integer(0, len(b.shape) - 1)
    index = f"(({b.permuted_index()}) % {b.shape[axis]})"
    return _like(b, value, f"tl.gather({value.text}, {index}, {axis})")
