"""Compilation: a kernel and its specialisation go down the stages of a target and come out as machine code.

    source ─front end─▶ tt ─target's stages─▶ ... ─emit─▶ object

`compile_request` is the whole story: look in the disk cache, else run the stages, emit, and store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tilewright.compiler.cache import DiskCache, Entry, cache_directory
from tilewright.compiler.kernel import CompiledKernel, Parameters, StageTexts
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.toolchain import toolchain_fingerprint
from tilewright.language.callables import JITCallable
from tilewright.support import knobs
from tilewright.support.fingerprint import fingerprint
from tilewright.targets.base import Target

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

SOURCE_STAGE = "source"


@dataclass(frozen=True)
class CompileRequest:
    """One kernel to compile: the function, the types and constants of its parameters, and the options.

    `signature` maps parameter to type string (nested tuples for tuple parameters, "constexpr" for constants),
    `constants` and `attributes` are keyed by the path of the argument, `(index,)` or `(index, item)`. `noalias` promises
    that the storage of all pointer arguments is disjoint.
    """

    function: JITCallable
    signature: dict[str, Any]
    constants: dict[tuple[int, ...], Any]
    attributes: dict[tuple[int, ...], dict[str, int]]
    options: CompileOptions
    noalias: bool

    def runtime_parameters(self) -> tuple[str, ...]:
        """The parameter that each launch slot belongs to, in slot order."""
        return tuple(name for name, kind in self.signature.items() for _ in _runtime_leaves(kind))

    def key(self, target: Target) -> str:
        """What the compiled kernel depends on, hashed: also the name of its cache entry."""
        specialization = (
            sorted((name, repr(kind)) for name, kind in self.signature.items()),
            sorted((path, repr(value)) for path, value in self.constants.items()),
            sorted((path, sorted(values.items())) for path, values in self.attributes.items()),
            self.noalias,
        )
        switches = knobs.code_key()
        return fingerprint(
            self.function.cache_key, specialization, asdict(self.options), target.fingerprint(), toolchain_fingerprint(), switches
        )


def _runtime_leaves(kind: Any) -> Iterator[str]:
    if isinstance(kind, tuple):
        for item in kind:  # pyright: ignore[reportUnknownVariableType]
            yield from _runtime_leaves(item)
    elif kind != "constexpr":
        yield kind


def compile_request(request: CompileRequest, target: Target) -> CompiledKernel:
    """The compiled kernel, from the disk cache if it is there. Raises CompilationError and PassError classes."""
    key = request.key(target)
    cache = DiskCache(cache_directory())
    entry = None if knobs.get("always_compile") else cache.get(key)
    if entry is None:
        entry = build_entry(request, target)
        cache.put(key, entry)
    return load_entry(entry, key, request, target)


def build_entry(request: CompileRequest, target: Target) -> Entry:
    """Run all stages and emit machine code."""
    written: frozenset[int] = frozenset()
    module = None
    for stage, module in lower(request, target):
        if stage == "ttir":
            from tilewright.analysis.written_arguments import find_written_arguments

            written = find_written_arguments(module, kernel_name(module))
    assert module is not None
    artefact = target.emit(module)
    metadata = {"written": sorted(written), "entry": artefact.entry, **artefact.metadata}
    return Entry(metadata, {"obj": artefact.object, "llir": artefact.llir.encode()})


def load_entry(entry: Entry, key: str, request: CompileRequest, target: Target) -> CompiledKernel:
    """Make a compiled or cached kernel callable."""
    metadata = SimpleNamespace(
        **asdict(request.options), name=entry.metadata["entry"], hash=key, target=target.name, shared=0, noalias=request.noalias,
        details=entry.metadata,
    )  # fmt: skip
    kept: dict[str, Any] = {"obj": entry.sections["obj"], "llir": entry.sections["llir"].decode()}
    stages = (SOURCE_STAGE, *(stage for stage, _ in target.stages()), "llir", "asm", "obj")
    return CompiledKernel(
        name=entry.metadata["entry"],
        hash=key,
        asm=StageTexts(stages, kept, lambda stage: stage_text(stage, request, target, kept)),
        metadata=metadata,
        parameters=Parameters(request.runtime_parameters(), frozenset(entry.metadata["written"])),
        native=target.load(entry.sections["obj"], entry.metadata),
    )


def lower(request: CompileRequest, target: Target) -> Iterator[tuple[str, ModuleOp]]:
    """The module at the end of each stage, in order. It is one module, changed in place: print it before going on."""
    from tilewright.frontend import compile_to_tt
    from tilewright.ir.passes import PassContext
    from tilewright.ir.passes import PassPipeline
    from xdsl.dialects.builtin import UnitAttr

    module = compile_to_tt(
        request.function, request.signature, request.constants, request.attributes, target.codegen_options(request.options)
    )
    if request.noalias:
        for op in module.body.block.ops:
            op.attributes["tilewright.noalias"] = UnitAttr()
    yield SOURCE_STAGE, module
    context = PassContext(facts=target.facts)
    for stage, passes in target.stages():
        PassPipeline(passes).run(module, context)
        yield stage, module


def stage_text(stage: str, request: CompileRequest, target: Target, kept: dict[str, Any]) -> str:
    """The text of one stage, by compiling again as far as that stage."""
    if stage == "asm":
        return target.assembly(kept["llir"])
    from tilewright.ir.printing import print_op

    for reached, module in lower(request, target):
        if reached == stage:
            return print_op(module, locations=stage in (SOURCE_STAGE, "ttir"))
    raise KeyError(stage)


def kernel_name(module: ModuleOp) -> str:
    """Symbol of the one public function."""
    for op in module.body.block.ops:
        visibility = op.properties.get("sym_visibility")
        if "sym_name" in op.properties and (visibility is None or "public" in str(visibility)):
            return op.properties["sym_name"].data  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]
    raise AssertionError("the front end makes one public function")
