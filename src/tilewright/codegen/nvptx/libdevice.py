"""NVIDIA's math library in bitcode, `libdevice.10.bc`: where it lies on this machine.

It comes with the CUDA toolkit, with the wheel `nvidia-cuda-nvcc` and with official Triton. Without it the functions
that tilewright has forms of its own for still work, see `lowering/ttg_to_llvm/library.py`.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from tilewright.support.errors import TilewrightError

FILE_NAME = "libdevice.10.bc"


class LibdeviceNotFoundError(TilewrightError):
    """A kernel needs a function of libdevice, and the library is not installed."""

    def __init__(self, function: str) -> None:
        super().__init__(function)
        self.function = function

    def __str__(self) -> str:
        return (
            f"the kernel calls {self.function} of NVIDIA's libdevice, and {FILE_NAME} is not installed; "
            "pip install nvidia-cuda-nvcc, or set CUDA_HOME to a CUDA toolkit"
        )


@lru_cache(maxsize=1)
def find_libdevice() -> Path | None:
    """The library: of the CUDA toolkit in CUDA_HOME or its usual places, else of an installed wheel; None if absent."""
    return next((path for path in _candidates() if path.is_file()), None)


def cuda_roots() -> list[Path]:
    """Where a CUDA toolkit may be installed, wheels included, the most wanted first."""
    roots = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    for place in sys.path:
        nvidia = Path(place or ".") / "nvidia"
        if nvidia.is_dir():
            roots += [nvidia / "cuda_nvcc", *sorted(nvidia.glob("cu[0-9]*"), reverse=True)]
    roots += [Path("/usr/local/cuda"), Path("/opt/cuda"), Path("/usr/lib/cuda")]
    return roots


def triton_nvidia_folder() -> Path | None:
    """The folder of official Triton's NVIDIA tools, where that package is installed (it is not imported)."""
    spec = find_spec("triton")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "backends" / "nvidia"
    return folder if folder.is_dir() else None


def _candidates() -> list[Path]:
    found = [root / "nvvm" / "libdevice" / FILE_NAME for root in cuda_roots()]
    triton = triton_nvidia_folder()
    return [*found, triton / "lib" / FILE_NAME] if triton is not None else found
