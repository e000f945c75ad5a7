"""What programs make on the host for kernels in Gluon on NVIDIA's GPUs."""

from tilewright.gluon.nvidia import hopper

__all__ = ["hopper"]
