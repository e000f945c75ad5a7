"""Arrays as other libraries have them: what they show of their memory is one protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from suite.arrays import Array


@dataclass
class ByDlpack:
    """Shows its memory through DLPack alone, as JAX arrays do."""

    array: Array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@dataclass
class ByInterface:
    """Shows its memory through NumPy's protocol alone."""

    array: Array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__
