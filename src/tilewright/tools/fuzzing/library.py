"""Functions of the language's library: random numbers, the largest elements, softmax, functions of single elements."""

from __future__ import annotations

from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.values import INTS, Value


def draw(b: Builder) -> Value:
    """Random numbers, which are the same everywhere: those of Philox, for a seed and an index."""
    seed, place = b.pick(("n0", "7", "pid")), f"({b.tile_index()} + pid * {b.tile})"
    kind = b.pick(("randint", "randint4x", "rand", "philox"))
    b.writer.features.add(f"random {kind}")
    match kind:
        case "randint":
            return b.named(f"tl.randint({seed}, {place}).to(tl.int32)", "int32", b.shape)
        case "rand":
            # Its last step is a product, which may be added to something without being rounded.
            slack = b.epsilon("float32") if b.fp_fusion else 0.0
            return b.named(f"tl.rand({seed}, {place})", "float32", b.shape, 1.0, slack)
        case _:
            names = [b.writer.name("q") for _ in range(4)]
            call = f"tl.randint4x({seed}, {place})"
            if kind == "philox":
                zero = f"({place} * 0).to(tl.uint32)"
                call = f"tl.philox({seed}, {place}.to(tl.uint32), {zero}, {zero}, {zero})"
            b.writer.line(f"{', '.join(names)} = {call}")
            text = b.pick((names[0], names[3], f"{names[1]} ^ {names[2]}"))
            return b.named(f"({text}).to(tl.int32)", "int32", b.shape)


def largest(b: Builder) -> Value | None:
    """`tl.topk` along the last dimension."""
    value = b.pick_value(lambda v: v.shape == b.shape and v.dtype in (*INTS, "float32", "float16") and v.is_exact)
    if value is None or b.shape[-1] < 4:
        return None
    count = b.pick([n for n in (1, 2, 4, 8, 16) if n < b.shape[-1]])
    shape = (*b.shape[:-1], count)
    return b.named(f"tl.topk({value.text}, {count}).to(tl.{value.dtype})", value.dtype, shape, value.bound)


def softmax(b: Builder) -> Value | None:
    value = b.pick_value(lambda v: v.shape == b.shape and v.dtype == "float32" and v.is_exact)
    if value is None:
        return None
    where = "" if len(b.shape) == 1 else f", dim={b.integer(0, 1)}, keep_dims=True"
    return b.named(f"tl.softmax({value.text}{where})", "float32", b.shape, 1.0, b.epsilon("float32") * 1024)


def by_element(b: Builder) -> Value | None:
    """`tl.map_elementwise` of a function with branches and loops of its own."""
    value = b.pick_value(lambda v: v.shape == b.shape and v.dtype in ("int32", "int64", "float32") and v.is_exact)
    if value is None:
        return None
    other = b.pick_value(lambda v: v.same_kind(value) and v.is_exact) or value
    body = b.pick(
        (
            "if x > y:\n    return x\nelse:\n    return -y",
            "r = x\nif x < y:\n    r = y\nreturn r",
            "r = x\nfor i in range(3):\n    if r < y:\n        r = y - r\nreturn r",
        )
    )
    name = b.writer.function("x, y", body)
    bound = 8 * (value.bound + other.bound)
    text = f"tl.map_elementwise({name}, {value.text}, {other.text})"
    return b.named(f"{text}.to(tl.{value.dtype})", value.dtype, b.shape, bound)


def swizzle(b: Builder) -> Value | None:
    """`tl.swizzle2d` of the tile's indices: another index for each."""
    if len(b.shape) != 2:
        return None
    rows, columns = b.shape
    i, j = b.writer.name("i"), b.writer.name("j")
    group = b.pick((1, 2, 3, rows))
    b.writer.line(f"{i}, {j} = tl.swizzle2d(x0 + x1 * 0, x1 + x0 * 0, {rows}, {columns}, {group})")
    return b.named(f"{i} * {columns} + {j}", "int32", b.shape)
