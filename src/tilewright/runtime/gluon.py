"""`@gluon.jit`: kernels whose layouts, shared memory, copies and warps the user writes; descriptors for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tilewright.compiler.source import ASTSource
from tilewright.language.gluon.layouts import NVMMASharedLayout
from tilewright.runtime.jit import JITFunction
from tilewright.runtime.tensor_descriptor import TensorDescriptor as PlainDescriptor
from tilewright.runtime.tensor_descriptor import element_bytes
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


__all__ = ["GluonASTSource", "GluonJITFunction", "TensorDescriptor", "jit"]
