"""What Triton calls `triton.profiler.mode`: how finely its GPU profilers measure. Here there is one way."""

from __future__ import annotations

from tilewright.support.records import dataclass


@dataclass(frozen=True)
class BaseMode:
    """What `start(mode=...)` takes."""

    name: str = "default"


@dataclass(frozen=True)
class PCSampling(BaseMode):
    """Samples of the program counter."""

    name: str = "pcsampling"
    interval: int = 1000


__all__ = ["BaseMode", "PCSampling"]
