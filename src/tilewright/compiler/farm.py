"""Work on other machines: compilations, and anything else that is cut into parts, on the workers of a dask.distributed
cluster (the extra `farm`).

    pip install 'tilewright[farm]'
    dask scheduler                                              # on one machine; it prints its address
    dask worker tcp://10.0.0.1:8786 --nworkers 8 --nthreads 1   # on each of the others: a thread a process, for Python

    TILEWRIGHT_FARM=tcp://10.0.0.1:8786 python tune.py        # the autotuner's candidates are compiled there
    tilewright fuzz --scheduler tcp://10.0.0.1:8786 --minutes 60

What travels to be compiled is the text that the front end made, with the facts of the target and the switches that
change code; what comes back goes into the disk cache here, where the compilation that follows finds it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from tilewright.compiler.compilation import Request, build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import TextSource
from tilewright.support import knobs
from tilewright.support.cache_managers import kernel_cache
from tilewright.support.disk_cache import Entry
from tilewright.support.errors import FarmError, TilewrightError
from tilewright.support.records import dataclass
from tilewright.targets.base import Target

CONNECT_SECONDS = 10

IN_FLIGHT = 2
"""Parts per thread of a worker that are under way: the next one is there when one is done."""

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class Farm:
    """The workers of a cluster; to be used in a `with`. Raises FarmError where there is none, or of another state."""

    def __init__(self, address: str) -> None:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise FarmError("a farm needs dask.distributed: pip install 'tilewright[farm]'") from None
        if not re.fullmatch(r"(\w+://)?.+:\d+", address):  # dask would say so, too, but wait for it at the end
            raise FarmError(f"no scheduler answers at {address!r}: an address is like tcp://10.0.0.1:8786")
        self.address = address
        self._completed: Any = distributed.as_completed
        try:
            self._client: Any = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise FarmError(f"no scheduler answers at {address!r}: {error}. `dask scheduler` starts one") from None
        try:
            self._check_workers()
        except BaseException:
            self.close()
            raise

    def _check_workers(self) -> None:
        """Every worker must have this very tilewright: what they compile is kept under our name."""
        if not self.num_threads:
            raise FarmError(f"the scheduler at {self.address} has no workers; `dask worker {self.address}` starts some")
        try:
            states: dict[str, str] = self._client.run(source_digest)
        except ModuleNotFoundError as error:
            raise FarmError(
                f"a worker of {self.address} cannot import {error.name}: install tilewright there"
            ) from None
        others = sorted(worker for worker, state in states.items() if state != source_digest())
        if others:
            raise FarmError(f"these workers have another state of tilewright: {', '.join(others)}")

    @property
    def num_threads(self) -> int:
        """The number of parts that run at the same time."""
        return sum(self._client.nthreads().values())

    def spread(self, work: Callable[[ItemT], ResultT], items: Iterable[ItemT]) -> Iterator[ResultT]:
        """The results of `work(item)`, as they come; items are asked for as workers become free. A part whose worker is
        lost runs again on another. Raises what the work raises."""
        rest = iter(items)
        done = self._completed(loop=self._client.loop)

        def send() -> None:
            for item in rest:
                done.add(self._client.submit(work, item, pure=False))
                return

        for _ in range(IN_FLIGHT * self.num_threads):
            send()
        for future in done:
            send()
            yield future.result()

    def close(self) -> None:
        """Leave the cluster, which stays."""
        self._client.close()

    def __enter__(self) -> Farm:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def source_digest() -> str:
    """A hash of tilewright's own source files, equal on all machines that have the same."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Job:
    """A compilation, as it travels."""

    key: str
    text: str
    stage: str
    name: str
    options: CompileOptions
    target: Target
    fingerprint: str
    """Of the target here: where the tools that emit code differ, nothing is compiled."""
    switches: tuple[tuple[str, Any], ...]


def find_job(request: Request) -> Job | None:
    """A request with the front end's work done; None where that fails."""
    from tilewright.ir.printing import print_op

    source, options, target, key = request
    try:
        text = print_op(source.module(target, options), locations=True)
    except TilewrightError:
        return None
    return Job(key, text, source.first_stage, source.name, options, target, target.fingerprint(), knobs.code_key())


def run_job(job: Job) -> tuple[str, bytes | None]:
    """The job's key and what it came to, as the disk cache keeps it; None where it fails."""
    source = TextSource(job.text, job.stage, f"{job.name}.{job.stage}")
    try:
        with knobs.scope(**dict(job.switches)):
            if job.target.fingerprint() != job.fingerprint:
                return job.key, None
            return job.key, build_entry(source, job.options, job.target).encode()
    except TilewrightError:
        return job.key, None


def compile_all(farm: Farm, requests: Sequence[Request]) -> int:
    """Have a farm compile, each kernel once, and keep the results in the disk cache; how many there are. What fails is
    left to whoever needs it, and learns why."""
    cache = kernel_cache()
    wanted = {request.key: request for request in requests}
    kept = 0
    jobs = (job for request in wanted.values() if (job := find_job(request)) is not None)
    for key, data in farm.spread(run_job, jobs):
        entry = None if data is None else Entry.decode(data)
        if entry is not None:
            kept += cache.put(key, entry)
    return kept
