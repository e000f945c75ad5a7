"""What Triton calls `triton.backends.compiler`: the description of a target, which `tilewright.compile` takes."""

from tilewright.runtime.driver import GPUTarget

__all__ = ["GPUTarget"]
