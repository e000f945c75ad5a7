"""Reductions, scans and histograms: the library's, and with combine functions of the kernel's own."""

from __future__ import annotations

from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.values import INTS, Value

NARROW = ("int8", "int16", "uint8", "uint16", "float16", "bfloat16")


def reduction(b: Builder) -> Value | None:
    value = b.operand()
    if value is None:
        return None
    axis = b.integer(0, len(b.shape) - 1)
    rest = tuple(extent for dim, extent in enumerate(b.shape) if dim != axis)
    kind = b.pick(("sum", "sum", "max", "min", "xor_sum", "or", "argmax", "argmin", "with index", "own", "pair"))
    b.writer.features.add(f"reduce {kind}")
    match kind:
        case "argmax" | "argmin":
            if not value.is_exact:
                return None
            result = b.named(f"tl.{kind}({value.text}, {axis})", "int32", rest)
        case "with index":
            result = _with_index(b, value, axis, rest)
        case "xor_sum" | "or":
            if value.is_float:
                return None
            name = "xor_sum" if kind == "xor_sum" else "reduce_or"
            result = b.named(f"tl.{name}({value.text}, {axis}).to(tl.{value.dtype})", value.dtype, rest)
        case "sum":
            result = _sum(b, value, axis, rest)
        case "own":
            result = _own_combine(b, value, axis, rest)
        case "pair":
            result = _pair(b, value, axis, rest)
        case _:
            text = f"tl.{kind}({value.text}, {axis}).to(tl.{value.dtype})"
            result = b.named(text, value.dtype, rest, value.bound, value.slack)
    return spread(b, result, axis) if result is not None and b.chance(0.6) else result


def _sum(b: Builder, value: Value, axis: int, rest: tuple[int, ...]) -> Value:
    count = b.shape[axis]
    keeps = b.chance(0.2) and len(b.shape) == 2
    text = f"tl.sum({value.text}, {axis}, keep_dims=True)" if keeps else f"tl.sum({value.text}, {axis})"
    if keeps:
        text = f"tl.reshape({text}, {b.shape_text(rest)})"
    bound = value.bound * count
    slack = value.slack * count + bound * b.epsilon(value.dtype) * (count if value.dtype in NARROW else 4)
    result = b.named(f"{text}.to(tl.{value.dtype})", value.dtype, rest, bound, slack if value.is_float else 0.0)
    return b.reined(result)


def _with_index(b: Builder, value: Value, axis: int, rest: tuple[int, ...]) -> Value | None:
    """The largest or smallest element and where it is first."""
    if not value.is_exact:
        return None
    kind = b.pick(("max", "min"))
    extreme, place = b.writer.name("m"), b.writer.name("k")
    b.writer.line(f"{extreme}, {place} = tl.{kind}({value.text}, {axis}, return_indices=True)")
    b.remember(Value(place, "int32", rest))
    return b.named(f"{extreme}.to(tl.{value.dtype})", value.dtype, rest, value.bound, value.slack)


def _own_combine(b: Builder, value: Value, axis: int, rest: tuple[int, ...]) -> Value | None:
    """`tl.reduce` with a function of the kernel's own: one that takes its operands in any order and grouping."""
    if value.dtype == "bfloat16":  # maxima of which are float32, which is another type than what is combined
        return None
    if value.is_float:
        combine = b.writer.function("a, b", b.pick(("return tl.maximum(a, b)", "return tl.where(a < b, a, b)")))
    else:
        combine = b.writer.function(
            "a, b", b.pick(("return a + b", "return a * b", "return a & b", "return a ^ b ^ 5"))
        )
    text = f"tl.reduce({value.text}, {axis}, {combine}).to(tl.{value.dtype})"
    return b.named(text, value.dtype, rest, value.bound, value.slack)


def _pair(b: Builder, value: Value, axis: int, rest: tuple[int, ...]) -> Value | None:
    """A reduction of two tiles at once: the sum and the largest element."""
    other = b.pick_value(lambda v: v.shape == b.shape and v.dtype in INTS and v.dtype not in NARROW)
    if other is None or value.is_float or value.dtype in NARROW:
        return None
    combine = b.writer.function("a, b, c, d", "return a + c, tl.maximum(b, d)")
    first, second = b.writer.name("p"), b.writer.name("p")
    b.writer.line(f"{first}, {second} = tl.reduce(({value.text}, {other.text}), {axis}, {combine})")
    b.remember(Value(first, value.dtype, rest))
    return Value(second, other.dtype, rest)


def spread(b: Builder, value: Value, axis: int) -> Value:
    """A reduced value back at the tile's shape."""
    if not value.shape:
        text = f"tl.zeros({b.shape_text()}, tl.{value.dtype}) + {value.text}"
    else:
        place = "[None, :]" if axis == 0 else "[:, None]"
        text = f"tl.broadcast_to({value.text}{place}, {b.shape_text()})"
    return b.named(f"({text}).to(tl.{value.dtype})", value.dtype, b.shape, value.bound, value.slack)


def scan(b: Builder) -> Value | None:
    axis = b.integer(0, len(b.shape) - 1)
    reverse = b.pick(("", ", reverse=True"))
    kind = b.pick(("sum", "sum", "product", "own", "pair"))
    b.writer.features.add(f"scan {kind}")
    value = b.pick_value(
        lambda v: v.shape == b.shape and (v.dtype in INTS or (v.dtype == "float32" and kind in ("sum", "own")))
    )
    if value is None:
        return None
    dtype = value.dtype
    match kind:
        case "sum":
            count = b.shape[axis]
            bound = value.bound * count
            slack = value.slack * count + bound * b.epsilon(dtype) * 4 if value.is_float else 0.0
            text = f"tl.cumsum({value.text}, {axis}{reverse}).to(tl.{dtype})"
            return b.reined(b.named(text, dtype, b.shape, bound, slack))
        case "product":
            return b.named(f"tl.cumprod({value.text}, {axis}{reverse}).to(tl.{dtype})", dtype, b.shape)
        case "own":
            combine = b.writer.function("a, b", b.pick(("return tl.maximum(a, b)", "return a", "return b")))
            text = f"tl.associative_scan({value.text}, {axis}, {combine}{reverse}).to(tl.{dtype})"
            return b.named(text, dtype, b.shape, value.bound, value.slack)
        case _:
            return _linear_recurrence(b, value, axis, reverse)


def _linear_recurrence(b: Builder, value: Value, axis: int, reverse: str) -> Value | None:
    """Composition of x -> a x + b: associative, but not commutative."""
    other = b.pick_value(lambda v: v.same_kind(value)) or value
    combine = b.writer.function("a, b, c, d", "return a * c, b * c + d")
    first, second = b.writer.name("p"), b.writer.name("p")
    pair = f"({value.text}, {other.text})"
    b.writer.line(f"{first}, {second} = tl.associative_scan({pair}, {axis}, {combine}{reverse})")
    b.remember(Value(f"{first}.to(tl.{value.dtype})", value.dtype, b.shape))
    return b.named(f"{second}.to(tl.{value.dtype})", value.dtype, b.shape)


def histogram(b: Builder) -> Value | None:
    value = b.pick_value(lambda v: v.shape == b.shape and v.dtype in ("int32", "uint32"))
    if value is None or len(b.shape) != 1:
        return None
    bins = b.pick((2, 16, 32, 128))
    mask = b.pick(("", f", mask={b.lane_condition()}"))
    return b.named(f"tl.histogram({value.text}.to(tl.int32) & {bins - 1}, {bins}{mask})", "int32", (bins,))
