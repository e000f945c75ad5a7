"""Matmuls of blocks."""

from __future__ import annotations

import builtins
from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.casts import cast_to, check_fp8_supported
from tilewright.language.context import current, emit
from tilewright.language.creation import constant
from tilewright.language.dtypes import block_of, dtype
from tilewright.language.ir_modules import tt
from tilewright.language.registry import builtin, with_hint
from tilewright.language.shape import reshape_to
from tilewright.language.values import describe, is_block, tensor, unwrap


@builtin
def dot(
    input: tensor,
    other: tensor,
    acc: Any = None,
    input_precision: Any = None,
    allow_tf32: Any = None,
    max_num_imprecise_acc: Any = None,
    out_dtype: Any = None,
) -> tensor:
    """The matmul of two blocks, plus `acc`.

    Shapes [M, K] and [K, N], or with equal leading batch dimensions. dtypes: both equal (or both float8). int8
    accumulates in int32 (there is no product of uint8); float32 and bfloat16 in float32; float64 in float64; float16
    and float8 in `out_dtype`, float32 or float16: by default the dtype of `acc`, else float32. `acc` has the result's
    shape and dtype. `input_precision` ("tf32",
    "tf32x3", "ieee", "bf16x3", "bf16x6", as far as the target offers them) says how float32 inputs are multiplied;
    `allow_tf32` is its older form.

    Raises ValueError for shapes that do not fit or are smaller than the target's minimum, TypeError for dtypes.
    """
    for name, value in {"input": input, "other": other}.items():
        if not is_block(value):
            raise TypeError(f"tl.dot needs blocks; `{name}` is {describe(value)}")
    precision = _input_precision(unwrap(input_precision), unwrap(allow_tf32))
    acc, target = unwrap(acc), unwrap(out_dtype)
    if target is None:
        target = acc.dtype if isinstance(acc, tensor) else dt.float32
    lhs, rhs, collapse = _check_dot_shapes(input, other)
    _check_dot_dtypes(lhs.dtype, rhs.dtype)
    lhs, rhs = _in_machine_format(lhs, rhs)
    result_type = _accumulator_type(lhs.dtype, target)
    extents = [*lhs.extents[:-1], rhs.extents[-1]]
    accumulator = _accumulator(acc, extents, result_type, collapse)
    imprecise = _imprecise_limit(lhs, unwrap(max_num_imprecise_acc))
    op = tt.DotOp(
        lhs.handle, rhs.handle, accumulator.handle, input_precision=precision, max_num_imprecise_acc=imprecise
    )
    product = tensor(emit(op), accumulator.type)
    return reshape_to(product, [*collapse, *extents[-2:]]) if collapse else product


def _input_precision(precision: Any, allow_tf32: Any) -> str:
    options = current().options
    if precision is not None and allow_tf32 is not None:
        raise ValueError("Only one of input_precision and allow_tf32 can be specified")
    if precision is None:
        supports_tf32 = "tf32" in options.allowed_dot_input_precisions
        default = options.default_dot_input_precision
        if allow_tf32 is not None:
            default = "tf32" if allow_tf32 and supports_tf32 else "ieee"
        elif default == "tf32" and not supports_tf32:
            default = "ieee"
        precision = default
    precision = precision.lower()
    if precision not in options.allowed_dot_input_precisions and precision != options.default_dot_input_precision:
        raise ValueError(f"input_precision must be one of {options.allowed_dot_input_precisions}. Got {precision}")
    return precision


def _check_dot_shapes(a: tensor, b: tensor) -> builtins.tuple[tensor, tensor, list[int]]:
    """The operands with at most one batch dimension, and the batch dimensions that were folded into it."""
    rank = len(a.extents)
    if rank != len(b.extents) or rank < 2:
        raise with_hint(
            ValueError(f"Both inputs must be either 2D or 3D; (lhs: {a.extents} vs rhs: {b.extents})"),
            "the dot product of two vectors is `tl.sum(a * b)`; a vector becomes a matrix by `a[:, None]`",
        )
    if a.extents[:-2] != b.extents[:-2]:
        raise ValueError(f"the batch dimensions of the operands differ: {a.extents} and {b.extents}")
    if a.extents[-1] != b.extents[-2]:
        raise with_hint(
            ValueError(
                f"First input shape ({a.extents}) and second input shape {b.extents} are not compatible for matmul "
                f"(second index of first shape ({a.extents[-1]}) must be equal to first index of second shape "
                f"({b.extents[-2]})"
            ),
            "transpose an operand with tl.trans, or check the order of its offsets",
        )
    _check_minimum_size(a, b)
    if rank <= 3:
        return a, b, []
    batch = 1
    for extent in a.extents[:-2]:
        batch *= extent
    folded = [reshape_to(v, [batch, *v.extents[-2:]]) for v in (a, b)]
    return folded[0], folded[1], a.extents[:-2]


def smallest_dot(halves: tuple[int, int, int], bits: int) -> tuple[int, int, int]:
    """The smallest dot (M, N, K) of operands of a width, from that of 16-bit ones: a step along K is as many bytes."""
    m, n, k = halves
    return m, n, max(k * 16 // bits, 1) if k > 1 else k


def _check_minimum_size(a: tensor, b: tensor) -> None:
    m, n, k = smallest_dot(current().options.min_dot_size, a.dtype.primitive_bitwidth)
    if a.extents[-2] < m or b.extents[-1] < n or a.extents[-1] < k:
        raise with_hint(
            ValueError(
                f"Input shapes should have M >= {m}, N >= {n} and K >= {k}, got M={a.extents[-2]}, "
                f"N={b.extents[-1]}, K={a.extents[-1]}"
            ),
            "use larger blocks, padded with a mask",
        )


def _check_dot_dtypes(a: dtype, b: dtype) -> None:
    if a.is_fp8() and b.is_fp8():
        check_fp8_supported(a)
        check_fp8_supported(b)
        return
    known = (dt.int8, dt.float16, dt.bfloat16, dt.float32, dt.float64)
    for ty in (a, b):
        if ty not in known:
            raise TypeError(f"Unsupported dtype {ty} in tl.dot; expected one of {', '.join(map(str, known))} or float8")
    if a != b:
        raise with_hint(
            TypeError(f"Both operands must be same dtype. Got {a} and {b}"),
            f"cast one of them, e.g. `.to(tl.{a.codegen_name()})`",
        )


def _in_machine_format(lhs: tensor, rhs: tensor) -> builtins.tuple[tensor, tensor]:
    """fp8e4b15 is multiplied by no machine: both operands become float16, which has all its values."""
    if not (lhs.dtype.is_fp8e4b15() or rhs.dtype.is_fp8e4b15()):
        return lhs, rhs
    if "fp8e4b15" in current().options.deprecated_fp8_dot_operand_dtypes:
        current().warn(
            "fp8e4b15 operands of tl.dot are deprecated on this target: they are converted to float16, which is slow"
        )
    return cast_to(lhs, dt.float16), cast_to(rhs, dt.float16)


def _accumulator_type(operand: dtype, out_dtype: dtype) -> dtype:
    if operand.is_int():
        return dt.int32
    if out_dtype.is_bf16():
        raise ValueError(
            "out_dtype=bfloat16 is unsupported. Please use out_dtype=float32/float16 and cast with `.to(tl.bfloat16)`"
        )
    if operand.is_fp32() or operand.is_bf16():
        return dt.float32
    if operand.is_fp64():
        return dt.float64
    if out_dtype not in (dt.float16, dt.float32):
        raise ValueError(f"out_dtype must be tl.float32 or tl.float16 for operands of type {operand}, got {out_dtype}")
    return out_dtype


def _accumulator(acc: Any, extents: list[int], ty: dtype, collapse: list[int]) -> tensor:
    block = block_of(ty, builtins.tuple(extents))
    if acc is None:
        return constant(0, block)
    if not isinstance(acc, tensor):
        raise TypeError(f"`acc` must be a block, got {describe(acc)}")
    expected = [*collapse, *extents[-2:]] if collapse else extents
    if acc.extents != expected or acc.dtype != ty:
        raise ValueError(f"`acc` must have shape {expected} and dtype {ty}, got {acc}")
    return reshape_to(acc, extents) if collapse else acc


def _imprecise_limit(lhs: tensor, limit: Any) -> int:
    """Return how many float8 products may be summed at low precision before they are added to the accumulator."""
    if limit is None:
        return current().options.max_num_imprecise_acc_default if lhs.dtype.is_fp8() else 0
    k = lhs.extents[-1]
    if lhs.dtype.is_fp8() and limit > k:
        raise ValueError(f"max_num_imprecise_acc ({limit}) must be <= K ({k})")
    return limit


_SCALED_FORMATS = {
    "e4m3": dt.float8e4nv,
    "e5m2": dt.float8e5,
    "e2m1": dt.uint8,
    "bf16": dt.bfloat16,
    "fp16": dt.float16,
}


def _scaled_operand(value: tensor, fmt: str, name: str) -> tensor:
    """The operand under the type of its format: floats may come as raw bits."""
    if fmt not in _SCALED_FORMATS:
        raise ValueError(f"{name} has unknown format {fmt!r}; expected one of {', '.join(_SCALED_FORMATS)}")
    expected = _SCALED_FORMATS[fmt]
    if value.dtype == expected:
        return value
    raw = dt.uint8 if expected.is_fp8() else dt.uint16
    if fmt != "e2m1" and value.dtype == raw:
        from tilewright.language.casts import bitcast_to

        return bitcast_to(value, expected)
    if fmt == "e2m1" and value.dtype == dt.int8:
        return value
    raise TypeError(f"{name} in format {fmt!r} must have dtype {expected}, got {value.dtype}")


@builtin
def dot_scaled(
    lhs: tensor,
    lhs_scale: Any,
    lhs_format: Any,
    rhs: tensor,
    rhs_scale: Any,
    rhs_format: Any,
    acc: Any = None,
    fast_math: Any = False,
    lhs_k_pack: Any = True,
    rhs_k_pack: Any = True,
    out_dtype: Any = dt.float32,
) -> tensor:
    """Matmul of blocks in microscaling formats, plus `acc`; the result is float32.

    Formats: "e2m1" (two values in each uint8, along K, or along M or N with `lhs_k_pack` or `rhs_k_pack` False),
    "e4m3", "e5m2", "bf16", "fp16". Scales have shapes [M, K / group] and [N, K / group], for groups of 32 or 16
    elements of K; those of dtype uint8 are powers of two (e8m0), those of float8e4nv numbers. Either may be None.
    """
    target = unwrap(out_dtype)
    if target != dt.float32:
        raise ValueError(f"dot_scaled computes in float32; out_dtype={target} is not supported")
    formats = (unwrap(lhs_format).lower(), unwrap(rhs_format).lower())
    scales = [s if isinstance(s, tensor) else None for s in (unwrap(lhs_scale), unwrap(rhs_scale))]
    packs = (bool(unwrap(lhs_k_pack)), bool(unwrap(rhs_k_pack)))
    a, b = _scaled_operand(lhs, formats[0], "lhs"), _scaled_operand(rhs, formats[1], "rhs")
    for fmt, pack, side in zip(formats, packs, ("lhs", "rhs"), strict=True):
        if not pack and fmt != "e2m1":
            raise ValueError(f"only packed e2m1 values can be laid out along M or N; {side} has format {fmt!r}")
    extents = _scaled_shape(a, b, formats, packs)
    _check_scales(scales, extents)
    accumulator = _accumulator(unwrap(acc), [*a.extents[:-2], extents[0], extents[1]], dt.float32, [])
    op = tt.DotScaledOp(
        a.handle,
        b.handle,
        accumulator.handle,
        scales[0].handle if scales[0] is not None else None,
        scales[1].handle if scales[1] is not None else None,
        a_elem_type=formats[0],
        b_elem_type=formats[1],
        fast_math=bool(unwrap(fast_math)),
        lhs_k_pack=packs[0],
        rhs_k_pack=packs[1],
    )
    return tensor(emit(op), accumulator.type)


def _scaled_shape(
    a: tensor, b: tensor, formats: builtins.tuple[str, str], packs: builtins.tuple[bool, bool]
) -> builtins.tuple[int, int, int]:
    """M, N and K in elements."""
    if len(a.extents) != len(b.extents) or len(a.extents) not in (2, 3):
        raise ValueError(f"Both inputs must be either 2D or 3D; (lhs: {a.extents} vs rhs: {b.extents})")
    m, ka = a.extents[-2:]
    kb, n = b.extents[-2:]
    if formats[0] == "e2m1":
        m, ka = (m, ka * 2) if packs[0] else (m * 2, ka)
    if formats[1] == "e2m1":
        kb, n = (kb * 2, n) if packs[1] else (kb, n * 2)
    if ka != kb:
        raise ValueError(
            f"Reduction dimension should pack the same number of elements; (lhs: {a.extents} vs rhs: {b.extents})"
        )
    return m, n, ka


def _check_scales(scales: list[tensor | None], extents: builtins.tuple[int, int, int]) -> None:
    """ValueError for scales that do not fit. The elements of K that share one follow from the shape, not the dtype."""
    m, n, k = extents
    groups: set[int] = set()
    for scale, rows, side in zip(scales, (m, n), ("lhs", "rhs"), strict=True):
        if scale is None:
            continue
        group = tt.group_of_scale(k, scale.extents[-1])
        if group is None or scale.extents[-2] != rows:
            fitting = " or ".join(f"[..., {rows}, {k // size}]" for size in tt.SCALE_GROUPS)
            raise ValueError(f"{side}_scale must have shape {fitting}. Got {scale.extents}")
        groups.add(group)
    if len(groups) > 1:
        raise ValueError("lhs_scale and rhs_scale must cover the same number of elements each, 32 or 16 of K")
