"""Different functions for different warps of a CTA."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from tilewright.language.context import current, emit_many, emit_void
from tilewright.language.ir_modules import builtin as builtin_dialect
from tilewright.language.ir_modules import ir, ttg
from tilewright.language.registry import builtin, unwrap_list
from tilewright.language.values import base_value, constexpr, describe, is_sequence, tuple, type_of, unwrap


@builtin
def warp_specialize(functions_and_args: Any, worker_num_warps: Any, worker_num_regs: Any = None) -> Any:
    """Run several functions at once, each on warps of its own; returns what the first returns.

    `functions_and_args` lists pairs of a function and a tuple of its arguments. The first runs on the kernel's warps
    and may take and return tensors; each other runs on further warps, as many as `worker_num_warps` says, with at most
    `worker_num_regs` registers per thread. Raises ValueError where the lists do not fit each other.
    """
    pairs = [_pair(entry) for entry in unwrap_sequence(functions_and_args)]
    if not pairs:
        raise ValueError("expected at least one function for the default partition")
    warps = [unwrap(count) for count in unwrap_list(worker_num_warps, "worker_num_warps")]
    registers = unwrap(worker_num_regs)
    if len(warps) != len(pairs) - 1:
        raise ValueError(f"warp specialize got {len(pairs) - 1} partitions but {len(warps)} warp counts")
    if registers is not None and len(registers) != len(warps):
        raise ValueError(f"warp specialize got {len(warps)} partitions but {len(registers)} register counts")
    for count in warps:
        if not isinstance(count, int) or count <= 0 or count & (count - 1):
            raise ValueError(f"the warps of a partition must be a power of two, got {count}")
    context = current()
    (function, arguments), *workers = pairs
    block = ir.Block()
    with context.builder.at(block):
        result = context.call(function, arguments, {})
        results = _handles([result])
        emit_void(ttg.WarpYieldOp(results))
    captures = [_handles(given) for _, given in workers]
    flat = [handle for handles in captures for handle in handles]
    starts = accumulate((len(handles) for handles in captures), initial=0)
    regions = [
        _partition(function, given, start, [handle.type for handle in flat], count)
        for (function, given), start, count in zip(workers, starts, warps, strict=False)
    ]
    properties: dict[str, Any] = {}
    if registers is not None:
        counts = [unwrap(count) for count in registers]
        properties["requestedRegisters"] = builtin_dialect.DenseArrayBase.from_list(builtin_dialect.i32, counts)
    op = ttg.WarpSpecializeOp(flat, [h.type for h in results], ir.Region(block), regions, warps, properties)
    made = list(emit_many(op))
    return constexpr(None) if not made else type_of(result).unflatten_ir(made, 0)[0]


def unwrap_sequence(value: Any) -> list[Any]:
    """A list of kernel values as a Python list."""
    plain = value if isinstance(value, tuple) else unwrap(value)
    if not is_sequence(plain):
        raise TypeError(f"expected a list of functions with their arguments, got {describe(value)}")
    return list(plain)


def _pair(entry: Any) -> Any:
    values = unwrap_sequence(entry)
    if len(values) != 2 or not is_sequence(values[1]):
        raise TypeError(f"expected a function and a tuple of its arguments, got {describe(entry)}")
    return unwrap(values[0]), list(values[1])


def _handles(values: list[Any]) -> list[Any]:
    handles: list[Any] = []
    for value in values:
        if isinstance(value, base_value):
            value.flatten_ir(handles)
    return handles


def _partition(function: Any, arguments: list[Any], start: int, types: list[Any], warps: int) -> Any:
    """The region that calls a function, on the block arguments from `start` on that its arguments became."""
    context = current()
    block = ir.Block(arg_types=types)
    values: list[Any] = []
    for argument in arguments:
        if isinstance(argument, base_value) and not isinstance(argument, constexpr):
            argument, start = argument.type.unflatten_ir(list(block.args), start)
        values.append(argument)
    before = context.num_warps
    context.num_warps = warps
    try:
        with context.builder.at(block):
            context.call(function, values, {})
            emit_void(ttg.WarpReturnOp())
    finally:
        context.num_warps = before
    return ir.Region(block)
