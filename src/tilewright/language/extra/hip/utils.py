"""Special registers of AMD's GPUs, which a kernel that reads one is told at its line, and sizes of a program."""

from __future__ import annotations

from typing import NoReturn

from tilewright.language.context import current
from tilewright.language.extra.cuda.utils import num_threads, num_warps
from tilewright.language.registry import builtin, with_hint


def _refuse(function: str) -> NoReturn:
    target = current().options.target_name
    raise with_hint(
        NotImplementedError(f"tl.extra.hip.{function} exists on AMD's GPUs only, the target is {target}"),
        "guard the call: `if tl.target_info.is_hip():`",
    )


@builtin
def memrealtime() -> NoReturn:
    """The real-time counter of an AMD GPU."""
    _refuse("memrealtime")


@builtin
def smid() -> NoReturn:
    """The number of the compute unit on which the program runs."""
    _refuse("smid")


__all__ = ["memrealtime", "num_threads", "num_warps", "smid"]
