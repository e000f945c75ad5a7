"""What Triton calls `triton._C.libtriton`."""

from tilewright.compat.native.libtriton import ir
from tilewright.runtime.argument_types import native_specialize_impl

__all__ = ["ir", "native_specialize_impl"]
