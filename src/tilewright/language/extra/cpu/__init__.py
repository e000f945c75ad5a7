"""The device library under the name of CPUs: programs form `triton.language.extra.<backend>.libdevice`, as Triton does,
from the target's."""

from tilewright.language.extra.cpu import libdevice

__all__ = ["libdevice"]
