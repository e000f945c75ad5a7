"""A loaded kernel: an address, and the launch that runs a grid of it on the native pool."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Any

from tilewright.codegen.llvm_backend import LoadedObject
from tilewright.codegen.native_records import Habits
from tilewright.support import knobs
from tilewright.support.errors import OutOfResources, TilewrightError
from tilewright.support.tracebacks import ends_tracebacks
from tilewright.targets.cpu.assertions import Meanings, assertion_error
from tilewright.targets.cpu.memory import free_memory
from tilewright.targets.cpu.native_runtime import Again
from tilewright.targets.launch_cache.calls import Launcher, Recogniser

if TYPE_CHECKING:
    from tilewright.targets.cpu.native_runtime import NativeRuntime

_ASSERTION, _OUT_OF_MEMORY = 1, 2


class CpuKernel:
    """Machine code of one kernel in this process. It may be launched from several threads at a time."""

    __slots__ = (
        "_assertions",
        "_entry",
        "_habits",
        "_habits_address",
        "_launch",
        "_launch_packed",
        "_library",
        "_runtime",
        "_shown_name",
        "arena_bytes",
        "name",
    )

    def __init__(
        self,
        name: str,
        library: LoadedObject,
        runtime: NativeRuntime,
        arena_bytes: int,
        assertions: Meanings,
        *,
        waits: bool = False,
    ) -> None:
        """`waits`: a program may wait for another, in a loop that tells the runtime."""
        self.name = name
        self.arena_bytes = arena_bytes
        self._assertions = assertions
        self._library = library
        self._entry = library.address(name)
        self._runtime = runtime
        self._launch = runtime.launch
        self._launch_packed = runtime.launch_packed
        self._shown_name = ctypes.create_string_buffer(name.encode())
        self._habits = Habits(0, waits, ctypes.addressof(self._shown_name))
        self._habits_address = ctypes.addressof(self._habits)

    def launch(self, slots_address: int, num_programs: int, num_threads: int = 0) -> None:
        """Run programs 0 to num_programs - 1 and wait for them.

        `num_threads` 0 takes the `num_threads` switch, else PyTorch's number if it is imported, else all cores. Raises
        DeviceAssertionError, OutOfResources when no arena can be had, and what a signal handler raised (Ctrl-C).
        """
        self._runtime.follow_pytorch()
        failure = self._launch(
            self._entry,
            slots_address,
            num_programs,
            num_threads or knobs.get("num_threads"),
            self.arena_bytes,
            self._habits_address,
        )
        if failure:
            raise self.error_of(failure)

    def find_recogniser(self) -> Recogniser | None:
        """Return the native recogniser of repeated calls; None where native code cannot read arguments."""
        return self._runtime.recogniser

    def find_launcher(self, device: int) -> Launcher:
        """Return how native code runs grids, with as many threads as are asked for now."""
        raise_error = self._raiser()
        again = Again(self._entry, self.arena_bytes, knobs.get("num_threads"), self._habits_address, id(raise_error))
        return Launcher(self._runtime.launch_again, again, raise_error)

    def _raiser(self) -> Callable[[Any], None]:
        """A function that raises what a failure tuple of the launcher stands for, as the user is to see it."""

        @ends_tracebacks
        def fail(failure: Any) -> None:
            raise self.error_of(failure)

        return fail

    def starter(self, formats: Sequence[str], device: int) -> Callable[[Sequence[Any], int, int, int], None]:
        """A function that packs slot values of these forms and runs a grid (x, y, z) on them."""
        launch, entry, arena, habits = self._launch_packed, self._entry, self.arena_bytes, self._habits_address
        pack = Struct(f"<{''.join(formats)}3Q").pack

        def start(values: Sequence[Any], x: int, y: int, z: int) -> None:
            slots = pack(*values, x, y, z)
            failure = launch(entry, slots, x * y * z, knobs.get("num_threads"), arena, habits)
            if failure:
                raise self.error_of(failure)

        return start

    def error_of(self, failure: Any) -> TilewrightError:
        """Return what a failure tuple of the launcher stands for."""
        reason, message, x, y, z = failure
        if reason == _ASSERTION:
            return assertion_error(message.decode(errors="replace"), self._assertions, self.name, (x, y, z))
        if reason == _OUT_OF_MEMORY:
            return OutOfResources(self.arena_bytes, free_memory(), "memory for the tiles of one thread")
        return TilewrightError(f"the launch of kernel '{self.name}' was stopped")
