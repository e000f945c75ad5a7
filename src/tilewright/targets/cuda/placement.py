"""Where a launch runs: the device that holds its data, and the stream that the framework currently uses.

Frameworks are recognised by what is imported already; none is ever imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

LEGACY_STREAM = 0

StreamOf = Callable[[int], int]


def device_of(arrays: Mapping[int, Any]) -> int:
    """The device number of the data that a launch's pointers point to; without pointers, the framework's current
    device."""
    for value in arrays.values():
        get_device = getattr(value, "get_device", None)
        if get_device is not None:
            ordinal = get_device()
            if ordinal >= 0:
                return ordinal
            continue
        kind, _, index = str(getattr(value, "device", "")).partition(":")
        if kind == "cuda":
            return int(index or 0)
    return current_device()


def current_device() -> int:
    """The device that PyTorch or CuPy uses now, else 0."""
    torch = _torch()
    if torch is not None:
        return int(torch.cuda.current_device())
    cupy: Any = sys.modules.get("cupy")
    return 0 if cupy is None else int(cupy.cuda.runtime.getDevice())


def current_stream(ordinal: int) -> int:
    """The handle of the stream that launches on a device go to: CuPy's where a program set one, PyTorch's, else 0."""
    cupy: Any = sys.modules.get("cupy")
    if cupy is not None and (stream := int(cupy.cuda.get_current_stream().ptr)):
        return stream
    torch = _torch()
    return LEGACY_STREAM if torch is None else torch._C._cuda_getCurrentRawStream(ordinal)


def raw_stream_reader() -> StreamOf | None:
    """PyTorch's own function for the handle of its current stream on a device; None where it uses no GPU."""
    torch = _torch()
    return None if torch is None else torch._C._cuda_getCurrentRawStream


class StreamReader:
    """As `current_stream`, fast where PyTorch is the only framework that is loaded."""

    def __init__(self) -> None:
        self._of_torch: StreamOf | None = None

    def __call__(self, ordinal: int) -> int:
        if self._of_torch is not None and "cupy" not in sys.modules:
            return self._of_torch(ordinal)
        self._of_torch = raw_stream_reader()
        return current_stream(ordinal)


def _torch() -> Any:
    """PyTorch, if it is loaded and uses a GPU."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return None
    cuda = getattr(torch, "cuda", None)
    return torch if cuda is not None and cuda.is_initialized() else None
