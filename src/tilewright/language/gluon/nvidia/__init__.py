"""What NVIDIA's GPUs have beyond the rest of Gluon, by generation."""

from tilewright.language.gluon.nvidia import ampere, blackwell, hopper, rubin

__all__ = ["ampere", "blackwell", "hopper", "rubin"]
