"""Types of values in Gluon: blocks with a layout, and buffers in shared memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tilewright.language.context import current
from tilewright.language.dtypes import base_type, block_type, dtype, pointer_type
from tilewright.language.gluon.distributed_layouts import AutoLayout, DistributedLayout, InferredLayout
from tilewright.language.gluon.encoded_layouts import layout_of_encoding, shared_layout_of_encoding
from tilewright.language.gluon.layout_base import LANES, Layout
from tilewright.language.gluon.shared_layouts import SharedLayout, SharedLinearLayout, shape_per_cta
from tilewright.language.registry import wrong_layout
from tilewright.language.values import base_value, describe, unwrap

if TYPE_CHECKING:
    from xdsl.ir import Attribute, SSAValue

    from tilewright.language.gluon.buffers import shared_memory_descriptor


class distributed_type(block_type):
    """A block of elements of `element_ty`, spread over threads as `layout` says."""

    has_layout: ClassVar[bool] = True

    def __init__(self, element_ty: Any, shape: Any, layout: Any) -> None:
        self.layout: DistributedLayout = distributed_layout(layout)
        super().__init__(unwrap(element_ty), list(unwrap(shape)))
        if not isinstance(self.layout, InferredLayout) and self.layout.rank != len(self.shape):
            rank = self.layout.rank
            raise wrong_layout(
                ValueError(f"a tensor of shape {self.shape} cannot have a layout of rank {rank}: {layout}")
            )
        self.name = f"<{self.shape}, {self.element_ty}, {self.layout}>"

    def _make_ir(self) -> Attribute:
        from tilewright.dialects.tt.types import tensor_type

        return tensor_type(self.element_ty.to_ir(), tuple(self.shape), self.layout.encoding())

    def with_element_ty(self, element_ty: dtype) -> distributed_type:
        return distributed_of(element_ty, tuple(self.shape), self.layout)

    def with_shape(self, shape: Sequence[int]) -> distributed_type:
        return distributed_of(self.element_ty, tuple(shape), self.layout)

    def mangle(self) -> str:
        return f"{super().mangle()}L{self.layout.mangle()}L"

    def codegen_name(self) -> str:
        """Says all, as keys of compiled kernels are made of it."""
        return f"distributed_type({self.element_ty!r}, {self.shape}, {self.layout!r})"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, distributed_type) and super().__eq__(other) and self.layout == other.layout

    __hash__ = dtype.__hash__


_types: dict[Any, distributed_type] = {}


def distributed_of(element_ty: dtype, shape: tuple[int, ...], layout: DistributedLayout) -> distributed_type:
    """`distributed_type(element_ty, shape, layout)`, shared between equal uses."""
    address_space = element_ty.address_space if isinstance(element_ty, pointer_type) else 0
    key = (element_ty.name, address_space, shape, layout)
    found = _types.get(key)
    if found is None:
        found = _types[key] = distributed_type(element_ty, shape, layout)
    return found


def distributed_of_encoding(element_ty: dtype, shape: tuple[int, ...], encoding: Attribute) -> distributed_type:
    """The type of what an op gives in a layout that followed from its operands."""
    return distributed_of(element_ty, shape, layout_of_encoding(encoding, shape))


def auto_block(element_ty: dtype, shape: tuple[int, ...]) -> distributed_type:
    """The type of a block whose layout follows from its uses: what blocks have that are made without one."""
    return distributed_of(element_ty, shape, AutoLayout())


def placed_block(element_ty: dtype, shape: tuple[int, ...], layout: Any) -> distributed_type:
    """The type of a block in a layout that the user gives, AutoLayout for None. Raises ValueError where the layout does
    not fit the threads of the kernel."""
    layout = unwrap(layout)
    ty = distributed_of(element_ty, shape, AutoLayout() if layout is None else distributed_layout(layout))
    check_threads(ty.layout)
    return ty


def distributed_layout(layout: Any) -> DistributedLayout:
    """A layout of tensors that the user gives; TypeError for anything else."""
    layout = unwrap(layout)
    if not isinstance(layout, DistributedLayout):
        what = f"{layout!r}, a layout of shared memory" if isinstance(layout, SharedLayout) else describe(layout)
        raise wrong_layout(TypeError(f"expected a distributed layout, such as gl.BlockedLayout, got {what}"))
    return layout


def shared_layout(layout: Any) -> SharedLayout:
    """A layout of buffers that the user gives; TypeError for anything else."""
    layout = unwrap(layout)
    if not isinstance(layout, SharedLayout):
        what = f"{layout!r}, a layout of tensors" if isinstance(layout, Layout) else describe(layout)
        raise wrong_layout(
            TypeError(f"expected a layout of shared memory, such as gl.SwizzledSharedLayout, got {what}")
        )
    return layout


def check_threads(layout: DistributedLayout) -> None:
    """ValueError where a layout is for other numbers of lanes, warps or CTAs than run the kernel."""
    if isinstance(layout, InferredLayout):
        return
    context, plain = current(), layout.plain()
    for has, wants, what in (
        (plain.num_lanes, LANES, "threads per warp"),
        (plain.num_warps, context.num_warps, "warps per CTA"),
        (plain.num_blocks, context.options.num_ctas, "CTAs per cluster"),
    ):
        if has != wants:
            raise wrong_layout(ValueError(f"the layout is for {has} {what}, where {wants} run: {layout}"))


class shared_memory_descriptor_type(base_type):
    """A buffer in shared memory, or a view of one: elements, shape, layout, and the shape that was allocated."""

    def __init__(self, element_ty: Any, shape: Any, layout: Any, alloc_shape: Any) -> None:
        self.element_ty: dtype = unwrap(element_ty)
        self.shape: list[int] = list(unwrap(shape))
        self.layout = shared_layout(layout)
        self.alloc_shape: list[int] = list(unwrap(alloc_shape))

    @classmethod
    def of_ir(cls, ir: Any, element_ty: dtype) -> shared_memory_descriptor_type:
        """From the type of a value."""
        shape, allocated = ir.get_shape(), ir.get_alloc_shape()
        return cls(element_ty, shape, shared_layout_of_encoding(ir.encoding, shape), allocated)

    def to_ir(self) -> Attribute:
        from xdsl.utils.exceptions import VerifyException

        from tilewright.dialects import ttg

        shape, allocated = tuple(self.shape), tuple(self.alloc_shape)
        try:
            return ttg.memdesc_type(shape, self.element_ty.to_ir(), self.layout.encoding(), alloc_shape=allocated)
        except (VerifyException, ValueError) as error:
            raise wrong_layout(error) from None

    def mangle(self) -> str:
        shape, allocated = ("_".join(map(str, extents)) for extents in (self.shape, self.alloc_shape))
        return f"MD{self.element_ty.mangle()}S{shape}SL{self.layout.mangle()}LAS{allocated}ASMD"

    def flatten_ir_types(self) -> list[Attribute]:
        return [self.to_ir()]

    def unflatten_ir(self, handles: Sequence[SSAValue], cursor: int) -> tuple[base_value, int]:
        return self.wrap(handles[cursor]), cursor + 1

    def wrap(self, handle: SSAValue) -> shared_memory_descriptor:
        """A value of this type."""
        from tilewright.language.gluon.buffers import shared_memory_descriptor

        return shared_memory_descriptor(handle, self.element_ty, self.shape, self.layout, self.alloc_shape)

    @property
    def nbytes_per_cta(self) -> int:
        """Bytes of the part of the view that one CTA of a cluster holds, without padding."""
        layout: Any = self.layout
        cga = layout.block_bases if isinstance(layout, SharedLinearLayout) else layout.cga_layout
        part = shape_per_cta(self.shape, cga) if cga else self.shape
        return math.prod(part) * self.element_ty.primitive_bitwidth // 8

    def _key(self) -> tuple[Any, ...]:
        return (self.element_ty, tuple(self.shape), self.layout, tuple(self.alloc_shape))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, shared_memory_descriptor_type) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return f"shared_memory_descriptor<{self.element_ty}, {self.shape}, {self.layout}, {self.alloc_shape}>"
