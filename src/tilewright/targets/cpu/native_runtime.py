"""The native half of the CPU runtime: thread pool, launcher and what kernels call, as one LLVM module per process.

The sources are the ``.ll`` files in ``native/``; they are assembled for the host, compiled once for the disk cache, and
linked. `launch` is then a C function that takes integers: about a tenth of a microsecond from Python to the kernel.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from ctypes import Structure, c_int64, c_void_p
from functools import lru_cache

from tilewright.codegen.llvm_backend import LoadedObject, ObjectLoader
from tilewright.codegen.native_records import ArenaHeader, Habits, Launch
from tilewright.support.forking import gate
from tilewright.support.threads import meanwhile
from tilewright.targets.cpu.facts import CpuFacts, available_cores, host_facts
from tilewright.targets.cpu.pytorch_threads import find_setting
from tilewright.targets.launch_cache.calls import Recogniser, find_recogniser, python_function
from tilewright.targets.launch_cache.native import filled, launch_cache_text, native_object

LaunchFunction = Callable[[int, int, int, int, int, int], object]
PackedLaunchFunction = Callable[[int, bytes, int, int, int, int], object]

KERNEL_IMPORTS = (
    "tilewright_assert_failed",
    "tilewright_hold_region",
    "tilewright_release_region",
    "tilewright_enter_atomics",
    "tilewright_share_atomics",
    "tilewright_leave_alone",
    "tilewright_wait",
    "tilewright_look",
    "tilewright_end_wait",
    "tilewright_nanoseconds",
)
"""What kernels call."""


class Again(Structure):
    """What `launch_again` is told of a kernel."""

    _fields_ = (
        ("entry", c_int64),
        ("arena_bytes", c_int64),  # per thread
        ("threads", c_int64),  # 0: the default
        ("habits", c_void_p),  # of the kernel
        ("fail", c_void_p),  # function that raises what stopped the grid
    )


_X86_PAUSE = "call void @llvm.x86.sse2.pause()"
_ARM_PAUSE = "call void @llvm.aarch64.isb(i32 15)"
"""Intrinsics: LLVM reads the assembly of this machine's processor alone."""


def runtime_text(facts: CpuFacts, launcher: str = "launcher.ll") -> str:
    """LLVM IR of the runtime for a machine: the pool, and a launcher for C (`c_launcher.ll`), or those for Python and
    the launch cache."""
    is_linux = "linux" in facts.triple
    has_signals = not facts.is_windows and launcher == "launcher.ll"
    names = {
        "SYS_FUTEX": "202" if facts.is_x86 else "98",
        "SYS_GETTID": "186" if facts.is_x86 else "178",
        "CLOCK_MONOTONIC": "1" if is_linux else "6",
        "SIG_SETMASK": "2" if is_linux else "3",
        "SIGBUS": "7" if is_linux else "10",
        "SA_FLAGS_AT": "136" if is_linux else "12",
        "SA_SIGINFO": "4" if is_linux else "64",
        "SA_SIGINFO_AND_ONSTACK": str(0x08000004) if is_linux else "65",
        "SA_RESETHAND": str(-0x80000000) if is_linux else "4",
        "SI_ADDR_AT": "16" if is_linux else "24",
        "PAUSE": _X86_PAUSE if facts.is_x86 else _ARM_PAUSE,
    }
    sources = (
        "types.ll",
        *_threads(facts),
        "clock.ll",
        "regions.ll",
        "pool.ll",
        "waiting.ll",
        "launches.ll",
        "crashes.ll" if has_signals else "no_crashes.ll",
        launcher,
    )
    pause = "@llvm.x86.sse2.pause()" if facts.is_x86 else "@llvm.aarch64.isb(i32)"
    parts = [f'target triple = "{facts.triple}"', f"declare void {pause}"]
    if launcher == "launcher.ll":
        parts.append(launch_cache_text())
    records = (ArenaHeader, Launch, Habits, Again)
    return "\n".join([*parts, filled("tilewright.targets.cpu.native", sources, records, names)])


def _threads(facts: CpuFacts) -> Sequence[str]:
    """The sources of threads on an operating system."""
    if facts.is_windows:
        return ["threads_windows.ll"]
    return ["threads_linux.ll" if "linux" in facts.triple else "threads_posix.ll", "threads.ll"]


class NativeRuntime:
    """The process-wide pool and launcher. Use `native_runtime()`, which builds it on first need."""

    EXPORTS = (
        "tilewright_launch_method",
        "tilewright_launch_packed_method",
        "tilewright_launch_again",
        *Recogniser.EXPORTS,
        *KERNEL_IMPORTS,
        "tilewright_set_num_threads",
        "tilewright_follow_setting",
        "tilewright_watch_crashes",
        "tilewright_pool_after_fork",
        "tilewright_pool_init",
    )

    def __init__(self, image: bytes) -> None:
        self.loader = ObjectLoader()
        self._library: LoadedObject = self.loader.load(image, self.EXPORTS)
        ctypes.CFUNCTYPE(None)(self._library.address("tilewright_pool_init"))()
        ctypes.CFUNCTYPE(None)(self._library.address("tilewright_watch_crashes"))()
        self._set_num_threads = ctypes.CFUNCTYPE(None, ctypes.c_int32)(
            self._library.address("tilewright_set_num_threads")
        )
        self._after_fork = ctypes.CFUNCTYPE(None)(self._library.address("tilewright_pool_after_fork"))
        self.launch: LaunchFunction = python_function(self._library.address("tilewright_launch_method"))
        self.launch_packed: PackedLaunchFunction = python_function(
            self._library.address("tilewright_launch_packed_method")
        )
        self.launch_again = self._library.address("tilewright_launch_again")
        self.follow: Callable[[int | None], object] = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(
            self._library.address("tilewright_follow_setting")
        )
        """Have a C function, by its address, say the number of threads of launches that do not; None: nobody."""
        self._follows = False
        self.recogniser: Recogniser | None = find_recogniser(self._library)
        """Of repeated calls; None where native code cannot read arguments."""
        self.num_threads = 0
        self.set_num_threads(available_cores())
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def set_num_threads(self, count: int) -> None:
        """Threads that work on one grid, the launching one included, unless a launch says otherwise."""
        if count < 1:
            raise ValueError(f"a grid needs at least one thread, not {count}")
        self.num_threads = count
        self._set_num_threads(count)

    def follow_pytorch(self) -> None:
        """Once PyTorch is imported, launches that do not say otherwise use as many threads as it does then."""
        if self._follows or "torch" not in sys.modules:
            return
        setting = find_setting()
        self._follows = setting is not None
        self.follow(setting)

    def symbols(self) -> dict[str, int]:
        """Addresses of the functions that kernels may call, by name."""
        return {name: self._library.address(name) for name in KERNEL_IMPORTS}


_lock = threading.Lock()


def runtime_image(facts: CpuFacts) -> bytes:
    """The runtime's object for a machine."""
    return native_object("native runtime", runtime_text(facts), facts)


@lru_cache(maxsize=1)
def _host_image() -> bytes:
    return runtime_image(host_facts())


@lru_cache(maxsize=1)
def _build() -> NativeRuntime:
    return NativeRuntime(_host_image())


@gate.compiling()
def native_runtime() -> NativeRuntime:
    """The runtime of this process, made and linked on first use."""
    with _lock:
        return _build()


def made_meanwhile() -> AbstractContextManager[None]:
    """A context in which another thread makes the runtime's object, where this process has none."""
    return nullcontext() if _host_image.cache_info().currsize else meanwhile(_make_image)


def _make_image() -> None:
    with _lock, suppress(Exception):  # `native_runtime` tries again, and raises
        _host_image()
