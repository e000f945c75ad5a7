"""What only Blackwell has: names that programs for several GPUs import, and errors where a kernel uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


__all__ = ["OfBlackwell", "refused"]
