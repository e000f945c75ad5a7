"""`tilewright fuzz`: random kernels on all engines, mutated IR and random sequences of passes.

Prints how many inputs ran, how many failed, and the seed. Each failure is saved as one small file, which
`tilewright fuzz --replay FILE` runs again. Input number i of seed S depends on S + i alone: `--jobs N` shares the
numbers out to N processes, `--scheduler ADDRESS` to the workers of a dask.distributed cluster, and a run can be split
into several with seeds further on.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Protocol

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.support import knobs
from tilewright.support.errors import TilewrightError
from tilewright.tools.fuzzing.address_kernels import AddressKernelGenerator
from tilewright.tools.fuzzing.apart import LostError, run_apart
from tilewright.tools.fuzzing.differential import (
    BASELINE,
    CPU,
    CPU_ALONE,
    GPU,
    GPUS,
    GPUS_ALONE,
    HOPPER,
    Failure,
    Route,
    check_kernel,
    check_launch,
    launch_of_file,
)
from tilewright.tools.fuzzing.generator import KernelGenerator
from tilewright.tools.fuzzing.gluon_kernels import GluonKernelGenerator
from tilewright.tools.fuzzing.mutation import check_text, choose_text, mutate
from tilewright.tools.fuzzing.pass_runs import (
    SEQUENCES,
    check_passes,
    passes_of_text,
    random_sequences,
    text_with_passes,
)
from tilewright.tools.fuzzing.replay import render, tolerance_of_file
from tilewright.tools.fuzzing.row_walks import RowWalkGenerator
from tilewright.tools.fuzzing.samples import stage_modules
from tilewright.tools.fuzzing.shares import Found, Share, Tally
from tilewright.tools.fuzzing.shrink import shrink_generated
from tilewright.tools.fuzzing.values import GeneratedKernel
from tilewright.tools.user_files import UserFileError

SHRINK_ATTEMPTS = 150
OPS_UNDER_PASSES = 6
"""How many steps a kernel has whose modules go through random passes."""

OF_HOPPER = {"float8e4nv"}
"""What kernels may have that the older GPU lacks."""

FINE_EVERY = 8
"""Of how many kernels on GPUs the first two are compared after every pass."""

PARTS = {
    "fuzz_kernels": 32,
    "fuzz_addresses": 64,
    "fuzz_rows": 64,
    "fuzz_gluon": 32,
    "fuzz_texts": 5000,
    "fuzz_passes": 32,
}
"""Inputs that go to a worker of a farm at a time: a minute's work at most."""

DEFAULT_MINUTES = 1.0
"""How long a run takes that is told neither the time nor the number of inputs."""


def run_fuzz(options: argparse.Namespace) -> int:
    """Run until the time is over, or all inputs that were asked for are done; the exit status is 1 if any failed."""
    if options.replay:
        return _replay(Path(options.replay))
    seed = options.seed if options.seed is not None else int(time.time())
    tallies: list[Tally] = []
    for name, run, limit, part_of_time in (
        ("kernels", fuzz_kernels, options.kernels, 0.5),
        ("addresses", fuzz_addresses, options.addresses, 0.1),
        ("rows", fuzz_rows, options.rows, 0.1),
        ("gluon", fuzz_gluon, options.gluon, 0.1),
        ("mutations", fuzz_texts, options.mutations, 0.1),
        ("passes", fuzz_passes, options.passes, 0.1),
    ):
        if options.only in (None, name):
            tallies.append(_in_shares(run, options, seed, limit, 1.0 if options.only else part_of_time))
    for tally in tallies:
        print(tally)
    return 1 if any(tally.failures for tally in tallies) else 0


def _in_shares(
    run: Callable[[Share], Tally], options: argparse.Namespace, seed: int, limit: int, part_of_time: float
) -> Tally:
    """Run one kind of input in as many processes as were asked for, or on a farm."""
    minutes = options.minutes if options.minutes is not None else None if limit else DEFAULT_MINUTES
    share = partial(
        Share,
        step=options.jobs,
        end=seed + limit if limit else None,
        seconds=None if minutes is None else minutes * 60 * part_of_time,
        folder=Path(options.save),
        gpu_every=options.gpu_every,
        has_gpu=options.gpu,
    )
    shares = [share(seed + job, is_shown=job == 0) for job in range(options.jobs)]
    start = time.perf_counter()
    if options.scheduler:
        done = list(_on_farm(run, options.scheduler, shares[0], Path(options.save))) or [run(replace(shares[0], end=0))]
    elif options.jobs == 1:
        done = [run(shares[0])]
    else:
        with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
            done = list(pool.map(run, shares))
        for tally in done:
            print(tally)
    total = Tally(done[0].name, seed)
    for tally in done:
        total.count += tally.count
        total.on_gpus += tally.on_gpus
        total.failures += tally.failures
    total.seconds = time.perf_counter() - start
    return total


def _on_farm(run: Callable[[Share], Tally], address: str, whole: Share, folder: Path) -> Iterator[Tally]:
    """Run a share in small parts on the workers of a farm, until all is done or the time is over; failures are saved
    here as they come. Raises FarmError."""
    from tilewright.compiler.farm import Farm

    size = PARTS[run.__name__]

    def parts() -> Iterator[Share]:
        start = time.perf_counter()
        for first in count(whole.first, size):
            end = first + size if whole.end is None else min(first + size, whole.end)
            if first >= end or (whole.seconds is not None and time.perf_counter() - start >= whole.seconds):
                return
            yield replace(whole, first=first, step=1, end=end, seconds=None, folder=None, is_shown=False)

    with Farm(address) as farm:
        for tally in farm.spread(partial(_part_apart, run), parts()):
            for found in tally.found:
                found.save(folder)
            yield tally


def _part_apart(run: Callable[[Share], Tally], share: Share) -> Tally:
    """One part, in a process of its own; where that is lost, the part itself is the failure."""
    try:
        return run_apart(run, share)
    except LostError as error:
        tally = Tally("inputs", share.first, failures=Counter({"lost process": 1}))
        tally.found.append(Found(f"part_{share.first}.txt", f"{share}\n{error}\n", f"the process was lost: {error}"))
        return tally


def fuzz_kernels(share: Share) -> Tally:
    """Random kernels on all engines."""
    tally = Tally("kernels", share.first)
    start = time.perf_counter()
    with knobs.scope(validate=False, sanitize=(), opt="strict"):
        for seed in share.seeds(tally):
            kernel = KernelGenerator(Random(seed)).generate()
            routes = routes_of(seed, share.gpu_every, kernel.features)
            tally.on_gpus += len(routes) - 1
            if share.has_gpu and len(routes) > 1 and "without barriers" not in kernel.features:
                routes = (*routes, GPU)
            if not _check(f"kernel_{seed}.py", seed, kernel, routes, share, tally):
                print(f"seed {share.first}: the GPU is lost to this process, which ends here")
                break
    tally.seconds = time.perf_counter() - start
    return tally


def fuzz_addresses(share: Share) -> Tally:
    """Random kernels of address algebra, returns and dot loops, on the CPU with optimising passes and without, and some
    of them on a simulated GPU."""
    return _fuzz_both_ways("addresses", "kernels of address algebra", AddressKernelGenerator, share)


def fuzz_rows(share: Share) -> Tally:
    """Random walks over the columns of rows, likewise."""
    return _fuzz_both_ways("rows", "walks over rows", RowWalkGenerator, share)


def fuzz_gluon(share: Share) -> Tally:
    """Random kernels in Gluon, likewise; there the simulated GPU is the one that heeds layouts."""
    return _fuzz_both_ways("gluon", "kernels in Gluon", GluonKernelGenerator, share)


class Generator(Protocol):
    """Writes one kernel."""

    def generate(self) -> GeneratedKernel: ...


def _fuzz_both_ways(name: str, title: str, generator: Callable[[Random], Generator], share: Share) -> Tally:
    tally = Tally(title, share.first)
    start = time.perf_counter()
    with knobs.scope(validate=False, sanitize=(), opt="strict"):
        for seed in share.seeds(tally):
            kernel = generator(Random(seed)).generate()
            routes = address_routes_of(seed, share.gpu_every)
            tally.on_gpus += len(routes) - 2
            _check(f"{name}_{seed}.py", seed, kernel, routes, share, tally)
    tally.seconds = time.perf_counter() - start
    return tally


def _check(
    name: str, seed: int, kernel: GeneratedKernel, routes: tuple[Route, ...], share: Share, tally: Tally
) -> bool:
    """Run a kernel on some routes, count it, and keep it if it fails; whether the GPU is still there."""
    failure = check_kernel(kernel, routes)
    tally.count += 1
    if failure is None:
        return True
    tally.failures[f"{failure.engine} {failure.kind}"] += 1
    check = partial(check_kernel, routes=routes)
    if share.folder is not None:
        # As it is, until it is smaller: that takes minutes, and the run may be stopped before.
        _keep(name, render(kernel, f"seed {seed}\n{failure}"), failure, share, tally)
    is_lost = (failure.engine, failure.kind) == (GPU.target, "error")
    small = kernel if is_lost else shrink_generated(kernel, check, failure, SHRINK_ATTEMPTS)
    note = f"seed {seed}\n{failure if small is kernel else check(small) or failure}"
    _keep(name, render(small, note), failure, share, tally)
    return not is_lost


def routes_of(seed: int, gpu_every: int, features: frozenset[str]) -> tuple[Route, ...]:
    """Return where a kernel runs: on the CPU always, on some GPU at times, and then at times with a look after every
    pass.
    """
    if not gpu_every or seed % gpu_every:
        return (CPU,)
    turn = seed // gpu_every
    gpu = HOPPER if OF_HOPPER & features else GPUS[turn % len(GPUS)]
    return CPU, replace(gpu, is_fine=turn % FINE_EVERY < len(GPUS))


def address_routes_of(seed: int, gpu_every: int) -> tuple[Route, ...]:
    """Both ways down the CPU, and the machine code of some GPU at times."""
    if not gpu_every or seed % gpu_every:
        return CPU_ALONE, BASELINE
    return CPU_ALONE, BASELINE, GPUS_ALONE[seed // gpu_every % len(GPUS_ALONE)]


def fuzz_texts(share: Share) -> Tally:
    """Mutations of IR texts through the parser, the verifier, and one pass each."""
    tally = Tally("mutated IR inputs", share.first)
    start = time.perf_counter()
    for seed in share.seeds(tally):
        random = Random(seed)
        text = mutate(choose_text(random), random)
        tally.count += 1
        failure = check_text(text, random)
        if failure is not None:
            tally.failures[failure.kind] += 1
            _keep(f"text_{seed}.mlir", f"// {failure.message}\n{text}", failure, share, tally)
    tally.seconds = time.perf_counter() - start
    return tally


def fuzz_passes(share: Share) -> Tally:
    """Random sequences of passes on the modules of a generated kernel at every stage; each kernel is one input."""
    tally = Tally("kernels at every stage under random passes", share.first)
    start = time.perf_counter()
    for seed in share.seeds(tally):
        random = Random(seed)
        tally.count += 1
        for module in stage_modules(KernelGenerator(Random(seed), OPS_UNDER_PASSES).generate()):
            for passes in random_sequences(random, SEQUENCES):
                failure = check_passes(module, passes)
                if failure is not None:
                    tally.failures[failure.kind] += 1
                    name = f"passes_{seed}_{sum(tally.failures.values())}.mlir"
                    _keep(name, text_with_passes(module, passes), failure, share, tally)
    tally.seconds = time.perf_counter() - start
    return tally


def _keep(name: str, text: str, failure: Failure, share: Share, tally: Tally) -> None:
    found = Found(name, text, str(failure).partition("\n")[0])
    if share.folder is None:
        tally.found.append(found)
    else:
        found.save(share.folder)


def _replay(path: Path) -> int:
    """Run one saved failure; the exit status is 1 if it still fails."""
    try:
        if path.suffix == ".mlir":
            text = path.read_text()
            passes = passes_of_text(text)
            failure = (
                check_text(text, None) if passes is None else check_passes(parse_module(text, make_context()), passes)
            )
        else:
            failure = check_launch(launch_of_file(path), tolerance_of_file(path), (CPU, BASELINE, *GPUS))
    except UserFileError:
        raise
    except TilewrightError as error:
        print(error, file=sys.stderr)
        return 1
    print(failure or "all engines agree")
    return 1 if failure else 0
