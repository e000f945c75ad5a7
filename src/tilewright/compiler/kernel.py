"""A compiled kernel: its machine code, what is known about it, and the text of every stage on request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

from tilewright.compiler.stage_files import StageFiles
from tilewright.support.records import dataclass
from tilewright.targets.capabilities import CountsRegisters, NativeKernel

if TYPE_CHECKING:
    from tilewright.support.sanitizing import Plan


WORD_BYTES = 4

CUBIN, SASS = "cubin", "sass"
LIBRARIES = ("so", "launcher.so")
"""What PyTorch's ahead-of-time compiler asks `asm` for on CPUs."""
OTHER_NAMES = {"ttsharedir": "linalg"}
"""triton-shared's name of what is `linalg` here."""


@dataclass(frozen=True)
class Parameters:
    """What of the kernel's run-time parameters matters to a launch.

    `names` are the parameters that remain at run time, one per slot; `written` the indices of the pointers among them
    that the kernel may store to.
    """

    names: tuple[str, ...]
    written: frozenset[int]

    def find_written(self, parameters: Sequence[str]) -> frozenset[int]:
        """The indices of those of the function's parameters that the kernel may store through."""
        stored = {self.names[slot] for slot in self.written}
        return frozenset(index for index, name in enumerate(parameters) if name in stored)


class KernelMetadata(SimpleNamespace):
    """What is known of a compiled kernel: its launch options, `name`, `hash`, `target` (as Triton describes targets),
    its `backend_name` and `warp_size`, `triton_version`, `shared`, `cluster_dims`, ...; and, as Triton's are named
    tuples, `_fields` and `_asdict()`. `details` is what the target itself notes."""

    @property
    def _fields(self) -> tuple[str, ...]:
        return tuple(sorted(vars(self)))

    def _asdict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields}


class Libraries(Protocol):
    """What makes shared libraries of a kernel; it can be pickled."""

    def make(self, key: str, llir: str) -> bytes:
        """One of them, from the kernel's LLVM IR."""
        ...


class StageTexts(Mapping[str, Any]):
    """`kernel.asm`: stage name to text (bytes for `obj`).

    The stages before machine code are rebuilt from the kernel's source on the first request (compiling is
    deterministic), with the switches that it was compiled with, so that a launch never pays for printing them. Their
    names too are asked for only then: a target knows them from its passes, which a kernel from the disk cache never
    needs. `libraries` makes anything that is not a stage, but asked for in the same way.
    """

    def __init__(
        self,
        name_stages: Callable[[], tuple[str, ...]],
        kept: dict[str, Any],
        rebuild: Callable[[str], Any],
        libraries: Libraries | None = None,
    ) -> None:
        self._name_stages = name_stages
        self._kept = kept
        self._rebuild = rebuild
        self._libraries = libraries

    @cached_property
    def _stages(self) -> tuple[str, ...]:
        return self._name_stages()

    def __getitem__(self, stage: str) -> Any:
        stage = OTHER_NAMES.get(stage, stage)
        if stage not in self._kept:
            if stage == SASS and CUBIN in self._stages:
                from tilewright.codegen.nvptx.disasm import get_sass  # reading the code back is rare

                return get_sass(self[CUBIN])
            if stage in LIBRARIES and self._libraries is not None:
                return self._libraries.make(stage, self["llir"])
            if stage not in self._stages:
                raise KeyError(f"no stage {stage!r}; this kernel has {', '.join(self._stages)}")
            self._kept[stage] = self._rebuild(stage)
        return self._kept[stage]

    def __iter__(self) -> Iterator[str]:
        return iter(self._stages)

    def __len__(self) -> int:
        return len(self._stages)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, only the texts that are there: what rebuilds the others stays in its process."""
        return _texts_alone, (dict(self._kept), self._libraries)

    @property
    def sections(self) -> dict[str, bytes]:
        """The texts that came with the machine code, as the disk cache keeps them."""
        return {name: text.encode() for name, text in self._kept.items() if isinstance(text, str)}

    def __repr__(self) -> str:
        return f"StageTexts({', '.join(self._stages)})"


def _texts_alone(kept: dict[str, Any], libraries: Libraries | None) -> StageTexts:
    return StageTexts(lambda: tuple(kept), kept, kept.__getitem__, libraries)


class Launcher(Protocol):
    """Has the function `launch(grid, *args, **keywords)`, which changes once native code knows the calls."""

    @property
    def launch(self) -> Callable[..., Any]: ...


class Relaunch(Protocol):
    """How a compiled kernel is launched with other arguments of the kinds that it was compiled for."""

    @property
    def calls(self) -> Launcher:
        """As a call, without the hooks of launches."""
        ...

    def __call__(self, grid: Any, *args: Any, **keywords: Any) -> None: ...


@dataclass(frozen=True)
class LaunchMetadata:
    """What a hook is told of a launch; put together when it asks, by `get()`."""

    kernel: CompiledKernel
    grid: tuple[int, ...]
    stream: int | None
    arguments: tuple[Any, ...]

    def get(self) -> dict[str, Any]:
        """The kernel's name, what runs, the stream, and what the function that was given to `jit(launch_metadata=...)`
        makes of the grid, the kernel's metadata and the arguments by name: another name, say, or `flops64` and
        `bytes`."""
        kernel = self.kernel
        known = {"name": kernel.name, "function": kernel.function, "stream": self.stream}
        function: Any = getattr(kernel.src, "fn", None)
        describe = getattr(function, "launch_metadata", None)
        if describe is None:
            return known
        named = dict(zip(function.arg_names, self.arguments, strict=False))
        return known | describe(self.grid, kernel.metadata, named)


@dataclass(frozen=True, slots=True)
class RunLaunch:
    """What `CompiledKernel.run` was called with."""

    kernel: CompiledKernel
    grid: tuple[int, int, int]
    args: tuple[Any, ...]
    hooks: tuple[Any, Any]
    """Before and after the launch."""


class _Watched(threading.local):
    launches: list[RunLaunch] | None = None


_watched = _Watched()


@contextmanager
def watch_runs() -> Generator[list[RunLaunch]]:
    """A list of the last launch by `CompiledKernel.run` of this thread inside of the context, empty before it."""
    outer, _watched.launches = _watched.launches, []
    try:
        yield _watched.launches
    finally:
        _watched.launches = outer


def _nothing() -> None:
    """The default of an attribute that has a slot: one in the class would hide it."""


class OfThisProcess:
    """What of a kernel belongs to one process. It is not in `__dict__`, which PyTorch's compile workers pickle."""

    __slots__ = ("native", "relaunch")


@dataclass
class CompiledKernel(OfThisProcess):
    """What a launch or `warmup` returns; the attributes bear the names that Triton's compiled kernels have."""

    name: str
    hash: str
    asm: StageTexts
    metadata: KernelMetadata
    parameters: Parameters
    native: NativeKernel
    image: bytes = b""
    """What the target loads: machine code, or the text that stands for it."""
    sanitizer: Plan | None = None
    """Of a sanitised kernel: its further arguments, and what its reports mean."""
    relaunch: Relaunch | None = field(default_factory=_nothing)
    """Launches it as it is; None where nothing is known of its parameters."""
    src: Any = None
    """What it was compiled from: an `ASTSource`, or a `TextSource`."""
    reload: Callable[[CompiledKernel], None] | None = None
    """Loads it in another process, to which it was pickled."""

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """Launches this very kernel over a grid, with arguments of the kind that it was compiled for."""
        return partial(self._relaunch(), grid)

    def _repr_html_(self) -> str:
        """Return the kernel as notebooks show it: its name and target, and each stage's text to unfold."""
        from html import escape  # only notebooks ask

        stages = [(stage, self.asm[stage]) for stage in self.asm]
        texts = [(stage, text) for stage, text in stages if isinstance(text, str)]
        folds = "".join(
            f"<details><summary><code>{stage}</code>, {len(text.splitlines())} lines</summary>"
            f"<pre>{escape(text)}</pre></details>"
            for stage, text in texts
        )
        target = escape(str(getattr(self.metadata, "target", "")))
        return f"<div><p>kernel <code>{escape(self.name)}</code> for <code>{target}</code></p>{folds}</div>"

    def _relaunch(self) -> Relaunch:
        if self.relaunch is None:
            raise TypeError(f"kernel '{self.name}' was compiled from text, which does not say what arguments it takes")
        return self.relaunch

    def run(
        self,
        x: int,
        y: int,
        z: int,
        stream: int | None,
        function: Any,
        packed_metadata: Any,
        launch_metadata: Any,
        launch_enter_hook: Callable[[Any], None] | None,
        launch_exit_hook: Callable[[Any], None] | None,
        *args: Any,
    ) -> None:
        """Launch over a grid, between two hooks; called by programs that drive Triton's compiler themselves.

        A stream must be the current one of PyTorch or CuPy, where launches go. `function` and `packed_metadata` are the
        kernel's own attributes and say nothing new.
        """
        # An empty chain of hooks costs a look, not a call: many kernels run for a few microseconds.
        if launch_enter_hook is not None and getattr(launch_enter_hook, "calls", True):
            launch_enter_hook(launch_metadata)
        (self.relaunch or self._relaunch()).calls.launch((x, y, z), *args)
        if launch_exit_hook is not None and getattr(launch_exit_hook, "calls", True):
            launch_exit_hook(launch_metadata)
        if _watched.launches is not None:
            _watched.launches[:] = [RunLaunch(self, (x, y, z), args, (launch_enter_hook, launch_exit_hook))]

    @property
    def module(self) -> NativeKernel:
        """The loaded machine code; the same object as `function`."""
        return self.native

    @property
    def function(self) -> NativeKernel:
        """The loaded machine code, which launches run."""
        return self.native

    def launch_metadata(self, grid: tuple[int, ...], stream: int | None, *args: Any) -> LaunchMetadata:
        """Return what hooks are told of a launch with these arguments, one for each parameter."""
        return LaunchMetadata(self, grid, stream, args)

    def _init_handles(self) -> None:
        """Load the kernel on the current device; programs call it before they ask for `n_regs`, and after they made a
        kernel of what another one's `__dict__` had (`run` is None there)."""
        if self.reload is not None and not hasattr(self, "native"):
            self.__dict__.pop("run", None)
            self.reload(self)
        if isinstance(self.native, CountsRegisters):
            self.native.resources()

    @property
    def metadata_group(self) -> Mapping[str, str]:
        """Paths by name of files with each stage's text and with the metadata (see `StageFiles`)."""
        return StageFiles(self.hash, self.name, vars(self.metadata), self.asm)

    @property
    def n_regs(self) -> int:
        """Registers per thread: from ptxas, or from the driver once it has loaded the PTX; 1 where there are none to
        count, as programs divide by it (see `TargetFacts.device_properties`)."""
        return self.metadata.details.get("n_regs") or self._resources()[0] or 1

    @property
    def n_spills(self) -> int:
        """Registers per thread that are kept in memory."""
        return self.metadata.details.get("n_spills") or self._resources()[1] // WORD_BYTES

    def _resources(self) -> tuple[int, int]:
        return self.native.loaded_resources() if isinstance(self.native, CountsRegisters) else (0, 0)

    @property
    def shared(self) -> int:
        """Bytes of shared memory of a program on a GPU; on the CPU, bytes of the tiles that it keeps in memory."""
        return int(getattr(self.metadata, "shared", 0))

    @property
    def kernel(self) -> bytes:
        """The machine code as it is stored."""
        return self.image

    @property
    def packed_metadata(self) -> tuple[int, int, int]:
        return (self.metadata.num_warps, self.metadata.num_ctas, self.shared)

    def __repr__(self) -> str:
        return f"<CompiledKernel {self.name} for {self.metadata.target.backend}>"
