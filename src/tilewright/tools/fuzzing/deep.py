"""Tiles of three to five dimensions: what is done to them along any of their dimensions, one thing after the other."""

from __future__ import annotations

from math import prod

from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.values import BOOL, FLOATS, INTS, Value

MOST_DIMENSIONS = 5


def chain(b: Builder) -> Value | None:
    """A tile at a higher rank, through a few steps; back at the tile's shape where it still has as many elements."""
    if b.tile < 8:
        return None
    value = _start(b)
    for _ in range(b.integer(2, 5)):
        value = _step(b, value) or value
    if value.size == b.tile and b.chance(0.7):
        return _made(b, f"tl.reshape({value.text}, {b.shape_text()})", value, b.shape)
    return value


def _start(b: Builder) -> Value:
    """A tile that is there, reshaped, or one that is loaded at its rank: dimensions in any order, masked or not."""
    shape = _cut(b)
    found = b.operand()
    if found is not None and b.chance(0.5):
        return _made(b, f"tl.reshape({found.text}, {b.shape_text(shape)})", found, shape)
    dtype = b.pick((*INTS, *FLOATS))
    argument = b.new_argument(dtype, prod(shape))
    place = _place(b, shape)
    masked = b.pick(("", f", mask={_condition(b, shape)}, other=1"))
    b.writer.features.add("deep load")
    return b.named(f"tl.load({argument.name} + {place}{masked})", dtype, shape, 8.0)


def _cut(b: Builder) -> tuple[int, ...]:
    """The elements of a tile as extents of 3 to 5 dimensions, some of which may be 1."""
    extents = [1] * b.integer(3, MOST_DIMENSIONS)
    left = b.tile
    while left > 1:
        extents[b.integer(0, len(extents) - 1)] *= 2
        left //= 2
    return tuple(extents)


def index_along(shape: tuple[int, ...], dim: int) -> str:
    """The index of one dimension, with the others' extents 1."""
    place = ", ".join(":" if axis == dim else "None" for axis in range(len(shape)))
    return f"tl.arange(0, {shape[dim]})[{place}]"


def _place(b: Builder, shape: tuple[int, ...]) -> str:
    """An offset in memory for each element, the dimensions in any order there."""
    parts: list[str] = []
    step = 1
    for dim in b.random.sample(range(len(shape)), len(shape)):
        parts.append(f"{index_along(shape, dim)} * {step}")
        step *= shape[dim]
    return " + ".join(parts)


def _condition(b: Builder, shape: tuple[int, ...]) -> str:
    """A mask along one dimension or two."""
    parts = [
        f"({index_along(shape, dim)} {b.pick(('<', '>='))} {b.pick((str(b.integer(0, shape[dim])), 'n0', 'n1'))})"
        for dim in b.random.sample(range(len(shape)), b.integer(1, 2))
    ]
    return " & ".join(parts)


def _made(b: Builder, text: str, value: Value, shape: tuple[int, ...]) -> Value:
    return b.named(f"({text}).to(tl.{value.dtype})", value.dtype, shape, value.bound, value.slack)


def _step(b: Builder, value: Value) -> Value | None:
    shape, text, rank = value.shape, value.text, len(value.shape)
    axis = b.integer(0, rank - 1)
    kind = b.pick(
        ("permute", "reduce", "centre", "scan", "flip", "index", "choose", "sort", "gather", "regroup", "halve")
    )
    b.writer.features.add(f"deep {kind}")
    match kind:
        case "permute":
            order = tuple(b.random.sample(range(rank), rank))
            return _made(b, f"tl.permute({text}, {b.shape_text(order)})", value, tuple(shape[dim] for dim in order))
        case "reduce" if rank > 2:
            rest = shape[:axis] + shape[axis + 1 :]
            return _made(b, f"tl.{_extreme(b, value)}({text}, {axis})", value, rest)
        case "centre":
            return _centre(b, value, axis)
        case "scan":
            return _scan(b, value, axis)
        case "flip" if shape[axis] > 1:
            return _made(b, f"tl.flip({text}, {axis})", value, shape)
        case "index":
            index = f"({index_along(shape, axis)} + {b.pick(('0', 'pid', 'n0'))})"
            other = f"({text} ^ {index})" if not value.is_float else f"tl.where({index} % 2 == 0, {text}, -{text})"
            return _made(b, other, value, shape)
        case "choose":
            return _made(b, f"tl.where({_condition(b, shape)}, {text}, {b.constant(value.dtype)})", value, shape)
        case "sort" if value.is_exact and shape[-1] > 1 and value.dtype != "bfloat16":
            return _made(b, f"tl.sort({text}, descending={b.chance(0.5)})", value, shape)
        case "gather":
            other = f"({index_along(shape, axis)} * 3 + {b.pick(('1', 'pid', 'n1'))}) % {shape[axis]}"
            index = f"tl.broadcast_to({other}, {b.shape_text(shape)})"
            return _made(b, f"tl.gather({text}, {index}, {axis})", value, shape)
        case "regroup":
            other = list(shape)
            if axis + 1 < rank and shape[axis] > 1:
                other[axis], other[axis + 1] = other[axis] // 2, other[axis + 1] * 2
            return _made(b, f"tl.reshape({text}, {b.shape_text(tuple(other))})", value, tuple(other))
        case "halve" if shape[-1] > 1 and rank > 2:
            return _halve(b, value)
        case _:
            return None


def _extreme(b: Builder, value: Value) -> str:
    if value.is_float:
        return b.pick(("max", "min"))
    return b.pick(("max", "min", "sum", "xor_sum"))


def _centre(b: Builder, value: Value, axis: int) -> Value:
    """With something of all elements along a dimension."""
    reduced = f"tl.{_extreme(b, value)}({value.text}, {axis}, keep_dims=True)"
    joined = f"tl.minimum({value.text}, {reduced})" if value.is_float else f"{value.text} - {reduced}"
    return _made(b, joined, value, value.shape)


def _scan(b: Builder, value: Value, axis: int) -> Value | None:
    if value.dtype == "bfloat16":  # maxima of which are float32, which is another type than what is combined
        return None
    reverse = b.pick(("", ", reverse=True"))
    if not value.is_float and b.chance(0.5):
        return _made(b, f"tl.cumsum({value.text}, {axis}{reverse})", value, value.shape)
    combine = b.writer.function("a, b", f"return tl.{b.pick(('maximum', 'minimum'))}(a, b)")
    return _made(b, f"tl.associative_scan({value.text}, {axis}, {combine}{reverse})", value, value.shape)


def _halve(b: Builder, value: Value) -> Value:
    """Even and odd elements of the last dimension, one of them or both in another order."""
    pairs = (*value.shape[:-1], value.shape[-1] // 2, 2)
    even, odd = b.writer.name("s"), b.writer.name("s")
    b.writer.line(f"{even}, {odd} = tl.split(tl.reshape({value.text}, {b.shape_text(pairs)}))")
    if b.chance(0.5):
        return _made(b, b.pick((even, odd)), value, pairs[:-1])
    joined = f"tl.reshape(tl.join({odd}, {even}), {b.shape_text(value.shape)})"
    return _made(b, joined, value, value.shape)


def store(b: Builder) -> None:
    """A tile of a higher rank to memory and back, its dimensions in any order there."""
    value = b.pick_value(lambda v: len(v.shape) > 2 and v.dtype != BOOL)
    if value is None:
        if b.tile < 8:
            return
        value = _start(b)
    shape = value.shape
    buffer = b.new_argument(value.dtype, prod(shape) * b.programs * b.programs_y, "fill", value.slack)
    masked = b.pick(("", f", mask={_condition(b, shape)}"))
    b.writer.line(f"tl.store({buffer.name} + pid * {prod(shape)} + {_place(b, shape)}, {value.text}{masked})")
    b.writer.features.add("deep store")
