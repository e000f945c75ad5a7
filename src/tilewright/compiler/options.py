"""Launch and compile options: the keywords that a kernel launch takes beside the kernel's own parameters.

The set and the defaults are those of Triton's CUDA back end, so that launches written for Triton run unchanged; a CPU
target reads the few that mean something there (`debug`, `sanitize_overflow`, `enable_fp_fusion`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tilewright.support import knobs
from tilewright.support.errors import OptionError, UnknownOptionError
from tilewright.support.records import dataclass

REFUSED = {
    "warp_size": "it follows from the target, 32 threads on NVIDIA GPUs",
    "backend_name": "the target follows from where the data lies, or from TILEWRIGHT_TARGET",
    "supported_fp8_dtypes": "they follow from the GPU",
    "deprecated_fp8_dot_operand_dtypes": "they follow from the GPU",
    "device": "the device is the one that the data lies on",
    "device_type": "the target follows from where the data lies, or from TILEWRIGHT_TARGET",
    "stream": "launches go to the current stream of PyTorch or CuPy; change it there (torch.cuda.stream)",
}
"""Keywords of Triton's that are no options of a launch, and why."""

WITHOUT_EFFECT = frozenset(
    {"waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint", "sched4reg", "fpsan_homomorphic_casts"}
)
"""Options that change no result: those of Triton's AMD back end only guide it (programs choose between lists of
configurations by whether the current target is CUDA), `sched4reg` guides LLVM's scheduler before ptxas's own, and
`fpsan_homomorphic_casts` belongs to an instrumentation mode, which is refused."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of one compilation; all of them take part in the cache key."""

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    maxnreg: int | None = None
    ptx_version: int | None = None
    ptx_options: str | None = None
    ir_override: str | None = None
    enable_fp_fusion: bool = True
    enable_reflect_ftz: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    clc: bool = False
    default_dot_input_precision: str = "tf32"
    allowed_dot_input_precisions: tuple[str, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int | None = None
    """None leaves it to the target."""
    extern_libs: tuple[tuple[str, str], ...] = ()
    """Files of LLVM bitcode by name, for `extern_elementwise`; `libdevice` replaces NVIDIA's."""
    debug: bool = False
    sanitize_overflow: bool = True
    arch: str | None = None
    instrumentation_mode: str = ""
    min_shared_mem: int | None = None
    """Bytes of shared memory that a CTA takes at least: fewer CTAs share a multiprocessor."""

    def __post_init__(self) -> None:
        for name in ("num_warps", "num_ctas", "num_stages"):
            _check_count(name, getattr(self, name))
        for name in ("num_warps", "num_ctas"):
            if (value := getattr(self, name)) & (value - 1):
                raise OptionError(f"{name} must be a power of 2, got {value}")
        if self.maxnreg is not None:
            _check_count("maxnreg", self.maxnreg)
        if self.min_shared_mem is not None and self.min_shared_mem != 0:
            _check_count("min_shared_mem", self.min_shared_mem)
        if self.instrumentation_mode:
            raise OptionError(
                f"instrumentation_mode={self.instrumentation_mode!r}: kernels are checked in another way here, by "
                "TILEWRIGHT_SANITIZE=bounds,race,init on the CPU and by TILEWRIGHT_TARGET=cuda_sim for shared memory"
            )

    def identity(self, ignored: frozenset[str] = frozenset()) -> dict[str, Any]:
        """Return what compiled code depends on: the options but those that the target ignores, and the contents of the
        files that they name.
        """
        values = {name: value for name, value in asdict(self).items() if name not in ignored}
        named = dict(self.extern_libs) | {"ir_override": self.ir_override or ""}
        return values | {"files": [(name, _contents(name, path)) for name, path in sorted(named.items()) if path]}

    @classmethod
    def from_keywords(
        cls, keywords: dict[str, Any], *, debug: bool = False, parameters: Sequence[str] = ()
    ) -> CompileOptions:
        """Options from launch keywords, which are none of the kernel's parameters. Raises UnknownOptionError, a
        KeyError, for one that no option bears."""
        keywords = {name: value for name, value in keywords.items() if name not in WITHOUT_EFFECT}
        unknown = keywords.keys() - OPTION_NAMES
        if unknown:
            name = min(unknown)
            if name in REFUSED:
                raise OptionError(f"the launch option {name} is not for launches: {REFUSED[name]}")
            near = get_close_matches(name, [*OPTION_NAMES, *parameters], 1)
            known = f"; the kernel's parameters are {', '.join(parameters)}" if parameters else ""
            hint = f"; did you mean {near[0]!r}?" if near else known
            raise UnknownOptionError(f"Keyword argument {name} was specified but unrecognised{hint}")
        values = {name: _frozen(value) for name, value in keywords.items()}
        if debug:
            values.setdefault("debug", True)
        if knobs.get("debug"):  # whatever a launch says, as in Triton
            values["debug"] = True
        values.setdefault("enable_fp_fusion", knobs.get("default_fp_fusion"))
        if knobs.get("force_disable_fp_fusion"):
            values["enable_fp_fusion"] = False
        return cls(**values)


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise OptionError(f"{name} must be a positive integer, got {value!r}")


def _contents(name: str, path: str) -> str:
    """The hash of a file that an option names."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise OptionError(f"{name}: cannot read {path}: {error.strerror}") from None


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(sorted(value.items()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, list):
        return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return value


OPTION_NAMES = frozenset(field.name for field in fields(CompileOptions))
