"""What every op means, in NumPy: slow, simple, and the definition that every engine is tested against."""

from tilewright.reference.errors import AssertionFailed, ReferenceError
from tilewright.reference.machine import Frame, Machine, meaning_of
from tilewright.reference.memory import ByteRange, MemRef, Storage
from tilewright.reference.run import find_kernel, run_grid, run_module

__all__ = [
    "AssertionFailed",
    "ByteRange",
    "Frame",
    "Machine",
    "MemRef",
    "ReferenceError",
    "Storage",
    "find_kernel",
    "meaning_of",
    "run_grid",
    "run_module",
]
