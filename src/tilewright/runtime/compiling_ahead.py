"""The autotuner's candidates are compiled before they are measured: several at once, in processes of this machine or on
a farm. Nothing compiles while something is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from tilewright.runtime import hooks
from tilewright.runtime.threads import get_num_threads

CandidateT = TypeVar("CandidateT")

PART = 8
"""Candidates per process that are compiled before the first of them is measured: so that results appear soon."""


def num_workers() -> int:
    """The number of processes that compile here: one for each thread of launches; 1 where only this one may."""
    from tilewright.compiler.workers import can_share_work

    return get_num_threads() if hooks.jit_cache_hook is None and can_share_work() else 1


def compile_on_farm(candidates: Sequence[CandidateT], ask: Callable[[CandidateT], object], address: str) -> None:
    """Have other machines compile what the candidates need and the disk cache does not have, where `ask` compiles one.
    What fails there is compiled here, which then says why. Raises FarmError."""
    from tilewright.compiler.compilation import deferring
    from tilewright.compiler.farm import Farm, compile_all

    with deferring() as requests:
        for candidate in candidates:
            ask(candidate)
    if requests:
        with Farm(address) as farm:
            compile_all(farm, requests)


def compiled_in_parts(candidates: Sequence[CandidateT], ask: Callable[[CandidateT], object]) -> Iterator[CandidateT]:
    """Yield the candidates in order, part by part, each part compiled by as many processes as launches use threads."""
    workers = num_workers()
    size = PART * workers if workers > 1 else len(candidates) or 1
    for start in range(0, len(candidates), size):
        part = candidates[start : start + size]
        if workers > 1 and len(part) > 1:
            compile_here(part, ask, workers)
        yield from part


def compile_here(candidates: Sequence[CandidateT], ask: Callable[[CandidateT], object], workers: int) -> None:
    """Have so many processes compile what the candidates need, where `ask` compiles one."""
    from tilewright.compiler.compilation import deferring
    from tilewright.compiler.workers import compile_in_workers

    with deferring() as requests:
        for candidate in candidates:
            ask(candidate)
    compile_in_workers(requests, workers)
