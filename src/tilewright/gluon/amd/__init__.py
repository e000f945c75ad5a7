"""What the host makes for AMD's GPUs, of which there is no target: names, so that programs can be imported."""

from tilewright.gluon.amd import cdna5, gfx1250

__all__ = ["cdna5", "gfx1250"]
