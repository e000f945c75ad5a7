"""Matmuls: single ones, batches, and loops over blocks of the inner dimension."""

from __future__ import annotations

from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.values import EPSILON, FP8, Value

KINDS = ("float32", "float16", "bfloat16", "int8", "float8e5", "float8e4nv", "float16", "float32")


def _depth(b: Builder, dtype: str) -> int:
    return 32 if dtype == "int8" or dtype in FP8 else b.pick((16, 32))


def _is_square(b: Builder) -> bool:
    return len(b.shape) == 2 and min(b.shape) >= 16


def product(b: Builder) -> Value | None:
    """`tl.dot` of tiles, with and without an accumulator."""
    if not _is_square(b):
        return None
    m, n = b.shape
    dtype = b.pick(KINDS)
    k = _depth(b, dtype)
    left, right = b.new_argument(dtype, m * k), b.new_argument(dtype, k * n)
    a = f"tl.load({left.name} + r0[:, None] * {k} + tl.arange(0, {k})[None, :])"
    c = (
        f"tl.load({right.name} + tl.arange(0, {k})[:, None] * {n} + r1[None, :])"
        if b.chance(0.5)
        else f"tl.load({right.name} + tl.arange(0, {k})[:, None] + r1[None, :] * {k})"
        if b.chance(0.5)
        else f"tl.trans(tl.load({right.name} + r1[:, None] * {k} + tl.arange(0, {k})[None, :]))"
    )
    wide = "int32" if dtype == "int8" else "float32"
    acc = b.pick_value(lambda v: v.dtype == wide and v.shape == b.shape) if b.chance(0.5) else None
    added = f", acc={acc.text}" if acc is not None else ""
    bound = 64.0 * k + (acc.bound if acc is not None else 0.0)
    slack = bound * _error(dtype) + (acc.slack if acc is not None else 0.0)
    text = f"tl.dot({a}, {c}{added}{_precision(dtype)}, out_dtype=tl.{wide})"
    b.writer.features.add(f"dot {dtype}")
    return b.reined(b.named(text, wide, b.shape, bound, slack if wide == "float32" else 0.0))


SCALED = {"e4m3": "float8e4nv", "e5m2": "float8e5", "bf16": "bfloat16", "fp16": "float16", "e2m1": "uint8"}
"""The formats of `tl.dot_scaled`, and what operands are loaded as."""


def scaled(b: Builder) -> Value | None:
    """`tl.dot_scaled`: groups of 32 elements along the inner dimension have a power of two in common."""
    if not _is_square(b):
        return None
    m, n = b.shape
    k = b.pick((64, 128))
    formats = [b.pick(list(SCALED)) for _ in range(2)]
    if "fp16" in formats and formats[0] != formats[1]:
        return None
    operands: list[str] = []
    for rows, name, format in ((m, "r0", formats[0]), (n, "r1", formats[1])):
        width = k // 2 if format == "e2m1" else k
        argument = b.new_argument(SCALED[format], rows * width)
        place = f"{name}[:, None] * {width} + tl.arange(0, {width})[None, :]"
        operand = f"tl.load({argument.name} + {place})"
        operands.append(operand if name == "r0" else f"tl.trans({operand})")
        if format in ("bf16", "fp16"):
            operands.append("None")
            continue
        factors = b.new_argument("uint8", rows * (k // 32), "index:3")
        place = f"{name}[:, None] * {k // 32} + tl.arange(0, {k // 32})[None, :]"
        operands.append(f"tl.load({factors.name} + {place}) + 126")
    a, a_scale, c, c_scale = operands
    left, right = (f"'{format}'" for format in formats)
    bound = 256.0 * k
    text = f"tl.dot_scaled({a}, {a_scale}, {left}, {c}, {c_scale}, {right})"
    return b.reined(b.named(text, "float32", b.shape, bound, bound * _error("float8e5")))


def _error(dtype: str) -> float:
    """Return how far two products may be apart, as a part of their bound; Hopper adds up few bits of products of 8
    bits.
    """
    return 2.0**-13 if dtype in FP8 else EPSILON["float32"] * 8


def _precision(dtype: str) -> str:
    return ", input_precision='ieee'" if dtype == "float32" else ""


def product_loop(b: Builder) -> None:
    """The loop of a matmul: pointers that move along the inner dimension, masked at its end, an accumulator."""
    if not _is_square(b):
        return
    m, n = b.shape
    dtype = b.pick(KINDS)
    block, w = _depth(b, dtype), b.writer
    depth = b.integer(1, 4 * block)
    left, right = b.new_argument(dtype, m * depth + 8), b.new_argument(dtype, depth * n + 8)
    p, q, acc, i, ks = (w.name(letter) for letter in "pqcik")
    wide = "int32" if dtype == "int8" else "float32"
    w.line(f"{ks} = tl.arange(0, {block})")
    w.line(f"{p} = {left.name} + r0[:, None] * {depth} + {ks}[None, :]")
    w.line(f"{q} = {right.name} + {ks}[:, None] * {n} + r1[None, :]")
    w.line(f"{acc} = tl.zeros({b.shape_text()}, tl.{wide})")
    count = -(-depth // block)
    ranges = (
        f"range({count})",
        f"tl.range(0, {count}, num_stages={b.integer(1, 4)})",
        f"range(0, tl.minimum(n0, 0) + {count})",
    )
    w.line(f"for {i} in {b.pick(ranges)}:")
    with w.indented():
        w.line(f"a{acc} = tl.load({p}, mask={ks}[None, :] < {depth} - {i} * {block}, other=0.0)")
        w.line(f"b{acc} = tl.load({q}, mask={ks}[:, None] < {depth} - {i} * {block}, other=0.0)")
        w.line(f"{acc} = tl.dot(a{acc}, b{acc}, {acc}{_precision(dtype)}, out_dtype=tl.{wide})")
        w.line(f"{p} += {block}")
        w.line(f"{q} += {block} * {n}")
    bound = 64.0 * depth
    w.features.add("product loop")
    b.remember(Value(acc, wide, b.shape, bound, bound * _error(dtype) if wide == "float32" else 0.0))


def attention(b: Builder) -> None:
    """Two products a step with a softmax between them whose maximum and sum a loop carries."""
    if not _is_square(b):
        return
    m, n = b.shape
    dtype = b.pick(("float32", "float16", "bfloat16", "bfloat16"))
    block, w = b.pick((16, 32, 64)), b.writer
    keys = b.integer(1, 3 * block)
    queries, k, v = (b.new_argument(dtype, count) for count in (m * n, keys * n, keys * n))
    q, top, total, acc, i, c, s, new, p = (w.name(letter) for letter in "qtlcixsnp")
    w.line(f"{q} = tl.load({queries.name} + r0[:, None] * {n} + r1[None, :])")
    w.line(f"{top} = tl.full(({m},), -1e6, tl.float32)")
    w.line(f"{total} = tl.zeros(({m},), tl.float32)")
    w.line(f"{acc} = tl.zeros({b.shape_text()}, tl.float32)")
    w.line(f"for {i} in {b.pick(('range', 'tl.range'))}({-(-keys // block)}):")
    is_causal = b.chance(0.4)
    with w.indented():
        w.line(f"{c} = {i} * {block} + tl.arange(0, {block})")
        for name, matrix in (("k", k), ("v", v)):
            place = f"{matrix.name} + {c}[:, None] * {n} + r1[None, :]"
            w.line(f"{name}{acc} = tl.load({place}, mask={c}[:, None] < {keys}, other=0.0)")
        w.line(f"{s} = tl.dot({q}, tl.trans(k{acc}){_precision(dtype)}) * 0.0625")
        seen = f"({c}[None, :] < {keys})" + (f" & ({c}[None, :] <= r0[:, None])" if is_causal else "")
        w.line(f"{s} = tl.where({seen}, {s}, -1e5)")
        w.line(f"{new} = tl.maximum({top}, tl.max({s}, 1))")
        w.line(f"{p} = tl.exp({s} - {new}[:, None])")
        w.line(f"{total} = {total} * tl.exp({top} - {new}) + tl.sum({p}, 1)")
        w.line(f"{acc} = {acc} * tl.exp({top} - {new})[:, None]")
        w.line(f"{acc} = tl.dot({p}.to(tl.{dtype}), v{acc}, {acc}{_precision(dtype)})")
        w.line(f"{top} = {new}")
    w.features.add("attention")
    made = b.named(f"{acc} / {total}[:, None]", "float32", b.shape, 8.0, 64 * EPSILON[dtype])
    b.remember(made)


def batch(b: Builder) -> Value | None:
    """A product of two batches of matrices."""
    dtype = b.pick(("float16", "float32"))
    m, n, k = 16, 16, b.pick((16, 32))
    left, right = b.new_argument(dtype, 2 * m * k), b.new_argument(dtype, 2 * k * n)
    a, _ = b.index_of((2, m, k))
    c, _ = b.index_of((2, k, n))
    bound = 64.0 * k
    text = f"tl.dot(tl.load({left.name} + {a}), tl.load({right.name} + {c}){_precision(dtype)})"
    made = b.named(text, "float32", (2, m, n), bound, bound * _error(dtype))
    return b.reined(made)
