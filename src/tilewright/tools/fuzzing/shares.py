"""Parts of a fuzzing run: which inputs a process takes, and what came of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import field
from itertools import count
from pathlib import Path

from tilewright.support.records import dataclass
from tilewright.tools.progress import progress


@dataclass(frozen=True)
class Found:
    """A failure as one small file."""

    name: str
    text: str
    first_line: str

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.name
        path.write_text(self.text)
        print(f"{path}: {self.first_line}", flush=True)


@dataclass
class Tally:
    """What a run of one kind of input came to."""

    name: str
    seed: int
    count: int = 0
    on_gpus: int = 0
    failures: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0
    found: list[Found] = field(default_factory=list["Found"])
    """What is not saved yet: of a share without a folder."""

    def __str__(self) -> str:
        failed = sum(self.failures.values())
        parts = ", ".join(f"{count} {kind}" for kind, count in sorted(self.failures.items()))
        rate = f"{self.seconds / self.count * 1e3:.1f} ms each" if self.count else "none run"
        gpus = f" ({self.on_gpus} of them on GPUs)" if self.on_gpus else ""
        inputs = f"seed {self.seed}: {self.count} {self.name}{gpus}"
        return f"{inputs}, {failed} failures{f' ({parts})' if parts else ''}, {rate}"


@dataclass(frozen=True)
class Share:
    """The inputs of one process: seeds `first`, `first` + `step`, ... below `end`, until the time is over."""

    first: int
    step: int
    end: int | None
    seconds: float | None
    folder: Path | None
    """Where failures are saved; None leaves them in the tally, for machines without that folder."""
    gpu_every: int = 0
    """Which kernels also run on GPUs: one in this many, 0 for none."""
    has_gpu: bool = False
    """Whether these run on the GPU that is there as well as on simulated ones."""
    is_shown: bool = False
    """Whether a terminal sees how far it is: of several processes the first one's share."""

    def seeds(self, tally: Tally | None = None) -> Iterator[int]:
        """The seeds of the inputs; a terminal sees how far the tally is."""
        start = time.perf_counter()
        tally = tally or Tally("inputs", self.first)
        size = None if self.end is None else len(range(self.first, self.end, self.step))
        with progress(tally.name, size or self.seconds) if self.is_shown else nullcontext(_ignore) as tell:
            for done, seed in enumerate(count(self.first, self.step)):
                seconds = time.perf_counter() - start
                failed = sum(tally.failures.values())
                of = "" if size is None else f" of {size}"
                tell(done if size is not None else seconds, f"{done}{of}, {failed} failures")
                if self.end is not None and seed >= self.end:
                    return
                if self.seconds is not None and seconds >= self.seconds:
                    return
                yield seed


def _ignore(done: float, note: str) -> None:
    """Report nothing: nobody watches."""
