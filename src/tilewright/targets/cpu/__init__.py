"""The CPU target (see `target.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.targets.cpu.target import CpuTarget

__all__ = ["make_target"]


def make_target() -> CpuTarget:
    """The CPU target of this host, or of the processor that the `cpu` switch names."""
    from tilewright.targets.cpu.target import make_target

    return make_target()
