"""The CPU target: facts of the machine, stages, and machine code from the loops stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from tilewright.codegen import llvm_backend
from tilewright.support import knobs
from tilewright.support.errors import OutOfResources
from tilewright.support.fingerprint import fingerprint
from tilewright.support.records import dataclass
from tilewright.targets.cpu.assertions import find_assertions
from tilewright.targets.cpu.facts import CpuFacts, host_facts, named_facts, without_features
from tilewright.targets.cpu.kernel import CpuKernel
from tilewright.targets.cpu.native_runtime import made_meanwhile, native_runtime

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.codegen.llvm_text import ModuleText
    from tilewright.ir.passes import Pass
    from tilewright.language.context import CodegenOptions
    from tilewright.targets.cpu.nativert import KernelLibraries

ARENA_LIMIT = 1 << 30
"""Bytes of tiles that one program may keep outside registers and stack."""


LEAST_APART = 20_000
"""Characters of LLVM IR from which a function is compiled by itself: one more module takes 2 ms."""


@dataclass(frozen=True)
class CpuArtefact:
    """Machine code of one kernel: one object after the other."""

    llir: str
    object: bytes
    entry: str
    arena_bytes: int
    metadata: dict[str, Any]


class CpuTarget:
    """Compiles for this host, or (objects and text only) for a processor that is named."""

    name = "cpu"
    ignored_options = frozenset(
        {
            "num_warps",
            "num_stages",
            "num_ctas",
            "maxnreg",
            "ptx_version",
            "ptx_options",
            "enable_reflect_ftz",
            "launch_cooperative_grid",
            "launch_pdl",
            "clc",
            "min_shared_mem",
        }
    )

    def __init__(self, facts: CpuFacts, *, is_for_loading: bool = False, is_baseline: bool = False) -> None:
        """Kernels that are for `load` only may be several objects, compiled side by side; others are one. With
        `is_baseline` no pass optimises linalg."""
        self._facts = facts
        self._is_for_loading = is_for_loading
        self._is_baseline = is_baseline

    @property
    def facts(self) -> CpuFacts:
        return self._facts

    @cached_property
    def _fingerprint(self) -> str:
        facts = self._facts
        return fingerprint(
            "cpu",
            facts.triple,
            facts.cpu,
            facts.feature_string,
            facts.vector_bits,
            facts.loops_prefetch,
            facts.streams_half_vectors,
            facts.fetched_near_bytes,
            facts.streamed_traffic,
            llvm_backend.version(),
        )

    def fingerprint(self) -> str:
        """Return what machine code depends on: processor, features, how its caches are used, LLVM."""
        return self._fingerprint

    def codegen_options(self, options: Any) -> CodegenOptions:
        """Return what the front end needs to know, from the options of a compilation."""
        from tilewright.language.context import CodegenOptions

        precision = knobs.get("f32_default") or "ieee"
        return CodegenOptions(
            target_name=self.name,
            arch=self._facts.cpu,
            num_warps=1,
            num_ctas=1,
            num_stages=1,
            warp_size=1,
            debug=bool(options.debug),
            sanitize_overflow=bool(options.sanitize_overflow),
            default_dot_input_precision=precision,
            enable_fp_fusion=bool(options.enable_fp_fusion),
            min_dot_size=(1, 1, 1),
        )

    @property
    def is_baseline(self) -> bool:
        """True if no pass optimises linalg."""
        return self._is_baseline or knobs.get("opt") == "0"

    def stages(self) -> Sequence[tuple[str, Sequence[Pass]]]:
        """The stages after the front end, in order: name in `kernel.asm`, and the passes that lead there."""
        from tilewright.targets.cpu.pipeline import stages

        return stages(is_baseline=self.is_baseline)

    def gluon_stages(self) -> Sequence[tuple[str, Sequence[Pass]]]:
        """The stages after Gluon's front end."""
        from tilewright.targets.cpu.pipeline import gluon_stages

        return gluon_stages(is_baseline=self.is_baseline)

    def baseline(self) -> CpuTarget:
        """The same target without the passes that optimise linalg."""
        return CpuTarget(self._facts, is_for_loading=self._is_for_loading, is_baseline=True)

    def emit(self, module: ModuleOp) -> CpuArtefact:
        """Machine code of a module at the loops stage. Raises PassError, OutOfResources."""
        from tilewright.lowering.debug_info import Emission
        from tilewright.lowering.loops_to_llvm import lower_to_llvm
        from tilewright.lowering.loops_to_llvm.types import TypeTable
        from tilewright.targets.cpu.entry import emit_entry
        from tilewright.targets.cpu.printing import define_prints

        facts = self._facts
        emission = Emission.LINE_TABLES if knobs.get("debug_symbols") else Emission.NOTHING
        lowered = lower_to_llvm(module, facts, data_layout=llvm_backend.data_layout(facts), emission=emission)
        if lowered.arena_bytes > ARENA_LIMIT:
            raise OutOfResources(lowered.arena_bytes, ARENA_LIMIT, "memory for the tiles of one program")
        name = lowered.kernel_name
        emit_entry(name, lowered, TypeTable(facts))
        prints = define_prints(module, lowered.text, lowered.externals)
        objects = self._compile(lowered.text)
        metadata = {
            "arena_bytes": lowered.arena_bytes,
            "pack_cache_bytes": lowered.pack_cache_bytes,
            "prints": prints,
            "assertions": find_assertions(module),
            "waits": lowered.waits,
            "object_bytes": [len(image) for image in objects],
        }
        return CpuArtefact(str(lowered.text), b"".join(objects), name, lowered.arena_bytes, metadata)

    def _compile(self, text: ModuleText) -> list[bytes]:
        """The objects of a module, of which the first has the kernel's entry."""
        from tilewright.codegen.separation import separated

        verify, dump = knobs.get("verify_each"), knobs.get("llvm_dump")
        if not self._is_for_loading or dump or knobs.get("debug_symbols"):
            return [llvm_backend.compile_text(str(text), self._facts, verify=verify, dump=dump)]
        texts = separated(text, LEAST_APART)
        return llvm_backend.compile_parts(texts, self._facts, threads=self._facts.num_cores, verify=verify)

    def assembly(self, llir: str) -> str:
        """Assembly text of the LLVM text that an artefact carries."""
        return llvm_backend.emit_assembly(llir, self._facts)

    def preparing_to_load(self) -> AbstractContextManager[None]:
        """A context in which another thread makes the native runtime, which the first kernel of a process needs."""
        return made_meanwhile() if self._facts.num_cores > 1 else nullcontext()

    def in_one_object(self) -> CpuTarget:
        """The target for files that others link."""
        return CpuTarget(self._facts, is_baseline=self._is_baseline)

    def load(self, image: bytes, metadata: dict[str, Any]) -> CpuKernel:
        """Link an artefact's object into the process; `metadata` is the artefact's, with `entry` added."""
        runtime = native_runtime()
        imports = runtime.symbols()
        if metadata["prints"]:
            from tilewright.targets.cpu.printing import print_symbols

            imports = imports | print_symbols()
        name = metadata["entry"]
        if knobs.get("debug_symbols"):
            library = llvm_backend.ObservedLoader().load(image, (name,), imports)
        else:
            library = runtime.loader.load(split(image, metadata["object_bytes"]), (name,), imports)
        arena_bytes, assertions, waits = (metadata[key] for key in ("arena_bytes", "assertions", "waits"))
        return CpuKernel(name, library, runtime, arena_bytes, assertions, waits=waits)

    def libraries(self, signature: Mapping[str, Any], metadata: Mapping[str, Any]) -> KernelLibraries:
        """Return what makes shared libraries of a kernel."""
        from tilewright.targets.cpu.nativert import KernelLibraries  # hardly ever asked for

        kinds = tuple(signature.items())
        return KernelLibraries(metadata["entry"], kinds, metadata["arena_bytes"], metadata["waits"])


def make_target() -> CpuTarget:
    """The CPU target of this host, or of the processor that `cpu` names, without the features in `cpu_without`."""
    name = knobs.get("cpu")
    facts = named_facts(name) if name else host_facts()
    return CpuTarget(without_features(facts, knobs.get("cpu_without")), is_for_loading=not name)


def split(image: bytes, sizes: Sequence[int]) -> list[bytes]:
    """The objects of an artefact."""
    ends = list(accumulate(sizes))
    return [image[end - size : end] for size, end in zip(sizes, ends, strict=True)]
