"""Finds NVIDIA's math library in bitcode, `libdevice.10.bc`, on this machine.

It comes with the CUDA toolkit, with the wheel `nvidia-cuda-nvcc` and with official Triton. Without it the functions
that tilewright has forms of its own for still work, see `lowering/ttg_to_llvm/library.py`.
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from tilewright.support import knobs
from tilewright.support.errors import TargetError, TilewrightError

FILE_NAME = "libdevice.10.bc"
PREFIX = "__nv_"
"""What the names of its functions begin with."""


class LibdeviceNotFoundError(TilewrightError):
    """A kernel needs a function of libdevice, and the library is not installed."""

    def __init__(self, function: str) -> None:
        super().__init__(function)
        self.function = function

    def __str__(self) -> str:
        return (
            f"the kernel calls {self.function} of NVIDIA's libdevice, and {FILE_NAME} is not installed; "
            "pip install nvidia-cuda-nvcc, or set CUDA_HOME to a CUDA toolkit, or TILEWRIGHT_LIBDEVICE_PATH"
        )


def find_libdevice() -> Path | None:
    """The library: of the `libdevice_path` switch, else of the CUDA toolkit in CUDA_HOME or its usual places, else of
    an installed wheel; None if absent. Raises TargetError where the switch names no file."""
    chosen = knobs.get("libdevice_path")
    if not chosen:
        return _found()
    path = Path(chosen)
    if not path.is_file():
        raise TargetError(f"TILEWRIGHT_LIBDEVICE_PATH={chosen}: there is no such file")
    return path


@lru_cache(maxsize=1)
def _found() -> Path | None:
    return next((path for path in _candidates() if path.is_file()), None)


def libdevice_identity() -> str:
    """Return what machine code that links it depends on, as part of cache keys; "" where there is none."""
    path = find_libdevice()
    return "" if path is None else file_identity(path)


def file_identity(path: Path) -> str:
    """A hash of a file's contents, read anew when its size or time of change is another."""
    status = path.stat()
    return _hash_of(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _hash_of(path: Path, size: int, changed: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def cuda_roots() -> list[Path]:
    """Return where a CUDA toolkit may be installed, wheels included, the most wanted first."""
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
