"""The rules by which layouts of operands come together, and what there is to say where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.language.context import emit
from tilewright.language.creation import made
from tilewright.language.gluon.distributed_layouts import AutoLayout, DistributedLayout, InferredLayout, SliceLayout
from tilewright.language.gluon.types import check_threads, distributed_type
from tilewright.language.ir_modules import gluon, tt
from tilewright.language.registry import with_hint, wrong_layout
from tilewright.language.values import tensor

if TYPE_CHECKING:
    from collections.abc import Sequence


def type_with_layout(value: tensor, what: str) -> distributed_type:
    """The type of a block; TypeError for what has no layout."""
    ty = value.type
    if not isinstance(ty, distributed_type):
        raise wrong_layout(TypeError(f"{what} must be a block with a layout, got {value}"))
    return ty


def layout_of(value: tensor, what: str = "the operand") -> DistributedLayout:
    """The layout of a block."""
    return type_with_layout(value, what).layout


def agree(lhs: tensor, rhs: tensor) -> tuple[tensor, tensor]:
    """Two blocks that are to be combined, in one layout: one that is to follow takes that of the other.

    Raises ValueError for blocks of different ranks, and for layouts that differ.
    """
    left, right = type_with_layout(lhs, "the left operand"), type_with_layout(rhs, "the right operand")
    if len(left.shape) != len(right.shape):
        raise with_hint(
            wrong_layout(ValueError(f"Cannot broadcast, rank mismatch: {left.shape}, {right.shape}")),
            "blocks with layouts are not given leading dimensions: write `x[None, :]`",
        )
    if left.layout == right.layout:
        return lhs, rhs
    if isinstance(left.layout, AutoLayout):
        return placed(lhs, right.layout), rhs
    if isinstance(right.layout, AutoLayout):
        return lhs, placed(rhs, left.layout)
    raise with_hint(
        wrong_layout(
            ValueError(
                f"Layout mismatch in broadcast: {left.layout} vs {right.layout}"
                + drawn("left operand", left)
                + drawn("right operand", right)
            )
        ),
        "convert one of them: gl.convert_layout(x, layout)",
    )


def placed(value: tensor, layout: DistributedLayout) -> tensor:
    """A block of AutoLayout in a layout that is known."""
    check_threads(layout)
    assert isinstance(value.type, distributed_type)
    return made(emit(gluon.SetAutoLayoutOp(value.handle, layout.encoding())), value.dtype)


def check_expand_dims(value: tensor, axis: int) -> None:
    """ValueError unless the layout of a block is a slice along the dimension that is to be put in."""
    ty = type_with_layout(value, "the operand of expand_dims")
    layout = ty.layout
    if isinstance(layout, InferredLayout):
        return
    if not isinstance(layout, SliceLayout):
        raise with_hint(
            wrong_layout(
                ValueError(
                    f"expected expand_dims input to have a SliceLayout, but got: {layout}" + drawn("operand", ty)
                )
            ),
            f"make it in gl.SliceLayout({axis}, parent), with the layout of the result as parent",
        )
    if layout.dim != axis:
        raise with_hint(
            wrong_layout(
                ValueError(f"expected expand_dims input layout to be sliced in axis {axis} but got {layout.dim}")
            ),
            f"make it in gl.SliceLayout({axis}, parent), with the layout of the result as parent",
        )


def reshaped(value: tensor, extents: Sequence[int]) -> tensor:
    """The elements in row-major order in another shape, each where it is."""
    from tilewright.dialects.tt import inference

    type_with_layout(value, "the operand of reshape")
    result = inference.reshape(value.handle.type, extents)
    return made(emit(tt.ReshapeOp(value.handle, result)), value.dtype)


def drawn(what: str, ty: distributed_type) -> str:
    """A picture of who holds the first elements, for an error."""
    if isinstance(ty.layout, InferredLayout):
        return ""
    from tilewright.layouts.draw import corner

    return corner(what, ty.layout.plain(), ty.shape)
