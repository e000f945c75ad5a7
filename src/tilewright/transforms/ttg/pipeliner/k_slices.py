"""Computing a part of a tensor, along one dimension, from parts of what it is computed from.

```mlir
%x = ttg.local_load %m : !ttg.memdesc<64x64xi8, ...> -> tensor<64x64xi8, #a>
%y = arith.sitofp %x : tensor<64x64xi8, #a> to tensor<64x64xf16, #a>
```
The columns 16 to 31 of `%y` are
```mlir
%v = ttg.memdesc_subslice %m[0, 16] : ... -> !ttg.memdesc<64x16xi8, ..., 64x64>
%p = ttg.local_load %v : ... -> tensor<64x16xi8, #a>
%q = arith.sitofp %p : tensor<64x16xi8, #a> to tensor<64x16xf16, #a>
```
A part is in registers that the whole would have it in, so nothing moves between threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from tilewright.dialects import arith, tt, ttg
from tilewright.dialects.arith.constant import constant_splat
from tilewright.dialects.construction import static_values
from tilewright.dialects.traits import is_elementwise_class
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.ttg.encodings import encoding_of, layout_of
from tilewright.dialects.ttg.views import is_cut_by_swizzle
from tilewright.dialects.types import as_tensor, is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_memory_free
from tilewright.layouts.distributed import (
    REGISTER,
    DistributedLayout,
    LinearDistributedLayout,
    SliceLayout,
    dim_names,
)
from tilewright.layouts.linear import LinearLayout
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class Part:
    """The elements from `first` on, `size` of them, along a dimension."""

    dim: int
    first: int
    size: int

    def of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of this part of a tensor."""
        return (*shape[: self.dim], self.size, *shape[self.dim + 1 :])


Leaf = Callable[[Operation], bool]
"""Whether an op loads what parts can be loaded of."""


def can_slice(value: SSAValue, part: Part, is_leaf: Leaf) -> bool:
    """Return whether a part of a value can be computed without the whole, by ops of its block from loads."""
    stack, seen = [(value, part)], {(value, part)}
    while stack:
        value, part = stack.pop()
        if not is_tensor(value.type):
            continue
        if _is_whole(value, part):
            if not _is_left_alone(as_tensor(value.type), part):
                return False
            continue
        op = value.op if isinstance(value, OpResult) else None
        if op is None or _part_type(as_tensor(value.type), part) is None:
            return False
        if is_leaf(op):
            if isinstance(op, ttg.LocalLoadOp) and not _can_cut(op, part):
                return False
            continue
        parts = _operand_parts(op, part)
        if parts is None:
            return False
        pairs = ((operand, needed) for operand, needed in zip(op.operands, parts, strict=True) if needed is not None)
        further = [pair for pair in pairs if pair not in seen]
        seen.update(further)
        stack += further
    return True


class Slicer:
    """Computes parts where `builder` stands, each once."""

    def __init__(self, builder: OpBuilder) -> None:
        self._builder = builder
        self._made: dict[tuple[SSAValue, Part], SSAValue] = {}
        self._loaded: set[tuple[SSAValue, Part]] = set()

    def load(self, value: SSAValue, part: Part) -> None:
        """Load what a part of a value is computed from."""
        if not is_tensor(value.type) or _is_whole(value, part) or (value, part) in self._loaded:
            return
        self._loaded.add((value, part))
        assert isinstance(value, OpResult)
        if isinstance(value.op, ttg.LocalLoadOp):
            self.slice(value, part)
            return
        parts = _operand_parts(value.op, part)
        assert parts is not None, "a part that cannot be computed"
        for operand, needed in zip(value.op.operands, parts, strict=True):
            if needed is not None:
                self.load(operand, needed)

    def slice(self, value: SSAValue, part: Part) -> SSAValue:
        """A part of a value for which `can_slice`."""
        if not is_tensor(value.type) or _is_whole(value, part):
            return value
        made = self._made.get((value, part))
        if made is None:
            made = self._made[value, part] = self._make(value, part)
        return made

    def _make(self, value: SSAValue, part: Part) -> SSAValue:
        assert isinstance(value, OpResult)
        op, type = value.op, _part_type(as_tensor(value.type), part)
        assert type is not None, "a part whose elements are in other threads"
        if isinstance(op, ttg.LocalLoadOp):
            rank = len(type.get_shape())
            offsets = tuple(part.first if dim == part.dim else 0 for dim in range(rank))
            view = self._builder.result(ttg.MemDescSubsliceOp(op.src, offsets, type.get_shape()))
            return self._builder.result(ttg.LocalLoadOp(view, type, op.token))
        if isinstance(op, arith.ConstantOp):
            return self._builder.result(_constant(op, type))
        parts = _operand_parts(op, part)
        assert parts is not None, "a part that cannot be computed"
        operands = [
            operand if needed is None else self.slice(operand, needed)
            for operand, needed in zip(op.operands, parts, strict=True)
        ]
        clone = op.create(operands=operands, result_types=[type], properties=op.properties, attributes=op.attributes)
        return self._builder.insert(clone).results[0]


def _is_whole(value: SSAValue, part: Part) -> bool:
    """Return whether all parts are the same: the dimension has one element."""
    return as_tensor(value.type).get_shape()[part.dim] == 1


def _constant(op: arith.ConstantOp, type: TensorType[Attribute]) -> arith.ConstantOp:
    value = op.value
    assert isinstance(value, DenseIntOrFPElementsAttr)
    number = value.get_values()[0]
    assert isinstance(number, int | float)
    return constant_splat(number, type)


def _operand_parts(op: Operation, part: Part) -> tuple[Part | None, ...] | None:
    """Return what a part of an op's result needs of each operand, None for all of it; None where that is not known."""
    match op:
        case arith.ConstantOp():
            is_splat = isinstance(op.value, DenseIntOrFPElementsAttr) and op.value.is_splat()
            return () if is_splat else None
        case tt.SplatOp():
            return (None,)
        case tt.BroadcastOp():
            return (part,)
        case tt.TransOp():
            return (replace(part, dim=static_values(op.order)[part.dim]),)
        case tt.ExpandDimsOp():
            return (replace(part, dim=part.dim - (op.axis.value.data < part.dim)),)
        case tt.JoinOp():
            return (part, part) if part.dim + 1 < len(as_tensor(op.result.type).get_shape()) else None
        case tt.ReshapeOp():
            return _part_of_reshaped(op, part)
        case tt.ElementwiseInlineAsmOp():
            return None  # of several elements at a time, perhaps
        case _ if is_elementwise_class(type(op)) and len(op.results) == 1 and is_memory_free(op) and not op.regions:
            return (part,) * len(op.operands)
        case _:
            return None


def _part_of_reshaped(op: tt.ReshapeOp, part: Part) -> tuple[Part, ...] | None:
    """Return that of a reshape which makes the last two dimensions one."""
    source, result = (as_tensor(value.type).get_shape() for value in (op.src, op.result))
    inner = source[-1]
    if source != (*result[:-1], result[-1] // inner, inner) or part.dim != len(result) - 1 or part.size % inner:
        return None
    return (Part(part.dim, part.first // inner, part.size // inner),)


def _can_cut(load: ttg.LocalLoadOp, part: Part) -> bool:
    """Return whether a part of a buffer is a view of it."""
    source = as_memdesc(load.src.type)
    return not is_cut_by_swizzle(source, part.of(source.get_shape()))


def is_cut_by_registers(type: TensorType[Attribute], part: Part) -> bool:
    """Return whether each thread has its share of every such part of a tensor."""
    shape = type.get_shape()
    layout = layout_of(type.encoding).to_linear(shape).transpose_outs(dim_names(len(shape)))
    return _restricted(layout, part) is not None


def _part_type(type: TensorType[Attribute], part: Part) -> TensorType[Attribute] | None:
    """The type of a part whose elements are where the whole has them; None where lanes or warps share them out."""
    shape = type.get_shape()
    layout = _part_layout(layout_of(type.encoding), shape, part)
    return None if layout is None else tensor_type(type.element_type, part.of(shape), encoding_of(layout))


def _part_layout(layout: DistributedLayout, shape: tuple[int, ...], part: Part) -> DistributedLayout | None:
    """The layout of a part: the same one, but for bases, which lose the registers of other parts. Those that a shape
    does not reach stay, so that what is made of a part by `expand_dims` and `broadcast` has the layout of its part."""
    match layout:
        case LinearDistributedLayout():
            extents = layout.tile().out_dims.values()
            if any(own < extent for own, extent in zip(extents, shape, strict=True)):
                return None
            if any(basis[part.dim] >= part.size for basis in (*layout.lane, *layout.warp, *layout.block)):
                return None
            kept = tuple(basis for basis in layout.register if basis[part.dim] < part.size)
            return replace(layout, register=kept)
        case SliceLayout(dim=dim, parent=parent) if _has_bases(parent):
            inner = replace(part, dim=part.dim + (dim <= part.dim))
            kept_parent = _part_layout(parent, (*shape[:dim], 1, *shape[dim:]), inner)
            return None if kept_parent is None else SliceLayout(dim, kept_parent)
        case _:
            names = dim_names(len(shape))
            restricted = _restricted(layout.to_linear(shape).transpose_outs(names), part)
            is_same = layout.to_linear(part.of(shape)).transpose_outs(names) == restricted
            return layout if is_same else None


def _has_bases(layout: DistributedLayout) -> bool:
    """Return whether a layout, or that of which it is a slice, is given by its bases."""
    while isinstance(layout, SliceLayout):
        layout = layout.parent
    return isinstance(layout, LinearDistributedLayout)


def _is_left_alone(type: TensorType[Attribute], part: Part) -> bool:
    """Return whether a tensor of one element along the part's dimension has the layout that goes with parts."""
    layout = layout_of(type.encoding)
    return not _has_bases(layout) or _part_layout(layout, type.get_shape(), part) == layout


def _restricted(layout: LinearLayout, part: Part) -> LinearLayout | None:
    """The layout of the first part, in the registers that hold it; None where lanes or warps share the parts out."""
    kept = {name: tuple(basis for basis in bases if basis[part.dim] < part.size) for name, bases in layout.bases}
    if any(name != REGISTER and len(kept[name]) < len(bases) for name, bases in layout.bases):
        return None
    extents = layout.out_dims
    return LinearLayout.from_bases(kept, {**extents, dim_names(len(extents))[part.dim]: part.size})
