"""Ops that change the shape of tensors, and ranges: no instruction but for `make_range`, registers are picked.

The layout of the result is such that every thread has the elements that it needs. Which register holds an element is
found by the coordinates that registers contribute; that lanes, warps and blocks contribute the same on both sides is
checked, so a layout that would need data to move is an error, not a wrong result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import tt
from tilewright.dialects.construction import static_values
from tilewright.dialects.ttg.canonicalization import can_join_registers, can_reorder
from tilewright.dialects.types import as_tensor, is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.layouts.distributed import BLOCK, LANE, REGISTER, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.values import Registers

Coordinates = tuple[int, ...]
Move = Callable[[Coordinates], Coordinates]
"""From coordinates in the result to coordinates in the source; linear over GF(2)."""


@lowers(tt.MakeRangeOp)
def lower_make_range(op: tt.MakeRangeOp, fn: GpuFunctionLowering) -> None:
    start = op.start.value.data
    indices = fn.threads.index.along(fn.layout(op.result), "dim0")
    fn.set(op.result, fn.each([tuple(indices)], lambda index: fn.add(index, start)))


@lowers(tt.SplatOp)
def lower_splat(op: tt.SplatOp, fn: GpuFunctionLowering) -> None:
    value = fn.registers(op.src)[0] if is_tensor(op.src.type) else fn.scalar(op.src)
    fn.set(op.result, (value,) * fn.num_registers(op.result.type))


@lowers(tt.UnsplatOp)
def lower_unsplat(op: tt.UnsplatOp, fn: GpuFunctionLowering) -> None:
    fn.set(op.result, fn.registers(op.src)[0])


@lowers(tt.ExpandDimsOp)
def lower_expand_dims(op: tt.ExpandDimsOp, fn: GpuFunctionLowering) -> None:
    axis = op.axis.value.data
    fn.set(op.result, _pick(op, fn, op.src, op.result, lambda at: at[:axis] + at[axis + 1 :]))


@lowers(tt.BroadcastOp)
def lower_broadcast(op: tt.BroadcastOp, fn: GpuFunctionLowering) -> None:
    shape = as_tensor(op.src.type).get_shape()
    fn.set(op.result, _pick(op, fn, op.src, op.result, lambda at: tuple(x % n for x, n in zip(at, shape, strict=True))))


@lowers(tt.TransOp)
def lower_trans(op: tt.TransOp, fn: GpuFunctionLowering) -> None:
    order = [int(dim) for dim in static_values(op.order)]
    inverse = [order.index(dim) for dim in range(len(order))]
    fn.set(op.result, _pick(op, fn, op.src, op.result, lambda at: tuple(at[dim] for dim in inverse)))


@lowers(tt.ReshapeOp)
def lower_reshape(op: tt.ReshapeOp, fn: GpuFunctionLowering) -> None:
    """Elements in row-major order; with `allow_reorder` any order, so registers may stay where they are."""
    source_shape, shape = as_tensor(op.src.type).get_shape(), as_tensor(op.result.type).get_shape()

    def move(at: Coordinates) -> Coordinates:
        index = 0
        for x, size in zip(at, shape, strict=True):
            index = index * size + x
        moved: list[int] = []
        for size in reversed(source_shape):
            moved.append(index % size)
            index //= size
        return tuple(reversed(moved))

    sources = register_sources(fn.layout(op.src), fn.layout(op.result), move)
    registers = fn.registers(op.src)
    if sources is not None:
        fn.set(op.result, tuple(registers[source] for source in sources))
    elif op.allow_reorder is not None and can_reorder(op.src.type, op.result.type):
        fn.set(op.result, registers)
    else:
        raise _needs_data(op)


@lowers(tt.JoinOp)
def lower_join(op: tt.JoinOp, fn: GpuFunctionLowering) -> None:
    layout = fn.layout(op.result)
    sources = register_sources(fn.layout(op.lhs), layout, lambda at: at[:-1])
    if sources is None or any(basis[-1] for name in (LANE, WARP, BLOCK) for basis in layout.bases_of(name)):
        raise _needs_data(op)
    sides = (fn.registers(op.lhs), fn.registers(op.rhs))
    which = [at[-1] for at in register_coordinates(layout)]
    fn.set(op.result, tuple(sides[side][source] for side, source in zip(which, sources, strict=True)))


@lowers(tt.SplitOp)
def lower_split(op: tt.SplitOp, fn: GpuFunctionLowering) -> None:
    for side, result in enumerate((op.outLHS, op.outRHS)):
        sources = register_sources(
            fn.layout(op.src), fn.layout(result), lambda at: (*at, 0), lambda at, side=side: (*at[:-1], side)
        )
        if sources is None:
            raise _needs_data(op)
        registers = fn.registers(op.src)
        fn.set(result, tuple(registers[source] for source in sources))


@lowers(tt.CatOp)
def lower_cat(op: tt.CatOp, fn: GpuFunctionLowering) -> None:
    """All elements of both, in any order: the registers of one after those of the other."""
    if not can_join_registers(op.operand_types, op.result.type):
        raise _needs_data(op)
    fn.set(op.result, fn.registers(op.lhs) + fn.registers(op.rhs))


def _pick(op: Operation, fn: GpuFunctionLowering, source: SSAValue, result: SSAValue, move: Move) -> Registers:
    sources = register_sources(fn.layout(source), fn.layout(result), move)
    if sources is None:
        raise _needs_data(op)
    registers = fn.registers(source)
    return tuple(registers[index] for index in sources)


def _needs_data(op: Operation) -> Exception:
    return op_error(op, "has layouts between which data would have to move between threads", pass_name=PASS_NAME)


# ----------------------------------------------------------------------------------------------- which register is it


@lru_cache(maxsize=1024)
def register_coordinates(layout: LinearLayout) -> tuple[Coordinates, ...]:
    """Return what each register index contributes to the coordinates."""
    found: list[Coordinates] = [(0,) * len(layout.out_dims)]
    for basis in layout.bases_of(REGISTER):
        found += [tuple(x ^ y for x, y in zip(at, basis, strict=True)) for at in found]
    return tuple(found)


def register_sources(
    source: LinearLayout, result: LinearLayout, move: Move, shift: Move | None = None
) -> list[int] | None:
    """For each register of the result the source register with its element; None where it is in another thread.

    `move` takes coordinates of the result to coordinates of the source; `shift`, if given, moves those on by a
    constant.
    """
    for name in (LANE, WARP, BLOCK):
        if source.bases_of(name) != tuple(move(basis) for basis in result.bases_of(name)):
            return None
    register_at: dict[Coordinates, int] = {}
    for register, at in enumerate(register_coordinates(source)):
        register_at.setdefault(at, register)
    wanted = [move(at) for at in register_coordinates(result)]
    if shift is not None:
        wanted = [shift(at) for at in wanted]
    sources = [register_at.get(at) for at in wanted]
    return None if None in sources else [register for register in sources if register is not None]
