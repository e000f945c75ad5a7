"""Compilation: a source goes down the stages of a target and comes out as machine code.

    source ─front end─▶ tt ─target's stages─▶ ... ─emit─▶ object

`compile_source` is the whole story: look in the disk cache, else run the stages, emit, and store.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tilewright.compiler import listening
from tilewright.compiler.kernel import CompiledKernel, KernelMetadata, Parameters, StageTexts
from tilewright.compiler.listening import Clock
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource, Source, overridden
from tilewright.compiler.stage_files import StageFiles
from tilewright.compiler.toolchain import toolchain_fingerprint
from tilewright.support import knobs
from tilewright.support.cache_managers import kernel_cache
from tilewright.support.collecting import paused_collection
from tilewright.support.disk_cache import Entry
from tilewright.support.errors import (
    BaselineWarning,
    NoAssemblerError,
    PassError,
    TilewrightError,
)
from tilewright.support.fingerprint import fingerprint
from tilewright.support.forking import gate
from tilewright.support.interruptions import find_interruption, lets_interruptions_pass
from tilewright.support.recursion import deep_recursion
from tilewright.support.triton_version import triton_release
from tilewright.targets.base import Target, describe_target
from tilewright.targets.capabilities import (
    HasBaseline,
    HasLibraries,
    HasOtherForm,
    IgnoresOptions,
    NativeKernel,
    PreparesToLoad,
    baseline_of,
    code_keys,
    configured,
    texts_of,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.support.sanitizing import Plan
from tilewright.compiler.stages import Watching, lower, stages_from, stages_of

LOCATED_STAGES = ("source", "ttir")
"""Stages whose text carries source locations, as Triton's does."""


COMPILING = ("always_compile", "print_after", "dump_ir", "verify_each", "timing", "remarks", "llvm_dump")
"""Switches with which even what the disk cache has is compiled: it is compiling that they show."""

BASELINE = "baseline"
"""In the metadata of a kernel that no optimising pass could lower: why."""

LEAST_MEMORY = 64
"""Bytes that a CPU program's tiles count as where all of them are in registers: programs divide a device's shared
memory by what a kernel takes of it."""


class Request(NamedTuple):
    """A compilation that is to be: its result is kept in the disk cache under `key`."""

    source: Source
    options: CompileOptions
    target: Target
    key: str


class DeferredError(TilewrightError):
    """A kernel that is not compiled now: see `deferring`."""


_deferred: ContextVar[list[Request] | None] = ContextVar("deferred", default=None)


@contextmanager
def deferring() -> Generator[list[Request]]:
    """For the length of a `with`, what the disk cache does not have is noted in place of being compiled, and
    `compile_source` raises DeferredError: so that somebody else can compile all of it (see `compiler/farm.py`)."""
    requests: list[Request] = []
    token = _deferred.set(requests)
    try:
        yield requests
    finally:
        _deferred.reset(token)


@gate.compiling()
def compile_source(source: Source, options: CompileOptions, target: Target) -> CompiledKernel:
    """The compiled kernel, from the disk cache if it is there. Raises CompilationError and PassError classes."""
    target = configured(target, options)
    source = overridden(source, options)
    is_gluon = source.is_gluon  # then options for warps say something on every target
    ignored = target.ignored_options if isinstance(target, IgnoresOptions) and not is_gluon else frozenset[str]()
    relevant = options.identity(ignored)
    key = fingerprint(source.identity(), relevant, target.fingerprint(), toolchain_fingerprint(), knobs.code_key())
    cache, clock = kernel_cache(), Clock()
    entry = None if any(map(knobs.ask_again, COMPILING)) else cache.get(key)
    kernel = None if entry is None else _load_kept(entry, key, source, options, target)
    cache_hit = kernel is not None
    if entry is None or kernel is None:
        if (deferred := _deferred.get()) is not None:
            deferred.append(Request(source, options, target, key))
            raise DeferredError(f"the compilation of kernel '{source.name}' is deferred")
        with target.preparing_to_load() if isinstance(target, PreparesToLoad) else nullcontext():
            entry = build_entry(source, options, target, clock.reached)
        cache.put(key, entry)
    times = clock.end()
    kernel = kernel or load_entry(entry, key, source, options, target)
    listening.tell(kernel, times, cache_hit=cache_hit)
    return kernel


def _load_kept(
    entry: Entry, key: str, source: Source, options: CompileOptions, target: Target
) -> CompiledKernel | None:
    """Load what the disk cache has; None where it is not what this version writes."""
    try:
        return load_entry(entry, key, source, options, target)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None
    except TilewrightError as error:
        if error.internal:
            return None
        raise


@gate.compiling()
@lets_interruptions_pass
@deep_recursion()
@paused_collection()
def build_entry(
    source: Source, options: CompileOptions, target: Target, reached: Callable[[str], None] = lambda stage: None
) -> Entry:
    """Run all stages and emit machine code; `reached` is told when each is done."""
    source, target = overridden(source, options), configured(target, options)
    done: list[str] = []

    def note(stage: str) -> None:
        done.append(stage)
        reached(stage)

    try:
        return _build(source, options, target, note)
    except PassError as error:
        if find_interruption(error) is not None:
            raise
        if error.internal and error.reproducer is None:
            _add_reproducer(error, source, options, target)
        if "linalg" not in done or not isinstance(target, HasBaseline) or _insists():
            raise
        return _build_baseline(error, source, options, target.baseline(), reached)


def _build(source: Source, options: CompileOptions, target: Target, reached: Callable[[str], None]) -> Entry:
    compilation = Compilation(source, options, target)
    for stage, _ in compilation:
        reached(stage)
    entry = compilation.emit()
    reached(code_keys(target)[1])
    return entry


def _insists() -> bool:
    """Return whether a failure of an optimising pass is to be seen: asked for, or what somebody looks for."""
    return knobs.get("opt") != "1" or any(map(knobs.get, ("verify_each", "validate", "bisect")))


def _build_baseline(
    error: PassError, source: Source, options: CompileOptions, baseline: Target, reached: Callable[[str], None]
) -> Entry:
    """Compile from the start without optimising passes, one of which failed with `error`: what they can lower does not
    pay for keeping a copy. Raises `error` if that fails, too."""
    try:
        entry = _build(source, options, baseline, reached)
    except TilewrightError as again:
        if find_interruption(again) is not None:
            raise
        raise error from None
    message = f"kernel '{source.name}' is compiled without optimisation, and slow: {error}"
    warnings.warn(f"{message}\n(With TILEWRIGHT_OPT=strict this is an error.)", BaselineWarning, stacklevel=2)
    return Entry({**entry.metadata, BASELINE: str(error)}, entry.sections)


class Compilation:
    """One compilation, a stage at a time: iterating gives name and module of each stage as `lower` does; `emit`, after
    the last one, gives machine code and what a launch needs to know, which is noted on the way."""

    def __init__(self, source: Source, options: CompileOptions, target: Target) -> None:
        self.target = configured(target, options)
        self._stages = lower(source, options, self.target, _watching(source))
        self._accessing = next((stage for stage, _ in stages_of(source, self.target)), "ttir")
        """The stage whose accesses say which arguments are written."""
        self._module: ModuleOp | None = None
        self._written: frozenset[int] = frozenset()
        self._sanitizer: dict[str, Any] | None = None

    def __iter__(self) -> Iterator[tuple[str, ModuleOp]]:
        return self

    def __next__(self) -> tuple[str, ModuleOp]:
        with _as_pass_errors("compilation"):
            reached = next(self._stages, None)
            if reached is not None:
                self._note(*reached)
        if reached is None:
            raise StopIteration
        return reached

    def _note(self, stage: str, module: ModuleOp) -> None:
        """Keep the module that a stage ends with, and what a launch needs to know of it."""
        self._module = module
        if stage == self._accessing:
            from tilewright.analysis.written_arguments import find_written_arguments

            self._written = find_written_arguments(module)
        elif stage == "linalg":
            self._sanitizer = _sanitizer_plan(module)

    def emit(self) -> Entry:
        """Machine code of the last stage. Raises PassError, OutOfResources, AssemblerError."""
        assert self._module is not None, "a source yields at least its own stage"
        with _as_pass_errors("emission"):
            artefact = self.target.emit(self._module)
        known = {"written": sorted(self._written), "entry": artefact.entry, "sanitizer": self._sanitizer}
        texts = {"llir": artefact.llir, **texts_of(artefact)}
        sections = {"obj": artefact.object, **{name: text.encode() for name, text in texts.items()}}
        return Entry({**known, **artefact.metadata}, sections)


def _watching(source: Source) -> Watching:
    """Return what the switches have each stage watched by."""
    if not any(map(knobs.get, COMPILING)):
        return lambda stage: ()
    from tilewright.ir.instruments import instruments_from_knobs

    return lambda stage: instruments_from_knobs(what=f"{source.name}-{source.identity()[:8]}/{stage}")


@contextmanager
def _as_pass_errors(where: str) -> Generator[None]:
    """Give what fails inside of the compiler the one form that defects have: an internal PassError."""
    try:
        yield
    except (PassError, MemoryError, OSError, Warning):
        raise
    except TilewrightError as error:
        if not error.internal:
            raise
        raise PassError(str(error), pass_name=where, internal=True) from error
    except Exception as error:
        reason = f"internal error: {type(error).__name__}: {error}"
        raise PassError(reason, pass_name=where, internal=True) from error


def _add_reproducer(error: PassError, source: Source, options: CompileOptions, target: Target) -> None:
    """Write the file that replays a failure inside of a pass or in emission: by failing again, as compiling is
    deterministic, so that what succeeds pays nothing for it. There is none for a failure in the front end."""
    from tilewright.ir.instruments import CrashReproducer, fresh_path
    from tilewright.ir.printing import print_op

    last, text = "", ""
    try:
        for stage, module in lower(source, options, target, lambda stage: [CrashReproducer(only_internal=True)]):
            last, text = stage, print_op(module, locations=True)
    except PassError as again:
        error.reproducer = again.reproducer
        return
    except Exception as again:  # the error at hand is the one to be told
        if find_interruption(again) is not None:
            raise
        return
    path = fresh_path("emission", last)
    path.write_text(text, encoding="utf-8")
    error.reproducer = str(path)
    changed = {name: value for name, value in asdict(options).items() if value != getattr(CompileOptions(), name)}
    error.replay = f"""python -c "import tilewright; tilewright.compile('FILE', {target.name!r}, {changed!r})\""""


def _sanitizer_plan(module: ModuleOp) -> dict[str, Any] | None:
    """Return what a sanitised kernel needs at launch, which the pass left on it."""
    if not knobs.get("sanitize"):
        return None
    from tilewright.transforms.sanitize.sanitize import find_plan

    return find_plan(module)


@gate.compiling()
def load_entry(entry: Entry, key: str, source: Source, options: CompileOptions, target: Target) -> CompiledKernel:
    """Make a compiled or cached kernel callable."""
    name = entry.metadata["entry"]
    known = entry.metadata
    tiles = known.get("arena_bytes", 0) - known.get("pack_cache_bytes", 0)
    shared = known["shared"] if "shared" in known else max(tiles, LEAST_MEMORY)
    described = describe_target(target)
    metadata = KernelMetadata(
        **asdict(options),
        name=name,
        hash=key,
        target=described,
        backend_name=described.backend,
        warp_size=described.warp_size,
        triton_version=triton_release(),
        shared=shared,
        cluster_dims=(options.num_ctas, 1, 1),
        global_scratch_size=known.get("scratch_bytes", 0),
        profile_scratch_size=0,
        details=known,
    )
    switches = dict(knobs.code_key())
    assembly_key, image_key = code_keys(target)
    kept: dict[str, Any] = {section: data.decode() for section, data in entry.sections.items() if section != "obj"}
    if not known.get("is_text"):
        kept[image_key] = entry.sections["obj"]

    def rebuild(stage: str) -> str:
        with knobs.scope(**switches):
            return _stage_text(stage, source, options, _target_of(entry, target), kept["llir"])

    texts = StageTexts(
        lambda: (*stages_from(source, target), "llir", assembly_key, image_key),
        kept,
        rebuild,
        target.libraries(source.signature, known)
        if isinstance(target, HasLibraries) and isinstance(source, ASTSource) and not known["sanitizer"]
        else None,
    )
    files = StageFiles(key, name, vars(metadata), texts)
    listening.kernel_load_start_hook(None, None, name, files, key)
    native = target.load(entry.sections["obj"], known)
    if isinstance(native, HasOtherForm):
        native.take_other_form(_other_form(source, options, target, switches))
    listening.kernel_load_end_hook(native, native, name, files, key)
    return CompiledKernel(
        src=source,
        name=name,
        hash=key,
        asm=texts,
        image=entry.sections["obj"],
        metadata=metadata,
        parameters=Parameters(source.runtime_parameters(), frozenset(entry.metadata["written"])),
        native=native,
        sanitizer=_read_plan(entry.metadata.get("sanitizer")),
    )


def _other_form(
    source: Source, options: CompileOptions, target: Target, switches: dict[str, Any]
) -> Callable[[], NativeKernel]:
    """Give the form of a kernel without tensor maps that a launch computes, compiled when it is first asked for."""

    @lru_cache(maxsize=1)
    def compiled() -> NativeKernel:
        with knobs.scope(**{**switches, "tma_loads": "never"}):
            return compile_source(source, options, target).native

    return compiled


def _target_of(entry: Entry, target: Target) -> Target:
    """The target by whose passes an entry was compiled."""
    return baseline_of(target) if BASELINE in entry.metadata else target


def _read_plan(data: dict[str, Any] | None) -> Plan | None:
    if data is None:
        return None
    from tilewright.support.sanitizing import Plan

    return Plan.from_json(data)


@gate.compiling()
@deep_recursion()
def _stage_text(stage: str, source: Source, options: CompileOptions, target: Target, llir: str) -> str:
    """The text of one stage, by compiling again as far as that stage."""
    assembly_key, image_key = code_keys(target)
    if stage == assembly_key:
        return target.assembly(llir)
    if stage == image_key:
        raise NoAssemblerError(
            f"there is no {stage}: ptxas was not found when the kernel was compiled, so the driver compiles its PTX at "
            "the first launch. Install nvidia-cuda-nvcc (pip install 'tilewright[cuda]') or set TILEWRIGHT_PTXAS_PATH"
        )
    from tilewright.ir.printing import print_op

    for reached, module in lower(source, options, target):
        if reached == stage:
            return print_op(module, locations=stage in LOCATED_STAGES)
    raise KeyError(stage)
