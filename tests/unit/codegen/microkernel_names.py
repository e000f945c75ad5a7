"""Micro-kernels by their names, which tests write in place of all their fields."""

from __future__ import annotations

import re
from collections.abc import Callable

from tilewright.codegen.microkernels import WHOLE_BLOCK, MatmulKernel, Packing, PanelRoutine, Routine

_PREFIX = "tw_mk_"
_TYPES = r"(?P<element>\w+?)_(?P<accumulator>f32|f64|i32)"
_KERNEL = re.compile(
    rf"{_PREFIX}{_TYPES}_(?P<rows>\d+)x(?P<width>\d+)(?P<few>_few)?(?P<nt>_nt)?(?P<zero>_zero)?(?P<panels>_panels)?"
    r"(?P<fills>_fills)?(?P<out>_out(?:_(?P<output>bf16))?)?(?P<exact>_exact)?(?P<direct>_direct)?"
    r"(?:_of_(?P<counts>\d+x\d+x\d+))?(?P<configured>_configured)?"
)
_ROUTINE = re.compile(rf"{_PREFIX}(?P<packing>panels|keep|reserve)_{_TYPES}_(?P<columns>\d+)(?P<nt>_nt)?")


def kernel_of(symbol: str) -> Routine:
    """The routine of a name, whose own name that is. Raises ValueError for fields that no micro-kernel has."""
    routine = next(make(match) for pattern, make in _READERS if (match := pattern.fullmatch(symbol)) is not None)
    assert routine.symbol == symbol
    return routine


def _panel_routine(match: re.Match[str]) -> Routine:
    packing, columns = Packing(match["packing"]), int(match["columns"])
    return PanelRoutine(packing, match["element"], match["accumulator"], columns, bool(match["nt"]))


def _matmul_kernel(match: re.Match[str]) -> Routine:
    width, is_packed = int(match["width"]), bool(match["panels"])
    m_count, n_count, k_count = map(int, (match["counts"] or "0x0x0").split("x"))
    return MatmulKernel(
        match["element"],
        match["accumulator"],
        int(match["rows"]),
        WHOLE_BLOCK if is_packed else width,
        for_few_rows=bool(match["few"]),
        transposed_b=bool(match["nt"]),
        from_zero=bool(match["zero"]),
        panel_columns=width if is_packed else 0,
        fills_panels=bool(match["fills"]),
        output=match["output"] or (match["accumulator"] if match["out"] else None),
        has_edges=not match["exact"],
        direct_a=bool(match["direct"]),
        counts=(m_count, n_count, k_count) if match["counts"] else None,
        is_configured=bool(match["configured"]),
    )


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Routine]], ...] = (
    (_ROUTINE, _panel_routine),
    (_KERNEL, _matmul_kernel),
)
