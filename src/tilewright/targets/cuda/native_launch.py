"""The native launcher of GPUs: what `native/launch.ll` is told of a kernel, and the code itself.

An empty kernel is launched in 4 to 6 us on an H100, one whose tensor maps are computed in 8.6, by the fast path in 35.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import Structure, c_int64, c_void_p
from functools import lru_cache
from typing import TYPE_CHECKING

from tilewright.support.forking import gate
from tilewright.targets.cuda.made_parameters import MOST_LAUNCHES, MOST_MADE
from tilewright.targets.cuda.parameters import LAUNCH_ATTRIBUTE_BYTES, MAP_BYTES
from tilewright.targets.cuda.placement import raw_stream_reader
from tilewright.targets.launch_cache.calls import ABSENT, Launcher, Recogniser, find_recogniser
from tilewright.targets.launch_cache.records import MOST_SLOTS

if TYPE_CHECKING:
    from tilewright.targets.cuda.loaded_kernel import LoadedKernel

CUPY = "cupy"


class CudaLaunch(Structure):
    """What `launch.ll` is told of a kernel."""

    _fields_ = (
        ("launch", c_void_p),  # cuLaunchKernelEx
        ("get_context", c_void_p),  # cuCtxGetCurrent
        ("context", c_void_p),  # that the kernel is loaded in
        ("function", c_void_p),
        ("slots", c_int64),  # each a parameter
        ("ctas", c_int64),  # of a cluster
        ("threads", c_int64),  # of a CTA
        ("shared_bytes", c_int64),
        ("attributes", c_void_p),  # of the launch
        ("attribute_count", c_int64),
        ("stream_of", c_void_p),  # Python function (device) that returns the current stream
        ("device", c_void_p),  # a Python integer
        ("made_count", c_int64),  # parameters after the slots that are made for a launch (`made_parameters.py`)
        ("made", c_void_p),  # launches for which they were made
        ("made_launches", c_int64),
        ("made_bytes", c_int64),  # of each
    )


class NativeLaunches:
    """The process-wide launcher. Use `native_launches()`, which builds it on first need."""

    def __init__(self) -> None:
        from tilewright.codegen.llvm_backend import ObjectLoader
        from tilewright.targets.cpu.facts import host_facts
        from tilewright.targets.launch_cache.native import filled, launch_cache_text, native_object

        facts = host_facts()
        sizes = {"MAP_BYTES": MAP_BYTES, "MOST_MADE": MOST_MADE, "MOST_PARAMETERS": MOST_SLOTS + MOST_MADE + 1}
        own = filled("tilewright.targets.cuda.native", ("launch.ll",), (CudaLaunch,), sizes)
        text = "\n".join([f'target triple = "{facts.triple}"', launch_cache_text(), own])
        image = native_object("native launches", text, facts)
        self._loader = ObjectLoader()
        self._library = self._loader.load(image, (*Recogniser.EXPORTS, "tilewright_cuda_launch"))
        self.recogniser: Recogniser | None = find_recogniser(self._library)
        """Of repeated calls; None where native code cannot read arguments."""

    def launcher(self, loaded: LoadedKernel) -> Launcher | None:
        """Return how native code starts grids of a kernel; None where a program may use streams of others than
        PyTorch.
        """
        stream_of = raw_stream_reader()
        if stream_of is None or CUPY in sys.modules:
            return None
        facts, device, attributes = loaded.facts, loaded.device, loaded.attributes
        made = loaded.made
        described = CudaLaunch(
            device.driver.launch_address, device.driver.get_context_address, device.context, loaded.function,
            made.slots, facts.num_ctas, facts.num_threads, facts.shared,
            ctypes.addressof(attributes), len(attributes) // LAUNCH_ATTRIBUTE_BYTES,
            id(stream_of), id(device.ordinal),
            made.count, made.address, MOST_LAUNCHES, made.entry_bytes,
        )  # fmt: skip
        kept = (loaded, stream_of)
        return Launcher(self._library.address("tilewright_cuda_launch"), described, kept, _WITHOUT_CUPY)


_WITHOUT_CUPY = [(sys.modules, CUPY, ABSENT)]
"""CuPy has streams of its own, which go first."""


@lru_cache(maxsize=1)
@gate.compiling()
def native_launches() -> NativeLaunches | None:
    """The launcher of this process, made and linked on first use; None on systems that native code is not made for."""
    return None if sys.platform == "win32" else NativeLaunches()
