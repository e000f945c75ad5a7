"""Special registers of NVIDIA GPUs, of which other targets report a clear error, and sizes of a program."""

from __future__ import annotations

from tilewright.language import dtypes as dt
from tilewright.language.context import current
from tilewright.language.inline import inline_asm_elementwise
from tilewright.language.registry import builtin, with_hint
from tilewright.language.values import constexpr, tensor


def _special(asm: str, constraints: str, dtype: dt.dtype, function: str, *, is_pure: bool = False) -> tensor:
    """The value of a special register."""
    options = current().options
    if options.target_name != "cuda":
        raise with_hint(
            NotImplementedError(
                f"tl.extra.cuda.{function} exists on NVIDIA GPUs only, the target is {options.target_name}"
            ),
            "guard the call: `if tl.target_info.is_cuda():`",
        )
    return inline_asm_elementwise(asm, constraints, [], dtype, is_pure, 1)


@builtin
def globaltimer() -> tensor:
    """The nanosecond counter of the GPU, int64."""
    return _special("mov.u64 $0, %globaltimer;", "=l", dt.int64, "globaltimer")


@builtin
def smid() -> tensor:
    """The number of the multiprocessor on which the program runs, int32."""
    return _special("mov.u32 $0, %smid;", "=r", dt.int32, "smid", is_pure=True)


@builtin
def num_threads() -> constexpr:
    """Threads per program: on a GPU 32 times the number of warps, elsewhere 1."""
    options = current().options
    return constexpr(options.num_warps * options.warp_size)


@builtin
def num_warps() -> constexpr:
    """Warps per program; 1 where there are no warps."""
    return constexpr(current().options.num_warps)


__all__ = ["globaltimer", "num_threads", "num_warps", "smid"]
