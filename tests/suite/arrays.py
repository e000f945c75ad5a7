"""The type of arrays in tests."""

from __future__ import annotations

from typing import Any, TypeAlias

Array: TypeAlias = Any
"""An array of NumPy's of any shape and type. Among the overloads of NumPy's operators for arrays of type Any pyright
chooses anew in every expression: up to 15 s of CPU time for a file."""
