"""How many threads PyTorch's own kernels use, which `torch.set_num_threads` says: for ours, too."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

LIBRARIES = ("libtorch_cpu.so", "libtorch_cpu.dylib")

GET_NUM_THREADS = "_ZN2at15get_num_threadsEv"
"""`int at::get_num_threads()`: takes a few ns, and no lock of Python's."""


def find_setting() -> int | None:
    """The address of the function that says so; None where PyTorch is not there whole, or has no such library."""
    torch = sys.modules.get("torch")
    if not hasattr(torch, "get_num_threads") or not (place := getattr(torch, "__file__", None)):
        return None
    for name in LIBRARIES:
        path = Path(place).parent / "lib" / name
        if path.is_file():
            function = getattr(ctypes.CDLL(str(path)), GET_NUM_THREADS, None)
            return None if function is None else ctypes.cast(function, ctypes.c_void_p).value
    return None
