"""What Triton calls `triton.backends.compiler`: the description of a target, which `tilewright.compile` takes, and what
its back ends have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from tilewright.targets.base import GPUTarget

__all__ = ["BaseBackend", "GPUTarget"]

ALIGNMENT = 16
"""What a number or an address is divisible by where a kernel is compiled for that."""

ALIGNED = "D"
"""How Triton writes it."""


class BaseBackend(ABC):
    """What programs ask Triton's back ends. Those here are the targets: a class of another package that derives from
    this one cannot become one of them (entry points can, see CONTRIBUTING.md)."""

    supports_native_tensor_specialization = True

    @abstractmethod
    def hash(self) -> str:
        """Return what machine code depends on."""

    @abstractmethod
    def parse_options(self, options: Mapping[str, Any]) -> Any:
        """Launch options, completed and checked."""

    @staticmethod
    def get_int_specialization(arg: int, **keywords: Any) -> str:
        """Return what a kernel is told of an integer argument: D for a multiple of 16, if `align`."""
        return ALIGNED if keywords.get("align") and arg % ALIGNMENT == 0 else ""

    @staticmethod
    def get_tensor_specialization(arg: Any, **keywords: Any) -> str:
        """The same of a tensor's address."""
        return ALIGNED if keywords.get("align") and arg.data_ptr() % ALIGNMENT == 0 else ""

    @staticmethod
    def parse_attr(desc: str) -> list[list[Any]]:
        """The attributes that such letters stand for."""
        return [["tt.divisibility", ALIGNMENT]] if ALIGNED in desc else []
