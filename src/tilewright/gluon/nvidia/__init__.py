"""What programs make on the host for kernels in Gluon on NVIDIA's GPUs."""

from tilewright.gluon.nvidia import blackwell, hopper

__all__ = ["blackwell", "hopper"]
