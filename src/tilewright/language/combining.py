"""Functions that take a function: reductions, scans, element-wise maps.

The combine function is a device function (or a builtin); it is called inside the op's region on scalars, once for the
accumulators and current elements of all operands.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from tilewright.language.context import current, emit_many, emit_void
from tilewright.language.creation import as_tensor, made
from tilewright.language.ir_modules import ir, tt
from tilewright.language.registry import builtin, member, with_hint
from tilewright.language.shape import broadcast_pair, expand_at, reshape_to, wrap_axis
from tilewright.language.values import describe, is_sequence, tensor, tuple, unwrap


def _operands(input: Any, function: str) -> builtins.tuple[list[tensor], bool]:
    """The blocks to combine, and whether they came as a tuple."""
    several = is_sequence(input)
    values = list(input) if several else [input]
    for value in values:
        if not isinstance(value, tensor) or not value.extents:
            raise TypeError(f"tl.{function} needs a block or a tuple of blocks, got {describe(value)}")
        if value.extents != values[0].extents:
            raise ValueError(
                f"all {function} inputs must have the same shape, got {values[0].extents} and {value.extents}"
            )
    return values, several


def call_in_region(function: Any, arguments: Sequence[Any]) -> list[tensor]:
    """Call a device function or builtin on values; its results as a list of tensors."""
    result = current().call(unwrap(function), list(arguments), {})
    results = list(result) if is_sequence(result) else [result]
    return [as_tensor(r, "result of the combine function") for r in results]


def _fill_combine_region(region: Any, values: list[tensor], combine_fn: Any, return_op: Any, function: str) -> None:
    block = region.blocks[0]
    with current().builder.at(block):
        dtypes = [v.dtype for v in values]
        args = [tensor(arg, ty) for arg, ty in zip(block.args, dtypes * 2, strict=True)]
        results = call_in_region(combine_fn, args)
        if len(results) != len(values):
            raise TypeError(
                f"the combine function of tl.{function} must return {len(values)} values, it returns {len(results)}"
            )
        for position, (result, ty) in enumerate(zip(results, dtypes, strict=True)):
            if result.extents or result.dtype != ty:
                raise with_hint(
                    TypeError(
                        f"the combine function of tl.{function} returns {result} where value {position} has type {ty}"
                    ),
                    "every returned value must have the element type of its operand",
                )
        emit_void(return_op([r.handle for r in results]))


@member
@builtin
def reduce(input: Any, axis: Any, combine_fn: Any, keep_dims: Any = False) -> Any:
    """Combine all elements along `axis` (all of the block if None) with an associative, commutative function.

    `input` is a block, or a tuple of N blocks of one shape; `combine_fn` takes N accumulated and N new scalars and
    returns N scalars of the same types. The result drops the axis, or keeps it with extent 1 if `keep_dims`.
    """
    values, several = _operands(input, "reduce")
    axis, keep_dims = unwrap(axis), unwrap(keep_dims)
    rank = len(values[0].extents)
    if axis is None:
        flat = [reshape_to(v, [v.numel.value], allow_reorder=True) for v in values]
        results = _reduce_axis(flat, 0, combine_fn)
        kept = builtins.range(rank)
    else:
        axis = wrap_axis(axis, rank)
        results = _reduce_axis(values, axis, combine_fn)
        kept = [axis]
    if keep_dims:
        for dim in kept:
            results = [expand_at(r, dim) for r in results]
    return tuple(results) if several else results[0]


def _reduce_axis(values: list[tensor], axis: int, combine_fn: Any) -> list[tensor]:
    op = tt.ReduceOp([v.handle for v in values], axis)
    _fill_combine_region(op.combine_op, values, combine_fn, tt.ReduceReturnOp, "reduce")
    handles = emit_many(op)
    return [made(handle, v.dtype) for handle, v in zip(handles, values, strict=True)]


@member
@builtin
def associative_scan(input: Any, axis: Any, combine_fn: Any, reverse: Any = False) -> Any:
    """The running combination of the elements along `axis`, from the end with `reverse`; shapes are kept.

    `input` is a block or a tuple of blocks, `combine_fn` as in `reduce` (associative; it need not be commutative).
    """
    values, several = _operands(input, "associative_scan")
    axis = wrap_axis(axis, len(values[0].extents))
    op = tt.ScanOp([v.handle for v in values], axis, reverse=builtins.bool(unwrap(reverse)))
    _fill_combine_region(op.combine_op, values, combine_fn, tt.ScanReturnOp, "associative_scan")
    results = [tensor(handle, v.type) for handle, v in zip(emit_many(op), values, strict=True)]
    return tuple(results) if several else results[0]


@builtin
def map_elementwise(scalar_fn: Any, *args: Any, pack: Any = 1) -> Any:
    """Apply a function of scalars to each element of the arguments, which are broadcast to one shape.

    `scalar_fn` may use control flow on its scalars; it takes `pack` (a power of two) elements of each argument at a
    time and returns as many of each result: one value, or a tuple. It must not store to memory.
    """
    pack = unwrap(pack)
    if not isinstance(pack, int) or pack <= 0 or pack & (pack - 1):
        raise ValueError(f"pack must be a power of two, got {pack}")
    values = [as_tensor(a, "args") for a in args]
    if not values:
        raise ValueError("map_elementwise needs at least one argument")
    for position in builtins.range(1, len(values)):
        values[0], values[position] = broadcast_pair(values[0], values[position])
    values = [broadcast_pair(v, values[0])[0] for v in values]
    if not values[0].extents:
        raise ValueError("map_elementwise needs a block among its arguments")
    block = ir.Block(arg_types=[v.dtype.to_ir() for v in values for _ in builtins.range(pack)])
    region = ir.Region(block)
    with current().builder.at(block):
        scalars = [v.dtype for v in values for _ in builtins.range(pack)]
        results = call_in_region(scalar_fn, [tensor(a, ty) for a, ty in zip(block.args, scalars, strict=True)])
        if not results or len(results) % pack:
            raise ValueError(f"scalar_fn returns {len(results)} values, expected a multiple of pack={pack}")
        emit_void(tt.MapElementwiseReturnOp([r.handle for r in results]))
    outputs = [r.dtype for r in results[::pack]]
    op = tt.MapElementwiseOp([v.handle for v in values], [ty.to_ir() for ty in outputs], region, pack=pack)
    made = [tensor(h, values[0].type.with_element_ty(ty)) for h, ty in zip(emit_many(op), outputs, strict=True)]
    return made[0] if len(made) == 1 else tuple(made)
