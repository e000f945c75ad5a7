"""The type of arrays in tests."""

from __future__ import annotations

from typing import Any, TypeAlias

Array: TypeAlias = Any
"""An array of NumPy's of any shape and type. Pyright takes seconds a file to choose among the overloads of NumPy's
operators for such arrays, a fifth of its time for the whole repository, and never finds anything."""
