"""What only AMD's GPUs have: names that programs for several GPUs import, and errors where a kernel uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from tilewright.language.gluon.refused import refused as refused_for
from tilewright.language.registry import with_hint

_REASON = "needs one of AMD's GPUs, for which there is no target"
_ADVICE = "take the program's way for NVIDIA's GPUs, or the kernel's form in Triton"


def refused(name: str) -> Callable[..., Any]:
    """A function of the language whose call is an error that names it."""
    return refused_for(name, _REASON, _ADVICE)


def refuse(kind: type[Any]) -> NoReturn:
    """Raise the error of a class of which kernels can have nothing."""
    raise with_hint(ValueError(f"`{kind.__name__}` {_REASON}"), _ADVICE)


class OfAmd:
    """A class that kernels may name, and that has no instances."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        refuse(type(self))


__all__ = ["OfAmd", "refuse", "refused"]
