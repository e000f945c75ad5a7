"""Conversions moved to where they are cheaper: before a value grows, into a branch that is taken less often, and next
to the load whose data a matmul reads; the last part of `tritongpu-remove-layout-conversions`.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from tilewright.dialects import arith, scf, tt, ttg, ttng
from tilewright.dialects.tt.types import is_tensor
from tilewright.dialects.ttg.verification import ProgramShape
from tilewright.dialects.types import as_tensor, bit_width
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_memory_free
from tilewright.layouts.distributed import DotOperandLayout, NvidiaMmaLayout
from tilewright.transforms.ttg.layout_inference import (
    infer_operand_encoding,
    layout_of,
    with_encoding,
    works_on_registers_class,
)
from tilewright.transforms.ttg.layout_slices import LayoutSlice, find_slice
from tilewright.transforms.ttg.rematerialize import Rematerializer, conversions_in, repeated

VIEWS = (tt.ExpandDimsOp, tt.ReshapeOp, tt.TransOp, tt.JoinOp, tt.SplitOp)


def hoist_conversions(function: tt.FuncOp, program: ProgramShape) -> None:
    """Moves each conversion of a function where it is cheaper, if there is such a place."""
    rematerializer = Rematerializer(function, program)
    for conversion in conversions_in(function):
        _hoist_above_growth(conversion, rematerializer)
    rematerializer = Rematerializer(function, program)
    for conversion in conversions_in(function):
        _hoist_into_branch(conversion, rematerializer)
    rematerializer = Rematerializer(function, program)
    for conversion in conversions_in(function):
        _hoist_to_load(conversion, rematerializer)


def _target(conversion: ttg.ConvertLayoutOp) -> Attribute:
    return as_tensor(conversion.result.type).encoding


def _is_dot_operand(encoding: Attribute) -> bool:
    return isinstance(layout_of(encoding), DotOperandLayout)


# convert(f(extend(x))) = f(extend(convert(x))): fewer bytes go through shared memory.


def grows(op: Operation) -> bool:
    """Return whether the result of an op has more bytes than its operand, or more elements."""
    match op:
        case arith.ExtSIOp() | arith.ExtUIOp() | arith.ExtFOp() | tt.BroadcastOp() | tt.ExpandDimsOp():
            return True
        case tt.FpToFpOp():
            source, result = as_tensor(op.src.type), as_tensor(op.result.type)
            return bit_width(source.element_type) < bit_width(result.element_type)
        case _:
            return False


def _hoist_above_growth(conversion: ttg.ConvertLayoutOp, rematerializer: Rematerializer) -> None:
    """Convert before the only op of the slice that makes values grow, if the rest can be made in the other layout."""
    if _is_dot_operand(_target(conversion)):
        return
    slice = rematerializer.slice_of(conversion, 0, _target(conversion), stop=grows)
    if slice is None:
        return
    growing: OpResult | None = None
    for value in tuple(slice.layouts):
        if not isinstance(value, OpResult) or not grows(value.op):
            continue
        encoding = infer_operand_encoding(value.op, slice.layouts[value])
        if encoding is None:
            return
        rest = rematerializer.slice_of(value.op, 0, encoding)
        if rest is not None and slice.agrees_with(rest):
            slice.include(rest)
            continue
        if growing is not None:
            return
        growing = value
    if growing is None:
        return
    rematerializer.rewrite(slice, conversion, {growing: _grown_in(growing.op, slice.layouts[growing])})


def _grown_in(op: Operation, encoding: Attribute) -> SSAValue:
    """The growing op once more, after a conversion of its operand."""
    wanted = infer_operand_encoding(op, encoding)
    assert wanted is not None
    builder = OpBuilder.before(op)
    source = builder.result(ttg.ConvertLayoutOp(op.operands[0], with_encoding(op.operands[0].type, wanted)))
    return builder.result(repeated(op, encoding, [source]))


# convert(if c {a} else {b}) = if c {a'} else {convert(b)}: only one branch pays.


def _is_conditional(op: Operation) -> bool:
    return isinstance(op, scf.IfOp)


def _hoist_into_branch(conversion: ttg.ConvertLayoutOp, rematerializer: Rematerializer) -> None:
    """Convert in the branch whose value cannot be made in the other layout; only in loops, where a branch may be taken
    less often than the conversion would run.
    """
    slice = rematerializer.slice_of(conversion, 0, _target(conversion), stop=_is_conditional)
    if slice is None:
        return
    edges: list[tuple[Operation, int, Attribute]] = []
    ends: list[OpResult] = []
    pending = list(slice.layouts)
    for value in pending:
        if not isinstance(value, OpResult) or not isinstance(value.op, scf.IfOp):
            continue
        wanted = slice.layouts[value]
        branches = [(region.block.last_op, value.index) for region in value.op.regions]
        found = [
            None if end is None else rematerializer.slice_of(end, index, wanted, stop=_is_conditional)
            for end, index in branches
        ]
        found = [part if part is not None and slice.agrees_with(part) else None for part in found]
        if all(part is None for part in found) or (None in found and not isinstance(value.op.parent_op(), scf.ForOp)):
            ends.append(value)
            continue
        for (end, index), part in zip(branches, found, strict=True):
            if part is None:
                assert end is not None
                edges.append((end, index, wanted))
                continue
            pending.extend(new for new in part.layouts if new not in slice.layouts)
            slice.include(part)
    if not edges or any(slice.layouts.get(end.operands[index], wanted) != wanted for end, index, wanted in edges):
        return
    made: dict[SSAValue, SSAValue] = {
        value: _converted_after(value, slice.layouts[value], rematerializer) for value in ends
    }
    for end, index, encoding in edges:
        value = end.operands[index]
        convert = ttg.ConvertLayoutOp(value, with_encoding(value.type, encoding))
        made[value] = OpBuilder.before(end).result(convert)
    rematerializer.rewrite(slice, conversion, made)


def _converted_after(value: OpResult, encoding: Attribute, rematerializer: Rematerializer) -> SSAValue:
    """The conversion of a value right after it is made; one for all who want it."""
    known = rematerializer.converted.get((value, encoding))
    if known is None:
        convert = ttg.ConvertLayoutOp(value, with_encoding(value.type, encoding))
        known = rematerializer.converted[value, encoding] = OpBuilder.after(value.op).result(convert)
    return known


# convert(f(load)) = f(convert(load)) for operands of matmuls: the pipeliner then sees load and conversion.


def _moves_no_data(op: Operation) -> bool:
    if works_on_registers_class(type(op)) and is_memory_free(op):
        return True
    return isinstance(op, (tt.BroadcastOp, ttg.Fp4ToFpOp, ttg.ConvertLayoutOp, *VIEWS))


def _feeds_product(conversion: ttg.ConvertLayoutOp) -> bool:
    """Return whether the block of a conversion goes on to a matmul on tensor cores whose left operand is in
    registers.
    """
    op: Operation | None = conversion.next_op
    while op is not None:
        if isinstance(op, tt.DotOp | ttng.WarpGroupDotOp) and is_tensor(op.operands[0].type):
            layout = layout_of(op.operands[0].type.encoding)
            if isinstance(layout, DotOperandLayout) and isinstance(layout.parent, NvidiaMmaLayout):
                return True
        op = op.next_op
    return False


def _hoist_to_load(conversion: ttg.ConvertLayoutOp, rematerializer: Rematerializer) -> None:
    """Convert to a dot operand right after the load, and compute what lies between in the operand's layout."""
    if not _is_dot_operand(_target(conversion)) or not _feeds_product(conversion):
        return
    slice = find_slice(conversion, 0, _target(conversion), stop=lambda op: not _moves_no_data(op))
    if slice is None or not _ends_at_loads(slice):
        return
    loads = [value for value in slice.layouts if isinstance(value, OpResult) and _is_load(value)]
    if len(loads) == len(slice.layouts):
        _move_after(conversion, loads, rematerializer)
    else:
        made: dict[SSAValue, SSAValue] = {
            value: _converted_after(value, slice.layouts[value], rematerializer) for value in loads
        }
        rematerializer.rewrite(slice, conversion, made)


def _move_after(conversion: ttg.ConvertLayoutOp, loads: list[OpResult], rematerializer: Rematerializer) -> None:
    """A conversion of a load stands right after it: its scratch, and the load's registers, are free again before the
    next operand comes.
    """
    load = loads[0].op
    if load.parent is conversion.parent and load.next_op is not conversion:
        conversion.detach()
        OpBuilder.after(load).insert(conversion)
        rematerializer.moved(conversion)


def _is_load(value: SSAValue) -> bool:
    return isinstance(value.owner, tt.LoadOp | tt.DescriptorLoadOp)


def _ends_at_loads(slice: LayoutSlice) -> bool:
    return all(
        isinstance(value, OpResult)
        and (_is_load(value) or isinstance(value.op, arith.ConstantOp) or _moves_no_data(value.op))
        for value in slice.layouts
    )
