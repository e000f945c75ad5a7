"""Functions beyond the core language: the device library, and what is particular to a vendor."""

from tilewright.language.extra import libdevice  # isort: skip
from tilewright.language.extra import cpu, cuda, hip

__all__ = ["cpu", "cuda", "hip", "libdevice"]
