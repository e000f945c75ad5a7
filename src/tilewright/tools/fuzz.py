"""`tilewright fuzz`: random kernels on all engines, and mutated IR through the parser and the passes.

Prints how many inputs ran, how many failed, and the seed. Each failure is saved as one small file, which
`tilewright fuzz --replay FILE` runs again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tilewright.support import knobs
from tilewright.support.errors import TilewrightError
from tilewright.tools.fuzzing.differential import Failure, check_kernel, check_launch, launch_of_file
from tilewright.tools.fuzzing.generator import KernelGenerator
from tilewright.tools.fuzzing.mutation import check_text, choose_text, mutate
from tilewright.tools.fuzzing.replay import render, tolerance_of_file
from tilewright.tools.fuzzing.shrink import shrink_generated
from tilewright.tools.validation.engines import find_cpu

SHRINK_ATTEMPTS = 150


@dataclass
class Tally:
    """What a run of one kind of input came to."""

    name: str
    count: int = 0
    failures: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0

    def __str__(self) -> str:
        failed = sum(self.failures.values())
        parts = ", ".join(f"{count} {kind}" for kind, count in sorted(self.failures.items()))
        rate = f"{self.seconds / self.count * 1e3:.1f} ms each" if self.count else "none run"
        return f"{self.count} {self.name}: {failed} failures{f' ({parts})' if parts else ''}, {rate}"


def run_fuzz(options: argparse.Namespace) -> int:
    """Run until the time is over; the exit status is 1 if anything failed."""
    if options.replay:
        return _replay(Path(options.replay))
    seed = options.seed if options.seed is not None else int(time.time())
    folder = Path(options.save)
    seconds = options.minutes * 60
    tallies: list[Tally] = []
    if options.only != "mutations":
        share = 1.0 if options.only else 0.8
        tallies.append(fuzz_kernels(seed, seconds * share, options.kernels, folder))
    if options.only != "kernels":
        share = 1.0 if options.only else 0.2
        tallies.append(fuzz_texts(seed, seconds * share, options.mutations, folder))
    print(f"seed {seed}")
    for tally in tallies:
        print(tally)
    return 1 if any(tally.failures for tally in tallies) else 0


def fuzz_kernels(seed: int, seconds: float, limit: int, folder: Path) -> Tally:
    """Kernels number `seed`, `seed` + 1, ... on all engines."""
    tally, target = Tally("kernels"), find_cpu()
    start = time.perf_counter()
    with knobs.scope(validate=False, sanitize=()):
        while time.perf_counter() - start < seconds and not (limit and tally.count >= limit):
            number = seed + tally.count
            kernel = KernelGenerator(Random(number)).generate()
            failure = check_kernel(kernel, target)
            tally.count += 1
            if failure is not None:
                tally.failures[f"{failure.engine} {failure.kind}"] += 1
                small = shrink_generated(kernel, lambda k: check_kernel(k, target), failure, SHRINK_ATTEMPTS)
                note = f"seed {number}\n{check_kernel(small, target) or failure}"
                _save(folder / f"kernel_{number}.py", render(small, note), failure)
    tally.seconds = time.perf_counter() - start
    return tally


def fuzz_texts(seed: int, seconds: float, limit: int, folder: Path) -> Tally:
    """Mutations of IR texts through the parser, the verifier, and one pass each."""
    tally = Tally("mutated IR inputs")
    start = time.perf_counter()
    while time.perf_counter() - start < seconds and not (limit and tally.count >= limit):
        random = Random(seed + tally.count)
        text = mutate(choose_text(random), random)
        tally.count += 1
        failure = check_text(text, random)
        if failure is not None:
            tally.failures[failure.kind] += 1
            _save(folder / f"text_{seed + tally.count - 1}.mlir", f"// {failure.message}\n{text}", failure)
    tally.seconds = time.perf_counter() - start
    return tally


def _save(path: Path, text: str, failure: Failure) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    first = str(failure).partition("\n")[0]
    print(f"{path}: {first}", flush=True)


def _replay(path: Path) -> int:
    """Run one saved failure; the exit status is 1 if it still fails."""
    try:
        if path.suffix == ".mlir":
            failure = check_text(path.read_text(), None)
        else:
            failure = check_launch(launch_of_file(path), find_cpu(), tolerance_of_file(path))
    except TilewrightError as error:
        print(error, file=sys.stderr)
        return 1
    print(failure or "all engines agree")
    return 1 if failure else 0
