"""NVIDIA GPUs: the targets `cuda` (a real one) and `cuda_sim` (the same code, run by `reference/simt` on NumPy)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.targets.cuda.target import CudaTarget

__all__ = ["make_simulated_target", "make_target"]


def make_target() -> CudaTarget:
    """The GPU of this machine, or the one that `override_arch` or the option `arch` names."""
    from tilewright.targets.cuda.target import CudaTarget

    return CudaTarget()


def make_simulated_target() -> CudaTarget:
    """The simulated GPU: no driver, no ptxas, no hardware needed."""
    from tilewright.targets.cuda.simulated import SimulatedTarget

    return SimulatedTarget()
