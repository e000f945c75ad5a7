"""`@gluon.jit`: kernels whose layouts, shared memory, copies and warps the user writes; descriptors for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tilewright.compiler.source import ASTSource
from tilewright.language.gluon.shared_layouts import NVMMASharedLayout
from tilewright.runtime.jit import JITFunction
from tilewright.runtime.tensor_descriptor import TensorDescriptor as PlainDescriptor
from tilewright.runtime.tensor_descriptor import element_bytes, strides_of
from tilewright.support.records import dataclass


class GluonJITFunction(JITFunction):
    """What `@gluon.jit` makes of a function. `kernel[grid](*args, **meta)` launches it."""

    def is_gluon(self) -> bool:
        return True


def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator, with or without arguments, which are those of `tilewright.jit`: compile the function as Gluon."""
    if fn is None:
        return partial(jit, **options)
    if not inspect.isfunction(fn):
        raise TypeError(f"@gluon.jit decorates functions, got {type(fn).__name__}")
    return GluonJITFunction(fn, **options)


class GluonASTSource(ASTSource):
    """A kernel in Gluon and what it is specialised on, for `tilewright.compile`."""


@dataclass
class TensorDescriptor(PlainDescriptor):
    """A tensor, the shape of its blocks, and the layout that these have in shared memory.

    Raises ArgumentValueError for what `tilewright.tools.tensor_descriptor.TensorDescriptor` refuses, and for a layout
    that does not fit the blocks.
    """

    layout: NVMMASharedLayout | None = None

    def __init__(
        self,
        base: Any,
        shape: Sequence[int],
        strides: Sequence[int],
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ) -> None:
        self.layout = layout
        super().__init__(base, shape, strides, block_shape, padding, round_f32_to_tf32)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_layout()

    @property
    def mode(self) -> str:
        """The name of TMA's way over the tensor: tiles, or pixels of windows."""
        return "tiled"

    def _check_layout(self) -> None:
        layout, block = self.layout, list(self.block_shape)
        if not isinstance(layout, NVMMASharedLayout):
            self._require(False, f"the layout {layout!r}", "an NVMMASharedLayout")
            return
        size = element_bytes(self.storage().dtype)
        self._require(layout.rank == len(block), f"a layout of rank {layout.rank}", f"rank {len(block)}")
        self._require(
            layout.element_bitwidth == 8 * size, f"a layout of {layout.element_bitwidth} bits", f"{8 * size} bits"
        )
        least = layout.swizzle_byte_width // (size * (2 if layout.fp4_padded else 1))
        self._require(block[-1] >= least, f"rows of {block[-1]} elements", f"at least {least}, what is swizzled")

    @staticmethod
    def from_tensor(  # pyright: ignore[reportIncompatibleMethodOverride]
        tensor: Any,
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ) -> TensorDescriptor:
        """The descriptor of a whole tensor or array."""
        plain = PlainDescriptor.from_tensor(tensor, block_shape, padding)
        return TensorDescriptor(
            tensor, plain.shape, plain.strides, plain.block_shape, layout, padding, round_f32_to_tf32
        )

    def signature(self) -> str:
        return f"{super().signature()[:-1]},{self.layout!r}>"


_CORNERS = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}
"""Corners of the box of pixels are less than these, by the rank of the tensor."""
MAX_STEP = 8


@dataclass
class TensorDescriptorIm2Col(TensorDescriptor):
    """Images (N, [[D,] H,] W, C) of which blocks are pixels by channels, for `tma.async_load_im2col`.

    `element_strides` are the steps from one pixel to the next (of N and C 1); the corners say, for each of D, H, W,
    where a walk over pixels begins, and how far from the last pixel of an image it ends. Raises ArgumentValueError for
    what a `TensorDescriptor` refuses, and for numbers that the hardware does not take.
    """

    element_strides: Sequence[int] = ()
    pixel_box_lower_corner: Sequence[int] = ()
    pixel_box_upper_corner: Sequence[int] = ()

    def __init__(
        self,
        base: Any,
        shape: Sequence[int],
        strides: Sequence[int],
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
        element_strides: Sequence[int] | None = None,
        pixel_box_lower_corner: Sequence[int] | None = None,
        pixel_box_upper_corner: Sequence[int] | None = None,
    ) -> None:
        self.element_strides = [1] * len(shape) if element_strides is None else element_strides
        self.pixel_box_lower_corner = pixel_box_lower_corner or ()
        self.pixel_box_upper_corner = pixel_box_upper_corner or ()
        super().__init__(base, shape, strides, block_shape, layout, padding, round_f32_to_tf32)

    @property
    def mode(self) -> str:
        return "im2col"

    def __post_init__(self) -> None:
        rank, block = len(self.shape), self.block_shape
        self._require(len(block) == 2, f"a block of rank {len(block)}", "pixels and channels")
        self._require(rank in _CORNERS, f"rank {rank}", "3, 4, or 5 dimensions: images of pixels of channels")
        self._check_tensor()
        self._check_layout()
        for extent in block:
            self._require(extent & (extent - 1) == 0 < extent, f"a block of {extent}", "a power of 2")
        for name, corner in (("lower", self.pixel_box_lower_corner), ("upper", self.pixel_box_upper_corner)):
            self._require(len(corner) == rank - 2, f"pixel_box_{name}_corner={list(corner)}", f"{rank - 2} numbers")
            for value in corner:
                least, most = -_CORNERS[rank], _CORNERS[rank] - 1
                self._require(
                    least <= value <= most, f"{value} in pixel_box_{name}_corner", f"a number from {least} to {most}"
                )
        steps = self.element_strides
        self._require(len(steps) == rank, f"{len(steps)} element strides", f"one for each of {rank} dimensions")
        for step in steps:
            self._require(1 <= step <= MAX_STEP, f"an element stride of {step}", f"1 to {MAX_STEP}")
        self._require(steps[0] == 1, f"an element stride of images of {steps[0]}", "1")
        self._require(steps[-1] == 1, f"an element stride of channels of {steps[-1]}", "1")

    @staticmethod
    def from_tensor(  # pyright: ignore[reportIncompatibleMethodOverride]
        tensor: Any,
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
        element_strides: Sequence[int] | None = None,
        pixel_box_lower_corner: Sequence[int] | None = None,
        pixel_box_upper_corner: Sequence[int] | None = None,
    ) -> TensorDescriptorIm2Col:
        """The descriptor of a whole tensor or array of images."""
        return TensorDescriptorIm2Col(
            tensor,
            list(tensor.shape),
            strides_of(tensor),
            list(block_shape),
            layout,
            padding,
            round_f32_to_tf32,
            element_strides,
            pixel_box_lower_corner,
            pixel_box_upper_corner,
        )

    def signature(self) -> str:
        """As of a `TensorDescriptor`, with the walk: `tensordesc_im2col<fp32[16, 32],input_rank=4,pixels=...,...>`."""
        pixels = (
            tuple(self.pixel_box_lower_corner),
            tuple(self.pixel_box_upper_corner),
            tuple(self.element_strides[1:-1]),
        )
        tiled, rank = super().signature(), len(self.shape)
        start = tiled.index(",NVMMA")
        head = tiled[:start].replace("tensordesc<", "tensordesc_im2col<")
        return f"{head},input_rank={rank},pixels={pixels}{tiled[start:]}"
