"""Timing of one row: contenders take turns, so that a drift of the machine's speed hits all of them.

A round calls each contender once to settle caches and other runtimes' threads, then times one or more calls. A ratio
is the median over the rounds of (peer's time / our time): above 1 we are faster. With one thread time is the CPU time
of the process, which other load on the machine lengthens least; with more it is the time on the wall, and each peer
takes turns with us alone. A round counts if no thread of the process had to make room for another process in it,
whoever was timed; where there are too few such rounds, those count in which that happened least.
"""

from __future__ import annotations

import random
import resource
import statistics
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from case import Case, Contender, Launch, deviation
from limits import Limits

SAMPLE_SECONDS = 0.005
"""A sample is about this long at least, for every contender: its first calls wake threads."""

SETTLE_SECONDS = 0.003
MOST_SETTLE_SECONDS = 0.1
"""Threads of OpenMP and OpenBLAS go on spinning for 1 to 50 ms after a parallel loop: others wait for that to end, as
long as Linux says that a thread of this process runs, else the shorter time."""

LEAST_ROUNDS = 5


@dataclass
class Row:
    """The figures of one case at one number of threads."""

    name: str
    threads: int
    group: str
    block: str
    ours_ms: float
    limit_ms: float
    peers_ms: dict[str, float]
    ratios: dict[str, float]
    floors: dict[str, float]
    """The least ratio to a peer that is promised."""
    rounds: int
    error: float | None
    note: str = ""
    absent: dict[str, str] = field(default_factory=dict[str, str])
    """Peers that were not measured, and why."""

    @property
    def achieved(self) -> float:
        """Which part of what the machine can do."""
        return self.limit_ms / self.ours_ms

    def missed(self) -> list[str]:
        """Peers against which the promise is not kept."""
        return [peer for peer, floor in self.floors.items() if peer in self.ratios and self.ratios[peer] < floor]

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "achieved": self.achieved, "passed": not self.missed()}


class Clock:
    """Times calls, `threads` of them at work."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._now = time.process_time if threads == 1 else time.perf_counter

    def seconds(self, contender: Contender, calls: int = 1) -> float:
        start = self._now()
        for _ in range(calls):
            contender()
        return (self._now() - start) / calls

    def settle(self) -> None:
        """Wait, without giving the processor away, until no thread is in the way."""
        if self.threads == 1:
            return
        start = time.perf_counter()
        while (waited := time.perf_counter() - start) < SETTLE_SECONDS or (
            waited < MOST_SETTLE_SECONDS and _others_run()
        ):
            pass


def fastest(clock: Clock, candidates: list[Launch]) -> Launch:
    """The launch with the smallest of a few times, as an autotuner finds it."""
    if len(candidates) == 1:
        return candidates[0]
    for launch in candidates:
        launch()
    times = {index: float("inf") for index in range(len(candidates))}
    for _ in range(8):
        for index, launch in enumerate(candidates):
            times[index] = min(times[index], clock.seconds(launch))
    return candidates[min(times, key=lambda index: times[index])]


def measure(name: str, group: str, case: Case, limits: Limits, budget: float, floors: dict[str, float]) -> Row:
    """The row of a case: medians over interleaved rounds that take about `budget` seconds."""
    clock = Clock(limits.threads)
    best = fastest(clock, list(case.ours))  # pyright: ignore[reportArgumentType]
    error = _error(best, case)
    absent: dict[str, str] = {}
    contenders: dict[str, Contender] = {"ours": best}
    for peer, contender in case.peers.items():
        try:
            contender()
            contender()
        except Exception as failure:  # a peer that fails is reported with its reason, whatever it raises
            absent[peer] = (
                f"{type(failure).__name__}: {str(failure).splitlines()[0][:120]}"
                if str(failure)
                else type(failure).__name__
            )
        else:
            contenders[peer] = contender
    peers = [peer for peer in contenders if peer != "ours"]
    # Threads of one peer that still spin are in the way of the others' (OpenBLAS's for tens of milliseconds).
    companies = [[peer] for peer in peers] if limits.threads > 1 and peers else [peers]
    ours: list[float] = []
    times: dict[str, float] = {}
    ratios: dict[str, float] = {}
    for company in companies:
        found = _rounds(clock, {label: contenders[label] for label in ("ours", *company)}, budget / len(companies))
        own = found["ours"]
        ours = own if not ours or statistics.median(own) < statistics.median(ours) else ours
        for peer in company:
            times[peer] = statistics.median(found[peer])
            ratios[peer] = statistics.median(theirs / mine for theirs, mine in zip(found[peer], own, strict=True))
    return Row(
        name, limits.threads, group, best.label, statistics.median(ours) * 1e3,
        limits.seconds(case.read, case.written, case.operations, case.kind) * 1e3,
        {peer: seconds * 1e3 for peer, seconds in times.items()}, ratios, floors, len(ours), error, case.note, absent,
    )  # fmt: skip


def _error(launch: Callable[[], None], case: Case) -> float | None:
    launch()
    return None if case.results is None else deviation(*case.results())


def _rounds(clock: Clock, contenders: dict[str, Contender], budget: float) -> dict[str, list[float]]:
    calls: dict[str, int] = {}
    for label, run in contenders.items():
        shortest = min(clock.seconds(run) for _ in range(4))
        calls[label] = max(1, int(SAMPLE_SECONDS / max(shortest, 1e-7)))
    rounds: list[tuple[int, dict[str, float]]] = []
    order, chance = list(contenders.items()), random.Random(0)
    stop = time.perf_counter() + budget
    while len(rounds) < LEAST_ROUNDS or time.perf_counter() < stop:
        chance.shuffle(order)
        interruptions, found = 0, dict[str, float]()
        for label, run in order:
            clock.settle()
            run()
            before = _interruptions()
            found[label] = clock.seconds(run, calls[label])
            interruptions += _interruptions() - before
        rounds.append((interruptions, found))
    rounds.sort(key=lambda entry: entry[0])
    undisturbed = sum(interruptions == 0 for interruptions, _ in rounds)
    counted = [found for _, found in rounds[: max(LEAST_ROUNDS, undisturbed)]]
    return {label: [found[label] for found in counted] for label in contenders}


def _others_run() -> bool:
    """Whether threads of this process other than the caller run, as far as Linux says so."""
    own = str(threading.get_native_id())
    for task in Path("/proc/self/task").glob("*/stat"):
        with suppress(OSError):  # a thread that ended meanwhile
            state = task.read_text().rpartition(")")[2].split()[0]
            if state == "R" and task.parent.name != own:
                return True
    return False


def _interruptions() -> int:
    """How often a thread of this process was taken from its processor for another process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
