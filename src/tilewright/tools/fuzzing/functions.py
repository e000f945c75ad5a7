"""Calls: functions that are inlined or not, specialised on constants, with tuples and defaults."""

from __future__ import annotations

from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.values import Value


def call(b: Builder) -> Value | None:
    """A tile through a function of the kernel's own."""
    value = b.operand()
    if value is None:
        return None
    kind = b.pick(("plain", "constant", "tuple", "nested", "early"))
    b.writer.features.add(f"call {kind}")
    dtype, zero = value.dtype, "0.0" if value.is_float else "0"
    match kind:
        case "plain":
            name = b.writer.function("x, y=1", f"z = x + {zero}\nreturn tl.where(y > 0, z, x)")
            text = b.pick((f"{name}({value.text})", f"{name}(y=n0, x={value.text})"))
        case "constant":
            name = b.writer.function(
                "x, N: tl.constexpr", "for i in tl.static_range(N):\n    x = tl.where(i % 2 == 0, -x, x)\nreturn x"
            )
            if value.dtype.startswith("u"):
                return None
            text = f"{name}({value.text}, {b.integer(0, 3)})"
        case "tuple":
            name = b.writer.function("pair, k", "a, c = pair\nreturn (c, a), k + 1")
            both, number = b.writer.name("t"), b.writer.name("k")
            b.writer.line(f"{both}, {number} = {name}(({value.text}, x0), n0)")
            b.remember(Value(number, "int32"))
            text = f"{both}[1]"
        case "nested":
            inner = b.writer.function("x", "return tl.maximum(x, x)")
            name = b.writer.function("x, f: tl.constexpr", f"return f({inner}(x))")
            text = f"{name}({value.text}, {inner})"
        case _:
            name = b.writer.function("x, y, flag", "if flag > 3:\n    return x\nelse:\n    return y")
            other = b.pick_value(lambda v: v.same_kind(value) and v.slack == value.slack) or value
            bound = max(value.bound, other.bound)
            text = f"{name}({value.text}, {other.text}, n1)"
            return b.named(f"({text}).to(tl.{dtype})", dtype, b.shape, bound, value.slack)
    return b.named(f"({text}).to(tl.{dtype})", dtype, b.shape, value.bound, value.slack)


def distant_call(b: Builder) -> None:
    """A function that stays one: it takes a pointer and numbers, loads, and stores or gives back a number."""
    dtype = b.pick(("int32", "float32", "int16"))
    argument = b.new_argument(dtype, b.tile * b.programs * b.programs_y)
    block = b.pick((8, 16, 64))
    block = min(block, b.tile)
    b.writer.features.add("noinline")
    if b.chance(0.5):
        result = "int32" if dtype != "float32" else "float32"
        body = f"x = tl.load(p + tl.arange(0, {block}))\nreturn tl.max(x, 0).to(tl.{result}) * k"
        name = b.writer.function("p, k", body, "@triton.jit(noinline=True)")
        text = f"{name}({argument.name} + pid * {b.tile}, n0 % 3)"
        b.remember(b.named(f"({text}).to(tl.{result})", result, (), 16.0))
        return
    size = block * b.programs * b.programs_y
    buffer = b.new_argument(dtype, size, "fill")
    body = f"i = tl.arange(0, {block})\ntl.store(q + i, tl.load(p + i, mask=i < n, other=2), mask=i > 0)"
    name = b.writer.function("p, q, n", body, "@triton.jit(noinline=True)")
    b.writer.line(f"{name}({argument.name} + pid * {b.tile}, {buffer.name} + pid * {block}, {b.integer(0, block)})")
