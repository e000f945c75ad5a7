"""The back end that official Triton compiles with: its options, and what follows Triton IR, a stage at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from itertools import pairwise
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from triton.backends.compiler import BaseBackend

from tilewright.language.matmul import smallest_dot
from tilewright.support.errors import OptionError, OutOfResources, TilewrightError
from tilewright.support.records import dataclass
from tilewright.support.tracebacks import ends_tracebacks
from tilewright.targets.capabilities import code_keys
from tilewright.triton_backend.naming import PREFIX, check_version, find_named, official

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.compiler.compilation import Compilation
    from tilewright.compiler.options import CompileOptions
    from tilewright.support.disk_cache import Entry
    from tilewright.targets.base import Target
    from tilewright.triton_backend.source import OfficialSource

Metadata = dict[str, Any]
"""What Triton keeps of a compilation beside its texts: JSON-able."""

LEAST_MEMORY = 64
"""Bytes that a CPU program's tiles count as where all are in registers: programs divide by what a kernel takes."""

LIBDEVICE = "triton.language.extra.libdevice"


class BackendOptions(SimpleNamespace):
    """Launch options with defaults, and what Triton's front end asks about the target; Triton reads `__dict__`."""

    def hash(self) -> str:
        """Return what compiled code depends on of them."""
        from tilewright.support.fingerprint import fingerprint

        return fingerprint(sorted((name, repr(value)) for name, value in vars(self).items()))


def _launches_on_cpu() -> bool:
    """Return whether this back end was asked for, for the CPU."""
    from tilewright.support import knobs
    from tilewright.triton_backend.driver import TilewrightDriver

    if knobs.get("triton_backend") == "cpu":
        return True
    present: Any = official("runtime").driver
    active = getattr(present, "_active", None)
    return isinstance(active, TilewrightDriver) and active.name == "cpu"


@dataclass
class Reached:
    """A module at the end of a stage, and the compilation that goes on from there.

    It is one module, changed in place: Triton asks for its text, to keep it, before it asks for the next stage.
    """

    stage: str
    module: ModuleOp
    source: OfficialSource
    compilation: Compilation

    def __str__(self) -> str:
        from tilewright.compiler.compilation import LOCATED_STAGES
        from tilewright.ir.printing import print_op

        return print_op(self.module, locations=self.stage in LOCATED_STAGES)


@dataclass
class Emitted:
    """Machine code, as far as one of the texts on the way to it."""

    section: str
    entry: Entry
    source: OfficialSource

    def __str__(self) -> str:
        return self.entry.sections[self.section].decode()


class TilewrightBackend(BaseBackend):
    """Compiles what official Triton's front end made for one of our targets."""

    @ends_tracebacks
    def __init__(self, target: Any) -> None:
        check_version()
        super().__init__(target)
        self._target = find_named(target.backend, target.arch)
        self.binary_ext: str = code_keys(self._target)[1]

    @staticmethod
    def supports_target(target: Any) -> bool:
        """Return whether a `GPUTarget` names one of ours. PyTorch's compiler calls any CPU `cpu`: that is ours where
        launches on the CPU are."""
        return str(target.backend).startswith(PREFIX) or (target.backend == "cpu" and _launches_on_cpu())

    @property
    def is_gpu(self) -> bool:
        """True if GPU code is generated, for a simulated GPU, too."""
        return code_keys(self._target)[0] == "ptx"

    def hash(self) -> str:
        """Return what machine code depends on besides kernel and options."""
        from tilewright.compiler.toolchain import toolchain_fingerprint
        from tilewright.support import knobs
        from tilewright.support.fingerprint import fingerprint

        target = self._configured(self.parse_options({}))
        return fingerprint(target.name, target.fingerprint(), toolchain_fingerprint(), knobs.code_key())

    @ends_tracebacks
    def parse_options(self, options: dict[str, Any]) -> BackendOptions:
        """Complete and check launch options; what are none (a kernel's own keywords) Triton looks after. Raises
        OptionError."""
        from tilewright.compiler.options import OPTION_NAMES, CompileOptions
        from tilewright.support import knobs
        from tilewright.targets.capabilities import configured

        known = {name: options[name] for name in sorted(OPTION_NAMES) if options.get(name) is not None}
        if self.is_gpu:
            known.setdefault("arch", f"sm{self.target.arch}")
        chosen = CompileOptions.from_keywords(known, debug=bool(knobs.get("debug")))
        asked = configured(self._target, chosen).codegen_options(chosen)
        return BackendOptions(
            **asdict(chosen)
            | {
                "backend_name": self.target.backend,
                "warp_size": asked.warp_size,
                "supported_fp8_dtypes": asked.supported_fp8_dtypes,
                "deprecated_fp8_dot_operand_dtypes": asked.deprecated_fp8_dot_operand_dtypes,
                "default_dot_input_precision": asked.default_dot_input_precision,
                "max_num_imprecise_acc_default": asked.max_num_imprecise_acc_default,
                "fpsan_homomorphic_casts": bool(options.get("fpsan_homomorphic_casts")),  # of a mode that is refused
            }
        )

    def get_codegen_implementation(self, options: BackendOptions) -> dict[str, Callable[..., Any]]:
        """Return what Triton's front end asks of a back end: the smallest dot (M, N, K) for two operand types, and the
        conversions from and to fp8e4b15, which are PTX that every target runs."""
        smallest = self._configured(options).codegen_options(compile_options(options)).min_dot_size

        def min_dot_size(left: Any, right: Any) -> tuple[int, int, int]:
            return smallest_dot(smallest, left.scalar.primitive_bitwidth)

        convert = official("language.extra.cuda").convert_custom_float8_sm80
        return {"min_dot_size": min_dot_size, "convert_custom_types": convert}

    def get_module_map(self) -> dict[str, ModuleType]:
        """The device library: NVIDIA's names, which all of our targets have meanings for."""
        return {LIBDEVICE: official("language.extra.cuda").libdevice}

    def load_dialects(self, context: Any) -> None:
        """Let Triton's context know NVIDIA's dialects, which its own language functions for clusters make ops of."""
        official("_C.libtriton").nvidia.load_dialects(context)

    def pack_metadata(self, metadata: Any) -> tuple[int, int, int]:
        """Return what Triton hands to launches."""
        return (metadata.num_warps, metadata.num_ctas, metadata.shared)

    def add_stages(self, stages: dict[str, Callable[[Any, Metadata], Any]], options: Any, language: Any = None) -> None:
        """Fill in the stages after Triton's front end, by their names in `kernel.asm`."""
        if getattr(language, "name", "TRITON") != "TRITON":
            raise OptionError(f"{language.name.title()} kernels are for NVIDIA's GPUs; tilewright compiles Triton's")
        target = self._configured(options)
        with _launched_by_triton():
            names = ["source", *(name for name, _ in target.stages())]
        for previous, name in pairwise(names):
            stages[name] = _stage(lambda src, _, p=previous, n=name: self._lower(src, p, n, options))
        stages["llir"] = _stage(lambda src, metadata: self._emit(src, names[-1], options, metadata))
        if self.is_gpu:
            stages["ptx"] = _stage(lambda src, _: replace(_emitted(src), section="ptx"))
        stages[self.binary_ext] = _stage(lambda src, _: _emitted(src).entry.sections["obj"])

    def _configured(self, options: BackendOptions) -> Target:
        from tilewright.targets.capabilities import configured

        return configured(self._target, compile_options(options))

    def _lower(self, src: Any, previous: str, stage: str, options: BackendOptions) -> Reached:
        """The next stage of a compilation, or the first of a new one where Triton comes with a module of its own."""
        reached = self._reached(src, previous, options)
        with _launched_by_triton():
            name, module = next(reached.compilation)
        assert name == stage, f"expected stage {stage}, reached {name}"
        return Reached(stage, module, reached.source, reached.compilation)

    def _reached(self, src: Any, stage: str, options: BackendOptions) -> Reached:
        """Return what the stage before left; a new compilation of its text where that is Triton's own module, or a text
        that the user put in its place.
        """
        if isinstance(src, Reached) and src.stage == stage:
            return src
        if src is None:
            raise OptionError(
                f"Triton cannot read a text of stage '{stage}' in place of its own; tilewright.compile(FILE) can"
            )
        from tilewright.compiler.compilation import Compilation
        from tilewright.triton_backend.source import OfficialSource

        source = OfficialSource(str(src), stage, f"kernel.{stage}")
        with _launched_by_triton():
            compilation = Compilation(source, compile_options(options), self._target)
            _, module = next(compilation)
        return Reached(stage, module, source, compilation)

    def _emit(self, src: Any, previous: str, options: BackendOptions, metadata: Metadata) -> Emitted:
        """Machine code of the last stage; what launches need to know of it goes into Triton's metadata."""
        reached = self._reached(src, previous, options)
        entry = reached.compilation.emit()
        most = self._configured(options).facts.device_properties()["max_shared_mem"]
        # Of a CPU this is memory like any other: a program that takes more of it than a cache holds is only slower.
        shared = entry.metadata.get("shared", min(max(entry.metadata.get("arena_bytes", 0), LEAST_MEMORY), most))
        source = reached.source
        metadata |= {
            "name": entry.metadata["entry"],
            "shared": shared,
            "tilewright": {"known": entry.metadata, "text": source.text, "stage": source.first_stage},
        }
        return Emitted("llir", entry, source)


# Triton refuses to be imported with a back end that lacks a method of `BaseBackend`, which other versions may have more
# of. `check_version` says what is wrong where this back end is used, and other back ends stay as they are.
TilewrightBackend.__abstractmethods__ = frozenset()


def _launched_by_triton() -> AbstractContextManager[None]:
    """For the length of a `with`, passes make no arguments that launches compute: Triton launches what it knows."""
    from tilewright.support import knobs

    return knobs.scope(tma_loads="never")


def _stage(run: Callable[[Any, Metadata], Any]) -> Callable[[Any, Metadata], Any]:
    """A stage as Triton calls it: what a device lacks is Triton's own error, which its autotuner steps over."""

    @ends_tracebacks
    def stage(src: Any, metadata: Metadata) -> Any:
        from tilewright.support.collecting import paused_collection

        try:
            with paused_collection():
                return run(src, metadata)
        except OutOfResources as error:
            raise official("runtime.errors").OutOfResources(error.required, error.limit, error.name) from error

    return stage


def _emitted(src: Any) -> Emitted:
    if not isinstance(src, Emitted):
        raise TilewrightError("LLVM text cannot be put in the place of tilewright's own; a text of stage 'ttir' can")
    return src


def compile_options(chosen: Any) -> CompileOptions:
    """Our options among Triton's, or as its metadata keeps them; texts in the place of a stage's are its business."""
    from tilewright.compiler.options import OPTION_NAMES, CompileOptions

    return CompileOptions.from_keywords({name: getattr(chosen, name) for name in OPTION_NAMES} | {"ir_override": None})
