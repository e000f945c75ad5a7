"""Launch and compile options: the keywords that a kernel launch takes beside the kernel's own parameters.

The set and the defaults are those of Triton's CUDA back end, so that launches written for Triton run unchanged; a CPU
target reads the few that mean something there (`debug`, `sanitize_overflow`, `enable_fp_fusion`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any


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
    default_dot_input_precision: str = "tf32"
    allowed_dot_input_precisions: tuple[str, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    extern_libs: tuple[tuple[str, str], ...] = ()
    debug: bool = False
    sanitize_overflow: bool = True
    arch: str | None = None
    instrumentation_mode: str = ""

    def __post_init__(self) -> None:
        for name in ("num_warps", "num_ctas", "num_stages"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a positive integer, got {value!r}")
        if self.num_warps & (self.num_warps - 1):
            raise ValueError(f"num_warps must be a power of 2, got {self.num_warps}")

    @classmethod
    def from_keywords(cls, keywords: dict[str, Any], *, debug: bool = False) -> CompileOptions:
        """Options from launch keywords. Raises KeyError on a keyword that no option bears, as Triton does."""
        unknown = keywords.keys() - OPTION_NAMES
        if unknown:
            name = min(unknown)
            near = get_close_matches(name, OPTION_NAMES, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise KeyError(f"Keyword argument {name} was specified but unrecognised{hint}")
        values = {name: _frozen(value) for name, value in keywords.items()}
        if debug:
            values.setdefault("debug", True)
        return cls(**values)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(sorted(value.items()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, list):
        return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return value


OPTION_NAMES = frozenset(field.name for field in fields(CompileOptions))
