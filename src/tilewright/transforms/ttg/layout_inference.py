"""From the layout of an op's operands to that of its results and back, and which ops hold on to their layout.

`infer_result_encoding` and `infer_operand_encoding` say which layouts an op can work in without moving data; None means
that it cannot. Ops that work on each element by itself take any layout.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import prod

from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.arith import ConstantOp
from tilewright.dialects.construction import static_values
from tilewright.dialects.traits import is_elementwise_class
from tilewright.dialects.tt.inference import LayoutInference
from tilewright.dialects.tt.types import PointerType, is_tensor, tensor_type
from tilewright.dialects.ttg.canonicalization import can_join_registers, can_reorder
from tilewright.dialects.ttg.verification import ProgramShape, warps_around
from tilewright.dialects.types import as_tensor
from tilewright.ir.effects import may_write
from tilewright.ir.walking import is_subclass
from tilewright.layouts import reshaping
from tilewright.layouts.convert import moved_dims
from tilewright.layouts.distributed import (
    REGISTER,
    BlockedLayout,
    DistributedLayout,
    NvidiaMmaLayout,
    SliceLayout,
)

FOREIGN_CODE = (tt.ElementwiseInlineAsmOp, tt.ExternElementwiseOp)
"""Code of others, on a register or a few neighbours at a time: it takes any layout, too."""

SAME_LAYOUT_TT = (*tt.ATOMICS, tt.BroadcastOp, tt.MapElementwiseOp, tt.ScanOp, tt.SplatOp)
"""Other ops whose operands and results share a layout."""

RESHAPING = (tt.ExpandDimsOp, tt.JoinOp, tt.ReduceOp, tt.ReshapeOp, tt.SplitOp, tt.TransOp)
"""Ops whose result layout follows from the source's."""

DESCRIPTOR_ACCESS = (
    tt.DescriptorGatherOp,
    tt.DescriptorLoadOp,
    tt.DescriptorReduceOp,
    tt.DescriptorScatterOp,
    tt.DescriptorStoreOp,
)

Access = tt.LoadOp | tt.StoreOp


@cache
def works_on_registers_class(cls: type[Operation]) -> bool:
    """Return whether ops of a class compute registers from those of the same index, whatever elements they hold."""
    return is_elementwise_class(cls) or issubclass(cls, FOREIGN_CODE)


@cache
def keeps_layout_class(cls: type[Operation]) -> bool:
    """Return whether operands and results of ops of a class have one layout, whichever it is."""
    return works_on_registers_class(cls) or issubclass(cls, SAME_LAYOUT_TT)


@cache
def _takes_any_layout(cls: type[Operation]) -> bool:
    """Return whether operands and results of ops of a class have one layout, and any is as good."""
    return cls is not tt.ScanOp and (keeps_layout_class(cls) or issubclass(cls, _PASSING))


def layout_of(encoding: Attribute) -> DistributedLayout:
    """The layout of an encoding of tensors."""
    return ttg.layout_of(encoding)


def infer_result_encoding(op: Operation, encoding: Attribute) -> Attribute | None:
    """The layout of the results when the operands have `encoding`."""
    if _takes_any_layout(type(op)):
        return encoding
    match op:
        case tt.ScanOp():
            return encoding if isinstance(layout_of(encoding), BlockedLayout) else None
        case tt.ReduceOp():
            return _reduce_result(op, encoding)
        case tt.ExpandDimsOp():
            return _parent_of_slice(encoding, op.axis.value.data)
        case tt.ReshapeOp():
            shape, new_shape = as_tensor(op.src.type).get_shape(), as_tensor(op.result.type).get_shape()
            return None if op.allow_reorder is not None else _reshaped(encoding, shape, new_shape)
        case tt.TransOp():
            return _transposed(encoding, as_tensor(op.src.type).get_shape(), static_values(op.order))
        case tt.JoinOp():
            return _joined(encoding, as_tensor(op.lhs.type).get_shape())
        case tt.SplitOp():
            return _split(encoding, as_tensor(op.src.type).get_shape())
        case ttg.Fp4ToFpOp():
            return _unpacked(op, encoding)
        case _:
            return None


def infer_operand_encoding(op: Operation, encoding: Attribute) -> Attribute | None:
    """The layout that the operands must have for the results to come in `encoding`."""
    if _takes_any_layout(type(op)):
        return encoding
    match op:
        case tt.ScanOp():
            return encoding if isinstance(layout_of(encoding), BlockedLayout) else None
        case tt.ReduceOp():
            return _parent_of_slice(encoding, op.axis.value.data)
        case tt.ExpandDimsOp():
            return ttg.encoding_of(SliceLayout(op.axis.value.data, layout_of(encoding)))
        case tt.ReshapeOp():
            shape, new_shape = as_tensor(op.src.type).get_shape(), as_tensor(op.result.type).get_shape()
            return None if op.allow_reorder is not None else _reshaped(encoding, new_shape, shape)
        case tt.TransOp():
            order = static_values(op.order)
            inverse = tuple(order.index(dim) for dim in range(len(order)))
            return _transposed(encoding, as_tensor(op.result.type).get_shape(), inverse)
        case tt.JoinOp():
            return _split(encoding, as_tensor(op.result.type).get_shape())
        case tt.SplitOp():
            return _joined(encoding, as_tensor(op.outLHS.type).get_shape())
        case ttg.Fp4ToFpOp():
            return _packed(op, encoding)
        case tt.LoadOp() | tt.StoreOp() | tt.GatherOp():
            return encoding
        case _:
            return None


_PASSING = (scf.WhileOp, scf.YieldOp, scf.ConditionOp, ttng.WarpGroupDotWaitOp)
"""Ops that hand values on."""


def _reduce_result(op: tt.ReduceOp, encoding: Attribute) -> Attribute | None:
    layout = layout_of(encoding)
    return ttg.encoding_of(SliceLayout(op.axis.value.data, layout)) if layout.rank > 1 else None


def _parent_of_slice(encoding: Attribute, dim: int) -> Attribute | None:
    """The encoding that a layout is the slice of along a dimension; None if it is not such a slice."""
    match layout_of(encoding):
        case SliceLayout(dim=sliced, parent=parent) if sliced == dim:
            return ttg.encoding_of(parent)
        case _:
            return None


@lru_cache(maxsize=1024)
def _reshaped(encoding: Attribute, shape: tuple[int, ...], new_shape: tuple[int, ...]) -> Attribute | None:
    assert isinstance(encoding, LayoutInference)
    return _if_legal(encoding.infer_reshape, shape, new_shape)


@lru_cache(maxsize=1024)
def _transposed(encoding: Attribute, shape: tuple[int, ...], order: tuple[int, ...]) -> Attribute | None:
    assert isinstance(encoding, LayoutInference)
    return _if_legal(encoding.infer_trans, shape, order)


def _joined(encoding: Attribute, shape: tuple[int, ...]) -> Attribute | None:
    assert isinstance(encoding, LayoutInference)
    return _if_legal(encoding.infer_join, shape)


def _split(encoding: Attribute, shape: tuple[int, ...]) -> Attribute | None:
    assert isinstance(encoding, LayoutInference)
    return _if_legal(encoding.infer_split, shape)


def _if_legal(infer: Callable[..., Attribute], *arguments: object) -> Attribute | None:
    """Return the encoding that a rule infers; None where it rejects what it is given."""
    try:
        return infer(*arguments)
    except VerifyException:
        return None


def _unpacked(op: ttg.Fp4ToFpOp, encoding: Attribute) -> Attribute | None:
    return _rescaled(reshaping.double_axis, op, encoding)


def _packed(op: ttg.Fp4ToFpOp, encoding: Attribute) -> Attribute | None:
    return _rescaled(reshaping.halve_axis, op, encoding)


def _rescaled(
    rescale: Callable[[DistributedLayout, int], DistributedLayout], op: ttg.Fp4ToFpOp, encoding: Attribute
) -> Attribute | None:
    try:
        return ttg.encoding_of(rescale(layout_of(encoding), op.axis.value.data))
    except ValueError:
        return None


# What holds on to its layout, and what gives it up.


def is_single_value(type: Attribute) -> bool:
    """Return whether a type is a scalar or a tensor of one element."""
    return not is_tensor(type) or prod(type.get_shape()) == 1


def is_expensive_access(op: Access, program: ProgramShape) -> bool:
    """Return whether a load or store moves more than the threads of the program: then its layout matters most of
    all.
    """
    type = op.ptr.type
    if isinstance(type, PointerType) and is_tensor(type.pointee_type):
        return True
    if is_single_value(type):
        return False
    return prod(as_tensor(type).get_shape()) >= warps_around(op, program) * program.lanes


def is_anchor(op: Operation, program: ProgramShape) -> bool:
    """Return whether an op keeps its layout and others follow."""
    if _takes_any_layout(type(op)) and not is_subclass(type(op), tt.ATOMICS):
        return False
    match op:
        case tt.LoadOp() | tt.StoreOp():
            return is_expensive_access(op, program)
        case tt.DotOp() | tt.DotScaledOp() | ttng.WarpGroupDotOp():
            return True
        case tt.GatherOp():
            return op.efficient_layout is not None
        case tt.ReshapeOp():
            return op.allow_reorder is not None
        case _:
            return isinstance(op, (*DESCRIPTOR_ACCESS, *tt.ATOMICS))


def can_be_recomputed(op: Operation, program: ProgramShape) -> bool:
    """Return whether an op may run once more in another layout."""
    if keeps_layout_class(type(op)):
        return not may_write(op)
    match op:
        case tt.LoadOp():
            return not may_write(op) and not is_expensive_access(op, program)
        case tt.GatherOp():
            return op.efficient_layout is None
        case tt.DotOp() | tt.DotScaledOp() | ttng.WarpGroupDotOp() | scf.WhileOp() | scf.ConditionOp():
            return False
        case scf.IfOp():
            return True  # it gives one more result, what is in it is asked by itself
        case _:
            return not may_write(op)


def is_free_conversion(op: Operation) -> bool:
    """Return whether an op is a conversion that moves nothing between threads."""
    if not isinstance(op, ttg.ConvertLayoutOp):
        return False
    source, target = as_tensor(op.src.type), as_tensor(op.result.type)
    return _stays_in_threads(source.encoding, target.encoding, source.get_shape())


@lru_cache(maxsize=4096)
def _stays_in_threads(source: Attribute, target: Attribute, shape: tuple[int, ...]) -> bool:
    return moved_dims(layout_of(source).to_linear(shape), layout_of(target).to_linear(shape)) <= {REGISTER}


def can_fold_conversion(op: Operation, encoding: Attribute) -> bool:
    """Return whether an op can make its result in `encoding` just as well, whatever the layout of its operands."""
    if keeps_layout_class(type(op)):
        return isinstance(op, tt.SplatOp)
    match op:
        case tt.CatOp():
            return can_join_registers(op.operand_types, with_encoding(op.result.type, encoding))
        case ttg.ConvertLayoutOp():
            if isinstance(layout_of(encoding), NvidiaMmaLayout):
                return as_tensor(op.src.type).encoding == encoding
            return True
        case tt.ReshapeOp():
            if op.allow_reorder is None or op.efficient_layout is not None:
                return False
            return can_reorder(op.src.type, with_encoding(op.result.type, encoding))
        case _:
            return isinstance(op, _FOLDING)


_FOLDING = (ConstantOp, tt.HistogramOp, tt.MakeRangeOp, tt.SplatOp, ttg.LocalLoadOp)


def with_encoding(type: Attribute, encoding: Attribute) -> Attribute:
    """A tensor type in another layout."""
    tensor = as_tensor(type)
    return tensor_type(tensor.element_type, tensor.get_shape(), encoding)
