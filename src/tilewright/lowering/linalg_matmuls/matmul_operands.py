"""Operands of matmuls as views of memory, looked up through transposes, padding, and branches that choose a view.

%p = tensor.pad (to_tensor %view) high[%c64 - %m, %c32 - %k] { yield 0.0 }
%a = linalg.transpose %p
  ->  the view, transposed; of its dimensions %m and %k elements are no padding
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, bufferization, linalg, memref, scf, tensor
from tilewright.dialects.types import bit_width, element_type, is_unranked_memref
from tilewright.lowering.linalg_matmuls.first_iteration import FirstIteration, NoMatchError
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import tensor_shape
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import fold_index


@dataclass(frozen=True, slots=True)
class MatmulOperand:
    """An operand of a matmul: the view that is read in place, under conditions, how far it reaches."""

    view: SSAValue
    choices: tuple[scf.IfOp, ...]
    k_high: Index
    outer_high: Index
    """How many of the rows of A, or the columns of B, are not padding."""
    outer_dim: int
    """The dimension of the view that is that of the rows of A, or the columns of B."""
    is_transposed: bool
    """Whether the operand is the transpose of the view."""


def find_operand(value: SSAValue, k_dim: int) -> MatmulOperand:
    """A tensor as a view padded with zeros."""
    if value.uses.get_length() != 1 or not isinstance(value.owner, Operation):
        raise NoMatchError("an operand is read by others, too")
    shape = tensor_shape(value)
    op = value.owner
    if isinstance(op, linalg.TransposeOp):
        inner = find_operand(op.inputs[0], 1 - k_dim)
        return replace(inner, is_transposed=not inner.is_transposed)
    highs: list[Index] = list(shape)
    if isinstance(op, tensor.PadOp):
        highs = _pad_bounds(op, shape)
        source = op.source.owner
        if op.source.uses.get_length() != 1 or not isinstance(source, Operation):
            raise NoMatchError("an operand is read by others, too")
        op = source
    if not isinstance(op, bufferization.ToTensorOp):
        raise NoMatchError("an operand is computed, not loaded")
    view, choices = op.memref, list[scf.IfOp]()
    while isinstance(view.owner, scf.IfOp):
        branch = view.owner
        choices.append(branch)
        end = branch.true_region.block.last_op
        assert end is not None
        view = end.operands[0]
    return MatmulOperand(view, tuple(choices), highs[k_dim], highs[1 - k_dim], 1 - k_dim, is_transposed=False)


def _pad_bounds(op: tensor.PadOp, shape: tuple[int, ...]) -> list[Index]:
    """Return where the padding of each dimension starts."""
    end = op.region.block.last_op
    assert end is not None
    if not is_zero(end.operands[0]) or any(entry != 0 for entry in op.mixed_low):
        raise NoMatchError("an operand is padded with something else than zeros past its end")
    bounds: list[Index] = []
    for extent, padding in zip(shape, op.mixed_high, strict=True):
        if isinstance(padding, int):
            bounds.append(extent - padding)
            continue
        subtraction = padding.owner
        if not isinstance(subtraction, arith.SubiOp) or fold_index(subtraction.lhs) != extent:
            raise NoMatchError("where the padding of an operand starts is not known")
        bounds.append(subtraction.rhs)
    return bounds


def is_zero_tile(tile: SSAValue) -> bool:
    """Return whether all elements of a tile are zero, or undefined."""
    match tile.owner:
        case linalg.FillOp() as op:
            return is_zero(op.inputs[0])
        case tensor.SplatOp() as op:
            return is_zero(op.input)
        case tensor.EmptyOp():
            return True
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as value):
            return all(entry == 0 for entry in value.get_values())
        case _:
            return False


def is_zero(value: SSAValue) -> bool:
    """Return whether a scalar is the constant zero."""
    number = getattr(value.owner.value, "value", None) if isinstance(value.owner, arith.ConstantOp) else None
    return number is not None and number.data == 0


@dataclass(frozen=True, slots=True)
class FirstView:
    """Where the first iteration of a loop reads an operand, as the matrix that is multiplied."""

    pointer: SSAValue
    offset: Index
    strides: tuple[Index, Index]


def find_first_view(first: FirstIteration, operand: MatmulOperand) -> FirstView:
    """The view of the first iteration, computed before the loop."""
    op = find_cast(operand.view)
    source = op.source
    if not is_unranked_memref(source.type) or not first.is_invariant(source):
        raise NoMatchError("an operand is read from memory that changes from step to step")
    strides = op.mixed_strides
    if len(strides) != 2 or not all(first.is_loop_invariant(stride) for stride in strides):
        raise NoMatchError("the strides of an operand change from step to step")
    if bit_width(element_type(source.type)) % 8:
        raise NoMatchError("its elements are no bytes")
    offset = first.first(op.mixed_offsets[0])
    rows, columns = (first.first(stride) for stride in strides)
    return FirstView(source, offset, (columns, rows) if operand.is_transposed else (rows, columns))


def find_cast(view: SSAValue) -> memref.ReinterpretCastOp:
    """The pointer view below slices that start at its first element."""
    op = view.owner
    while True:
        match op:
            case memref.CastOp():
                op = op.source.owner
            case memref.SubviewOp() if all(entry == 0 for entry in op.mixed_offsets) and all(
                entry == 1 for entry in op.mixed_strides
            ):
                if len(op.mixed_sizes) != op.result.type.get_num_dims():
                    raise NoMatchError("a view drops dimensions")
                op = op.source.owner
            case memref.ReinterpretCastOp():
                return op
            case _:
                raise NoMatchError("the address of a view is not known")
