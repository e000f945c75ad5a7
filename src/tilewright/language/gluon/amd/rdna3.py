"""RDNA3, of which there is no target: its names, so that programs for several GPUs can be imported."""

from __future__ import annotations

from tilewright.language.gluon.amd.layouts import AMDWMMALayout
from tilewright.language.gluon.amd.refused import refused

wmma = refused("wmma")

__all__ = ["AMDWMMALayout", "wmma"]
