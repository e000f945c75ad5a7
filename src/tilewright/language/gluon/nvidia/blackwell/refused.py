"""What only Blackwell has: names that programs for several GPUs import, and errors where a kernel uses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tilewright.language.gluon.layout_base import Layout
from tilewright.language.gluon.refused import refused as refused_for
from tilewright.language.registry import with_hint

_REASON = "needs Blackwell (compute capability 10.0), for which there is no target"
_ADVICE = "take the program's way for Hopper: `warpgroup_mma`, accumulators in registers"


def refused(name: str) -> Callable[..., Any]:
    """A function of the language whose call is an error that names it."""
    return refused_for(name, _REASON, _ADVICE)


class OfBlackwell:
    """A class that kernels may name in annotations, and that has no instances."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        raise with_hint(ValueError(f"`{type(self).__name__}` {_REASON}"), _ADVICE)


class LayoutOfBlackwell(Layout):
    """A layout that programs make and hand to kernels whatever the GPU is. Nothing can have it: ValueError."""

    def encoding(self) -> NoReturn:
        raise with_hint(ValueError(f"`{type(self).__name__}` {_REASON}"), _ADVICE)

    def format_tensor_view(self, shape: Sequence[int]) -> NoReturn:
        self.encoding()

    def format_hardware_view(self, shape: Sequence[int]) -> NoReturn:
        self.encoding()


__all__ = ["LayoutOfBlackwell", "OfBlackwell", "refused"]
