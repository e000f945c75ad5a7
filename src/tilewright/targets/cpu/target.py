"""The CPU target: facts of the machine, stages, and machine code from the loops stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tilewright.codegen import llvm_backend
from tilewright.support import knobs
from tilewright.support.errors import OutOfResources
from tilewright.support.fingerprint import fingerprint
from tilewright.targets.cpu.assertions import find_assertions
from tilewright.targets.cpu.facts import CpuFacts, host_facts, named_facts, without_features
from tilewright.targets.cpu.kernel import CpuKernel
from tilewright.targets.cpu.native_runtime import native_runtime

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.ir.passes import Pass
    from tilewright.language.context import CodegenOptions

ARENA_LIMIT = 1 << 30
"""Bytes of tiles that one program may keep outside registers and stack."""


@dataclass(frozen=True)
class CpuArtefact:
    """Machine code of one kernel."""

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
        }
    )

    def __init__(self, facts: CpuFacts) -> None:
        self._facts = facts

    @property
    def facts(self) -> CpuFacts:
        return self._facts

    @cached_property
    def _fingerprint(self) -> str:
        facts = self._facts
        return fingerprint(
            "cpu", facts.triple, facts.cpu, facts.feature_string, facts.vector_bits, llvm_backend.version()
        )

    def fingerprint(self) -> str:
        """What machine code depends on: processor, features, LLVM."""
        return self._fingerprint

    def codegen_options(self, options: Any) -> CodegenOptions:
        """What the front end needs to know, from the options of a compilation."""
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

    def stages(self) -> Sequence[tuple[str, Sequence[Pass]]]:
        """The stages after the front end, in order: name in `kernel.asm`, and the passes that lead there."""
        from tilewright.targets.cpu.pipeline import stages

        return stages()

    def emit(self, module: ModuleOp) -> CpuArtefact:
        """Machine code of a module at the loops stage. Raises PassError, OutOfResources."""
        from tilewright.lowering.loops_to_llvm import lower_to_llvm
        from tilewright.lowering.loops_to_llvm.types import TypeTable
        from tilewright.targets.cpu.entry import emit_entry
        from tilewright.targets.cpu.printing import define_prints

        facts = self._facts
        lowered = lower_to_llvm(module, facts, data_layout=llvm_backend.data_layout(facts))
        if lowered.arena_bytes > ARENA_LIMIT:
            raise OutOfResources(lowered.arena_bytes, ARENA_LIMIT, "memory for the tiles of one program")
        name = lowered.kernel_name
        emit_entry(name, lowered, TypeTable(facts))
        prints = define_prints(module, lowered.text, lowered.externals)
        llir = str(lowered.text)
        image = llvm_backend.compile_text(llir, facts, verify=knobs.get("verify_each"), dump=knobs.get("llvm_dump"))
        metadata = {"arena_bytes": lowered.arena_bytes, "prints": prints, "assertions": find_assertions(module)}
        return CpuArtefact(llir, image, name, lowered.arena_bytes, metadata)

    def assembly(self, llir: str) -> str:
        """Assembly text of the LLVM text that an artefact carries."""
        return llvm_backend.emit_assembly(llir, self._facts)

    def load(self, image: bytes, metadata: dict[str, Any]) -> CpuKernel:
        """Link an artefact's object into the process; `metadata` is the artefact's, with `entry` added."""
        runtime = native_runtime()
        imports = runtime.symbols()
        if metadata["prints"]:
            from tilewright.targets.cpu.printing import print_symbols

            imports = imports | print_symbols()
        name = metadata["entry"]
        library = runtime.loader.load(image, (name,), imports)
        return CpuKernel(name, library, runtime, metadata["arena_bytes"], metadata["assertions"])


def make_target() -> CpuTarget:
    """The CPU target of this host, or of the processor that `cpu` names, without the features in `cpu_without`."""
    name = knobs.get("cpu")
    facts = named_facts(name) if name else host_facts()
    return CpuTarget(without_features(facts, knobs.get("cpu_without")))
