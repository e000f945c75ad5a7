"""LLVM in one module: parse text, optimise, emit objects and assembly, load objects (llvmlite).

Optimisation is a light list (always-inline, SROA, instcombine, simplifycfg): code that is written with explicit vectors
runs as fast with it as with O3, which takes five times as long.

Everything here may be called from several threads at a time, inside of the gate of forks (`support/forking.py`).
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from functools import lru_cache, partial
from importlib import import_module
from itertools import count
from typing import Any

from tilewright.support.errors import TilewrightError
from tilewright.support.facts import TargetFacts
from tilewright.support.forking import gate
from tilewright.support.threads import run_on_threads

llvm: Any = import_module("llvmlite.binding")
"""llvmlite has no type stubs."""


def _renew_lock() -> None:
    llvm.ffi.lib._lock._lock = threading.RLock()


gate.hold(lambda: llvm.ffi.lib._lock._lock, _renew_lock)


class Effort(Enum):
    """How much LLVM optimises: NONE is for code whose compile time matters more than its speed, HOT for such with a few
    functions of another kind, which have the attribute `hot`."""

    NONE = "none"
    HOT = "hot"
    LIGHT = "light"


class LlvmError(TilewrightError):
    """LLVM rejected a module or could not link an object: a defect of the compiler, with LLVM's own message."""

    internal = True


@lru_cache(maxsize=1)
def _initialise() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()


@lru_cache(maxsize=16)
def _target(triple: str) -> Any:
    _initialise()
    return llvm.Target.from_triple(triple)


def create_target_machine(facts: TargetFacts, *, effort: Effort = Effort.LIGHT) -> Any:
    """A fresh LLVM target machine for a CPU: one per use at a time, as target machines are not thread-safe."""
    return _target(facts.triple).create_target_machine(
        cpu=facts.cpu,
        features=facts.feature_string,
        opt=0 if effort is Effort.NONE else 2,
        reloc="pic",
        codemodel="small",
    )


class MachinePool:
    """Target machines that nothing uses now, by what they were made for. A machine makes LLVM's description of its
    processor for the first function that it compiles, which takes half the time of a small module (5.5 -> 3 ms)."""

    def __init__(self) -> None:
        self.idle: dict[Hashable, list[Any]] = {}

    @contextmanager
    def borrow(self, key: Hashable, create: Callable[[], Any]) -> Generator[Any]:
        """A machine of the caller's alone for the length of a `with`; one that fails in it is not used again."""
        idle = self.idle.setdefault(key, [])
        try:
            machine = idle.pop()
        except IndexError:
            machine = create()
        yield machine
        idle.append(machine)


machines = MachinePool()


@lru_cache(maxsize=16)
def data_layout(facts: TargetFacts) -> str:
    """LLVM's data layout string of the target."""
    return str(create_target_machine(facts).target_data)


def version() -> str:
    """LLVM's version, as part of cache keys."""
    return ".".join(map(str, llvm.llvm_version_info))


def parse(llir: str, *, verify: bool = False) -> Any:
    """Parse LLVM IR text into a module of its own context. Raises LlvmError with LLVM's message."""
    _initialise()
    try:
        module = llvm.parse_assembly(llir, llvm.create_context())
        if verify:
            module.verify()
    except RuntimeError as error:
        raise LlvmError(f"LLVM rejects the generated code: {error}") from error
    return module


def renamed(llir: str, name: str, other: str) -> str:
    """LLVM IR text in which a function has another name."""
    module = parse(llir)
    module.get_function(name).name = other
    return str(module)


def optimise(module: Any, machine: Any, effort: Effort) -> None:
    """Run the pass list of `effort` on a module in place; coroutines are split in any case."""
    if any(b"presplitcoroutine" in list(function.attributes) for function in module.functions):
        _split_coroutines(module, machine)
    if effort is Effort.NONE:
        return
    if effort is Effort.HOT:
        _leave_cold_functions(module)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = False
    options.loop_interleaving = False
    options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    manager = llvm.create_new_module_pass_manager()
    manager.add_always_inliner_pass()
    manager.add_sroa_pass()
    manager.add_instruction_combine_pass()
    manager.add_simplify_cfg_pass()
    _past_lock("LLVMPY_RunNewModulePassManager")(manager, module, builder)


def _leave_cold_functions(module: Any) -> None:
    """Have LLVM optimise nothing but functions with the attribute `hot` and what is always inlined."""
    for function in module.functions:
        if not function.is_declaration and not {b"hot", b"alwaysinline"} & set(function.attributes):
            function.add_function_attribute("noinline")
            function.add_function_attribute("optnone")


def _split_coroutines(module: Any, machine: Any) -> None:
    """LLVM's list for no optimisation: it lowers what has to be, coroutines among it."""
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    _past_lock("LLVMPY_RunNewModulePassManager")(builder.getModulePassManager(), module, builder)


def compile_text(
    llir: str, facts: TargetFacts, *, effort: Effort = Effort.LIGHT, verify: bool = False, dump: bool = False
) -> bytes:
    """Compile LLVM IR text to a relocatable object for `facts`; `dump` prints the module (see `dumped`)."""
    module = parse(llir, verify=verify)
    with machines.borrow((facts, effort), partial(create_target_machine, facts, effort=effort)) as machine:
        with dumped(module, dump):
            optimise(module, machine, effort)
        return emit_object(module, machine)


def _past_lock(name: str) -> Any:
    """A function of llvmlite's library, without the lock by which llvmlite lets one thread at a time into LLVM: for
    what works on a module and a machine of the caller's alone, and takes long."""
    function = getattr(llvm.ffi.lib, name)
    return getattr(function, "_cfn", function)


def emit_object(module: Any, machine: Any) -> bytes:
    """Machine code of an optimised module."""
    emit = _past_lock("LLVMPY_TargetMachineEmitToMemory")
    with llvm.ffi.OutputString() as error:
        buffer = emit(machine, module, 1, error)
        if not buffer:
            raise LlvmError(f"LLVM cannot compile the generated code: {error}")
    try:
        size = llvm.ffi.lib.LLVMPY_GetBufferSize(buffer)
        return ctypes.string_at(llvm.ffi.lib.LLVMPY_GetBufferStart(buffer), size)
    finally:
        llvm.ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


@lru_cache(maxsize=64)
def _compiled_before(llir: str, facts: TargetFacts, verify: bool) -> bytes:
    return compile_text(llir, facts, verify=verify)


def compile_parts(texts: Sequence[str], facts: TargetFacts, *, threads: int, verify: bool = False) -> list[bytes]:
    """The objects of several modules, compiled by some threads; all but the first are remembered for other kernels."""
    jobs = [partial(compile_text, texts[0], facts, verify=verify)]
    jobs += [partial(_compiled_before, text, facts, verify) for text in texts[1:]]
    longest_first = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
    objects = run_on_threads([jobs[index] for index in longest_first], threads)
    return [image for _, image in sorted(zip(longest_first, objects, strict=True))]


@contextmanager
def dumped(module: Any, is_wanted: bool) -> Generator[None]:
    """Print a module to standard error before and after what is done to it, where that is wanted."""
    if is_wanted:
        _dump("before", module)
    yield
    if is_wanted:
        _dump("after", module)


def _dump(when: str, module: Any) -> None:
    print(f"; -----// LLVM module {when} optimisation //----- ;\n{module}", file=sys.stderr)


def emit_assembly(llir: str, facts: TargetFacts, *, comments: bool = False) -> str:
    """The assembly text that `compile_text` would encode; LLVM's comments name loops and spilled registers."""
    module = parse(llir)
    machine = create_target_machine(facts, effort=Effort.LIGHT)
    machine.set_asm_verbosity(comments)
    optimise(module, machine, Effort.LIGHT)
    return machine.emit_assembly(module)


def code_bytes(image: bytes) -> int:
    """Bytes of instructions in an object."""
    return sum(section.size() for section in llvm.ObjectFileRef.from_data(image).sections() if section.is_text())


class LoadedObject:
    """An object linked into this process; its addresses are valid while this value lives."""

    def __init__(self, tracker: Any, linker: Any = None) -> None:
        """`tracker` gives the address of a symbol; the code may need that its linker lives."""
        self._tracker = tracker
        self._linker = linker

    def address(self, name: str) -> int:
        """Address of one of the exported symbols."""
        return self._tracker[name]


ONE_BLOCK = sys.platform != "win32"
"""Whether JITLink links objects: it keeps the sections of one object together. RuntimeDyld, which links COFF, allocates
each by itself, up to terabytes apart where a process has much memory mapped; the code's 32-bit distances do not reach
that far, and LLVM ends the process."""


class ObjectLoader:
    """Links objects into the process with one ORC JIT; libc and libm symbols come from the process itself."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = count()
        self._jit: Any = None

    def load(
        self, images: bytes | Sequence[bytes], exports: tuple[str, ...], imports: dict[str, int] | None = None
    ) -> LoadedObject:
        """Link one object or several; `imports` binds names to addresses. Raises LlvmError when a symbol is missing."""
        builder = llvm.JITLibraryBuilder().add_current_process()
        for image in (images,) if isinstance(images, bytes) else images:
            builder.add_object_img(image)
        for name, address in (imports or {}).items():
            builder.import_symbol(name, address)
        for name in exports:
            builder.export_symbol(name)
        with self._lock:
            if self._jit is None:
                _initialise()
                self._jit = llvm.create_lljit_compiler(use_jit_link=ONE_BLOCK)
            try:
                tracker = builder.link(self._jit, f"tilewright.{next(self._numbers)}")
            except RuntimeError as error:
                raise LlvmError(f"cannot link the compiled kernel: {error}") from error
        return LoadedObject(tracker)


class ObservedLoader:
    """Links objects so that gdb sees them, which LLVM tells of each, and perf their names: by RuntimeDyld (see
    ONE_BLOCK), as llvmlite's JITLink tells no debugger.
    """

    def load(self, image: bytes, exports: tuple[str, ...], imports: dict[str, int]) -> LoadedObject:
        """Link one object; `imports` binds names to addresses, for all that is loaded from now on."""
        _initialise()
        for name, address in imports.items():
            llvm.add_symbol(name, address)
        host = llvm.Target.from_default_triple().create_target_machine(jit=True)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly("", llvm.create_context()), host)
        engine.add_object_file(llvm.ObjectFileRef.from_data(image))
        engine.finalize_object()
        addresses = {name: engine.get_function_address(name) for name in exports}
        for name, address in addresses.items():
            _tell_perf(name, address, code_bytes(image))
        return LoadedObject(addresses, engine)


def _tell_perf(name: str, address: int, size: int) -> None:
    """Add a line to the file in which perf looks for the names of code that a process has made (``perf-PID.map``)."""
    if not sys.platform.startswith("linux"):
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    with suppress(OSError), open(os.open(f"/tmp/perf-{os.getpid()}.map", flags, 0o600), "w") as file:
        file.write(f"{address:x} {size:x} {name}\n")
