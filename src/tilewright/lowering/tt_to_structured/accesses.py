"""Loads and stores: first a plan, then the rewrite.

A plan holds everything that the rewrite needs, so that the rewrite can not fail half-way.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.analysis.index_algebra import constant_value
from tilewright.analysis.lanes import BlockPointer, Lanes, Unknown
from tilewright.analysis.mask import MaskAnalysis, MaskState
from tilewright.analysis.pointer import PointerAnalysis
from tilewright.analysis.splats import is_computed, is_splat_tree
from tilewright.dialects import arith, tt, tts
from tilewright.dialects.arith.constant import ConstantAttr
from tilewright.dialects.tt.types import is_block_pointer, is_pointer_like
from tilewright.dialects.types import element_type, is_float
from tilewright.lowering.tt_to_structured.emission import IndexEmitter
from tilewright.lowering.tt_to_structured.masks import EmittedMask, MaskEmitter
from tilewright.lowering.tt_to_structured.placement import Placement
from tilewright.lowering.tt_to_structured.pointers import PointerEmitter
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class AccessPlan:
    """A tile access that has structure."""

    op: tt.LoadOp | tt.StoreOp
    pointer: Lanes | BlockPointer
    mask: MaskState | None
    other: SSAValue | ConstantAttr | None
    """What dead lanes of a load are: a value of the program, or a constant of the element type."""


@dataclass(frozen=True)
class AccessPlanner:
    """Plans the accesses of one function."""

    pointers: PointerAnalysis
    masks: MaskAnalysis
    make_gathers: bool

    def plan(self, op: tt.LoadOp | tt.StoreOp) -> AccessPlan | Unknown:
        """Return what a tile access becomes, or why it stays."""
        state = self.pointers.state(op.ptr)
        if isinstance(state, Unknown):
            return state
        problem = self._problem(state)
        if problem is not None:
            return Unknown(problem)
        return AccessPlan(op, state, self._mask(op, state), self._other(op))

    def _problem(self, state: Lanes | BlockPointer) -> str | None:
        if state.base is None:
            return "an access through something that is not a pointer"
        if is_pointer_like(state.base.pointee):
            return "a tile of pointers in memory"
        if isinstance(state, BlockPointer) or not state.gathers:
            return None
        if not self.make_gathers:
            return "an index without formula, and make_gather_scatter_tptr is off"
        if len({gather.dim for gather in state.gathers}) > 1:
            return "indices without formula along more than one dimension"
        if any(dim.wrap is not None for dim in state.dims):
            return "an index without formula along one dimension and a remainder along another"
        if _has_strided_rows(state):
            return "an index without formula between elements that lie apart"
        return None

    def _mask(self, op: tt.LoadOp | tt.StoreOp, state: Lanes | BlockPointer) -> MaskState | None:
        if isinstance(state, BlockPointer):
            checked = op.properties.get("boundaryCheck")
            dims = [int(dim) for dim in checked.get_values()] if isinstance(checked, DenseArrayBase) else []
            mask = self.masks.inside_parent(state, dims)
        elif op.mask is None:
            return None
        else:
            mask = self.masks.state(op.mask)
        return None if mask.is_always_true else mask

    @staticmethod
    def _other(op: tt.LoadOp | tt.StoreOp) -> SSAValue | ConstantAttr | None:
        if not isinstance(op, tt.LoadOp):
            return None
        if op.other is not None:
            return op.other
        padding = op.properties.get("padding")
        if not isinstance(padding, IntegerAttr):
            return None
        element = element_type(op.result.type)
        return padding_constant(tt.PaddingOption(padding.value.data), element)


def _has_strided_rows(state: Lanes) -> bool:
    """Return whether no dimension that has a formula runs along memory, and the indices of the other are computed:
    often they follow each other, so that loops over single elements, which are free to run along it, are faster.
    """
    strides = [
        constant_value(dim.stride)
        for index, dim in enumerate(state.dims)
        if dim.size > 1 and not state.is_gathered(index)
    ]
    is_strided = bool(strides) and all(stride is not None and abs(stride) > 1 for stride in strides)
    return is_strided and all(is_computed(gather.index) for gather in state.gathers)


def padding_constant(padding: tt.PaddingOption, element: Attribute) -> ConstantAttr:
    """The number that a padded lane reads: zero, or not a number (zero of a type that has none)."""
    if is_float(element):
        return FloatAttr(float("nan") if padding is tt.PaddingOption.NAN else 0.0, element)
    return IntegerAttr(0, cast("IntegerType", element))


class AccessRewriter:
    """Carries out plans."""

    def __init__(
        self, placement: Placement, emitter: IndexEmitter, pointers: PointerEmitter, masks: MaskEmitter
    ) -> None:
        self._placement = placement
        self._emitter = emitter
        self._pointers = pointers
        self._masks = masks

    def rewrite(self, plan: AccessPlan) -> None:
        """Replaces one access."""
        op = plan.op
        self._placement.location = op.location
        pointer = self._pointers.pointer(plan.pointer)
        sizes = tuple(dim.size for dim in plan.pointer.dims)
        mask = None if plan.mask is None else self._masks.mask(plan.mask, sizes)
        if mask is not None and mask.keeps_all(sizes):
            mask = None
        if isinstance(op, tt.StoreOp):
            self._replace(op, _store(pointer, op.value, mask))
        else:
            other = None if mask is None else self._other(plan.other)
            load = _load(pointer, mask, other)
            if bool(op.is_volatile.value.data):
                load.attributes["isVolatile"] = op.is_volatile
            self._replace(op, load)

    def _other(self, other: SSAValue | ConstantAttr | None) -> SSAValue | None:
        if other is not None and not isinstance(other, SSAValue):
            return self._placement.place(arith.ConstantOp(other)).results[0]
        if other is None:
            return None
        other = self._placement.current(other)
        return self._emitter.scalar(other) if is_splat_tree(other) else other

    def _replace(self, op: Operation, by: Operation) -> None:
        assert op.parent is not None
        by.location = op.location
        by.attributes.update({name: value for name, value in op.attributes.items() if name not in by.attributes})
        op.parent.insert_op_before(by, op)
        for old, new in zip(op.results, by.results, strict=True):
            new.name_hint = old.name_hint
            self._placement.replace(old, new)
        self._placement.forget(op, by)
        op.detach()
        op.erase()


def _load(pointer: SSAValue, mask: EmittedMask | None, other: SSAValue | None) -> Operation:
    if mask is None:
        return tts.LoadOp(pointer)
    if mask.is_prefix_box and (other is None or not isinstance(other.type, TensorType)):
        return tts.LoadOp(pointer, mask.dims, other)
    return tts.MaskedLoadOp(pointer, mask.starts, mask.dims, mask.lanes, other)


def _store(pointer: SSAValue, value: SSAValue, mask: EmittedMask | None) -> Operation:
    if mask is None:
        return tts.StoreOp(pointer, value)
    if mask.is_prefix_box:
        return tts.StoreOp(pointer, value, mask.dims)
    return tts.MaskedStoreOp(pointer, value, mask.starts, mask.dims, mask.lanes)


def is_tile_access(op: Operation) -> bool:
    """Return whether an op loads or stores through a tensor of pointers or a block pointer."""
    if not isinstance(op, tt.LoadOp | tt.StoreOp):
        return False
    type = op.operands[0].type
    return isinstance(type, TensorType) or is_block_pointer(type)
