"""All fused kernels and all whole models at once, one process for each, pinned to processors of its own.

Every row is compiled in a process that keeps its caches in a folder of its own. When all are compiled, the rows are
timed, few side by side, a second time after all have been timed once: eager, Inductor's C++ back end and tilewright
take turns in one process. A line of JSON for each row and run goes to a file, `--table` makes tables of it.

    python benchmarks/models/floors.py --only mobilenet --cores 2 --output rows.jsonl
    python benchmarks/models/floors.py --table rows.jsonl > benchmarks/results/models-xeon.md
"""

from __future__ import annotations

import argparse
import copy
import ctypes
import json
import math
import multiprocessing as processes
import os
import re
import statistics
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FunctionType
from typing import Any

PEERS = ("eager", "cpp", "tilewright")
KIND_OF_STEP = {False: "forward", True: "training"}
FLOORS = {"kernel": (1.5, 0.9), "model": (1.1, 0.95)}
"""Of C++ / ours: the geometric mean that is wanted, and the least."""
ROUND_SECONDS = 4e-3
PROFILE_CALLS = 15
FINISHED = "finished"
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3


def row_names(only: str) -> list[str]:
    """The names of all rows that the expression finds: models first, as they compile longest."""
    from fused import CASES
    from nets import MODELS

    steps = [f"model {name} {kind}" for kind in ("training", "forward") for name in MODELS]
    return [name for name in (*steps, *(f"kernel {name}" for name in CASES)) if re.search(only, name)]


class Row:
    """One function or model, compiled for each peer, in a process of its own."""

    def __init__(self, name: str) -> None:
        import torch

        torch.manual_seed(0)
        self.name, self.facts = name, {"row": name, "threads": torch.get_num_threads()}
        kind, case, *step = name.split()
        self.calls: dict[str, Callable[[], Any]] = {}
        first: dict[str, float] = {}
        make = self._kernel(case) if kind == "kernel" else self._model(case, training=step == ["training"])
        errors = {}
        for peer in PEERS:
            self.calls[peer], error = make(peer)
            started = time.perf_counter()
            result = self.calls[peer]()
            first[peer] = time.perf_counter() - started
            errors[peer] = error(result)
        self.facts |= {"first": first, "errors": errors}

    def _kernel(self, case: str) -> Callable[[str], tuple[Callable[[], Any], Callable[[Any], float]]]:
        from fused import CASES

        function, args = CASES[case]()
        exact = function(*(arg.double() if arg.is_floating_point() else arg for arg in args))

        def make(peer: str) -> tuple[Callable[[], Any], Callable[[Any], float]]:
            # A code object for each peer: what is compiled is found by it.
            own = FunctionType(function.__code__.replace(), function.__globals__, function.__name__)
            compiled = compiled_for(own, peer, fullgraph=True)
            return lambda: compiled(*args), lambda result: error_of(listed(result), listed(exact))

        return make

    def _model(self, case: str, *, training: bool) -> Callable[[str], tuple[Callable[[], Any], Callable[[Any], float]]]:
        from nets import MODELS
        from whole import step_of

        model, args = MODELS[case]()
        model.train(training)
        twin = copy.deepcopy(model).double()
        doubles = tuple(arg.double() if arg.is_floating_point() else arg for arg in args)
        exact = step_of(twin, twin, doubles, training=training)()

        def make(peer: str) -> tuple[Callable[[], Any], Callable[[Any], float]]:
            own = copy.deepcopy(model)
            step = step_of(compiled_for(own, peer), own, args, training=training)
            return step, lambda result: error_of(result, exact)

        return make

    def timed(self, rounds: int) -> dict[str, Any]:
        """The row with times of a call in microseconds, and the peers' time by ours."""
        counts = {}
        for peer, call in self.calls.items():
            for _ in range(5):
                call()
            started = time.perf_counter()
            call()
            counts[peer] = max(1, min(1000, int(ROUND_SECONDS / (time.perf_counter() - started))))
        times: dict[str, list[float]] = {peer: [] for peer in PEERS}
        for at in range(rounds):
            for peer in (*PEERS[at % 3 :], *PEERS[: at % 3]):
                call = self.calls[peer]
                call()  # what the peer before left in the caches is not its own
                started = time.perf_counter()
                for _ in range(counts[peer]):
                    call()
                times[peer].append((time.perf_counter() - started) / counts[peer] * 1e6)
        ours = times["tilewright"]
        ratios = {peer: statistics.median(a / b for a, b in zip(times[peer], ours, strict=True)) for peer in PEERS[:2]}
        return {
            **self.facts,
            "median": {peer: round(statistics.median(found), 2) for peer, found in times.items()},
            "least": {peer: round(min(found), 2) for peer, found in times.items()},
            "ratios": {peer: round(ratio, 4) for peer, ratio in ratios.items()},
        }

    def profiled(self) -> dict[str, Any]:
        """The row with each call of a compiled kernel in a step, in order, and the least time that it took."""
        seen: list[tuple[str, float]] = []
        watch_kernels(seen)
        found: dict[str, list[tuple[str, float]]] = {}
        for peer in PEERS[1:]:
            steps = []
            for _ in range(PROFILE_CALLS):
                seen.clear()
                self.calls[peer]()
                steps.append(list(seen))
            calls = zip(*steps, strict=True)
            found[peer] = [(each[0][0], round(min(seconds for _, seconds in each) * 1e6, 2)) for each in calls]
        return {**self.facts, "kernels": found}


def watch_kernels(seen: list[tuple[str, float]]) -> None:
    """Have each kernel that generated modules call add its name and the seconds that it took."""
    from torch._inductor.codecache import PyCodeCache

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            started = time.perf_counter()
            result = function(*args)
            seen.append((name, time.perf_counter() - started))
            return result

        return call

    for module in PyCodeCache.modules:
        text = Path(str(module.__file__)).read_text()
        sites = dict(re.findall(r"^(site_\d+) = launch_site\(globals\(\), '(\w+)'", text, re.MULTILINE))
        for name, value in list(vars(module).items()):
            if name.startswith("cpp_fused") or name in sites:
                setattr(module, name, watched(sites.get(name, name), value))


def compiled_for(function: Any, peer: str, **keywords: Any) -> Any:
    """A function or module, compiled for a peer unless that is eager PyTorch."""
    import torch

    from tilewright.compat.torch_compile import compile_graph

    if peer == "eager":
        return function
    backend: Any = "inductor" if peer == "cpp" else compile_graph
    return torch.compile(function, dynamic=False, backend=backend, **keywords)


def listed(result: Any) -> list[Any]:
    """What a function returns, as a list."""
    return list(result) if isinstance(result, tuple | list) else [result]


def error_of(found: list[Any], exact: list[Any]) -> float:
    """The greatest difference, by the greatest element of its tensor."""
    pairs = [(a.double(), b.double()) for a, b in zip(found, exact, strict=True)]
    return max(((a - b).abs().max() / b.abs().max().clamp_min(1e-30)).item() for a, b in pairs)


def keep_memory() -> None:
    """Have malloc keep what is freed. Otherwise whether each call gets its results' pages from the system anew, which
    takes longer than most kernels, is up to what else lies at the end of the heap: noise of 10 us and more.
    """
    libc = ctypes.CDLL(None)
    for parameter in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
        libc.mallopt(parameter, 1 << 30)


def pin(cores: set[int]) -> None:
    """Have all threads of this process run on these cores."""
    for thread in os.listdir("/proc/self/task"):
        with suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread), cores)


def work(name: str, core: int, folder: str, orders: Connection) -> None:
    """Compile a row on a core, then time it where an order says, till there are no more."""
    pin({core})
    keep_memory()
    from tilewright.support import knobs

    for variable, part in (("TORCHINDUCTOR_CACHE_DIR", "inductor"), ("TILEWRIGHT_CACHE_DIR", "tilewright")):
        os.environ[variable] = str(Path(folder) / part)
    os.environ["TRITON_CACHE_DIR"] = str(Path(folder) / "triton")
    knobs.reload()
    try:
        row = Row(name)
        orders.send({"row": name, "seconds": row.facts["first"]})
        while (order := orders.recv()) != FINISHED:
            cores, rounds = order
            pin(cores)
            orders.send(row.timed(rounds) if rounds else row.profiled())
    except Exception:
        lines = [line for line in traceback.format_exc().splitlines() if line and "TORCHDYNAMO_VERBOSE" not in line]
        orders.send({"row": name, "failed": "\n".join(lines[-8:])})


class Field:
    """The rows' processes: started on free cores, stopped after the deadline, timed by orders."""

    def __init__(self, names: list[str], cores: list[int], output: Any) -> None:
        self.waiting, self.cores, self.output = list(names), cores, output
        self.free = list(cores)
        self.running: dict[Connection, tuple[str, int, Any]] = {}
        self.ready: list[tuple[str, Connection, Any]] = []
        self.context = processes.get_context("fork")

    def write(self, fact: dict[str, Any]) -> None:
        """Add a line to the file."""
        self.output.write(json.dumps(fact) + "\n")
        self.output.flush()

    def compile_all(self, folder: Path, deadline: float) -> None:
        """Compile the rows; those that are not done by the deadline are given up."""
        while (self.waiting or self.running) and time.monotonic() < deadline:
            while self.waiting and self.free:
                name, core = self.waiting.pop(0), self.free.pop()
                ours, theirs = self.context.Pipe()
                path = folder / re.sub(r"\W", "_", name)
                child = self.context.Process(target=work, args=(name, core, str(path), theirs), daemon=False)
                child.start()
                theirs.close()
                self.running[ours] = name, core, child
            for connection in wait(list(self.running), timeout=1):
                assert isinstance(connection, Connection)
                name, core, child = self.running.pop(connection)
                self.free.append(core)
                fact: dict[str, Any] = {"row": name, "failed": "ended"}
                with suppress(EOFError):
                    fact = connection.recv()
                if "failed" in fact:
                    self.write(fact)
                else:
                    self.ready.append((name, connection, child))
        for name, _, child in self.running.values():
            self.write({"row": name, "failed": "not compiled in time"})
            child.kill()
        for name in self.waiting:
            self.write({"row": name, "failed": "not begun in time"})

    def time_all(self, sets: list[set[int]], rounds: int, facts: dict[str, Any], deadline: float) -> None:
        """Time every row once, as many side by side as there are sets of cores; no rounds: profile it."""
        queue, free = list(self.ready), list(sets)
        timing: dict[Connection, tuple[str, set[int]]] = {}
        while (queue or timing) and time.monotonic() < deadline:
            while queue and free:
                name, connection, _ = queue.pop(0)
                own = free.pop()
                connection.send((own, rounds))
                timing[connection] = name, own
            for connection in wait(list(timing), timeout=1):
                assert isinstance(connection, Connection)
                name, own = timing.pop(connection)
                free.append(own)
                with suppress(EOFError):
                    self.write({**connection.recv(), **facts})
        late = set(timing)
        self.ready = [each for each in self.ready if each[1] not in late]

    def finish(self) -> None:
        """End the processes."""
        for _, connection, child in self.ready:
            with suppress(OSError):
                connection.send(FINISHED)
            child.join(2)
        for child in processes.active_children():
            child.kill()


def groups(cores: list[int], threads: int, apart: int) -> list[set[int]]:
    """Sets of so many cores, for processes that are timed side by side, one in each `apart` cores."""
    step = max(threads, apart)
    return [set(cores[at : at + threads]) for at in range(0, len(cores) - threads + 1, step)]


def measure(options: argparse.Namespace) -> None:
    """Compile and time all rows."""
    threads = options.threads
    os.environ["TILEWRIGHT_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(threads)
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    started = time.monotonic()
    import tilewright.compat

    tilewright.compat.install()
    import torch
    import torch._dynamo
    import torch._inductor.compile_fx  # in every child, otherwise
    from run import processor

    torch.set_num_threads(threads)
    cores = sorted(os.sched_getaffinity(0))[: options.cores]
    names = row_names(options.only)
    about = {"about": processor(), "torch": torch.__version__, "cores": len(cores), "apart": options.apart}
    with tempfile.TemporaryDirectory() as folder, options.output.open("a") as output:
        field = Field(names, cores, output)
        field.write(about)
        field.compile_all(Path(folder), started + options.seconds * 0.75)
        print(f"{len(field.ready)} rows compiled in {time.monotonic() - started:.0f} s", flush=True)
        sets = groups(cores, threads, options.apart)
        for run in range(options.runs):
            field.time_all(sets, options.rounds, {"run": run}, started + options.seconds)
            print(f"timed at {time.monotonic() - started:.0f} s", flush=True)
        field.time_all(sets, 0, {}, started + options.seconds)
        field.finish()
    print(f"ended at {time.monotonic() - started:.0f} s", flush=True)


def geometric_mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(statistics.fmean(map(math.log, ratios)))


def table(path: Path) -> Iterator[str]:
    """The lines of the tables of a file of rows."""
    facts = [json.loads(line) for line in path.read_text().splitlines()]
    timed: dict[str, list[dict[str, Any]]] = {}
    for fact in facts:
        if "ratios" in fact:
            timed.setdefault(fact["row"], []).append(fact)
    for kind, (mean, least) in FLOORS.items():
        rows = {name: found for name, found in timed.items() if name.startswith(kind)}
        if not rows:
            continue
        step = "| step " if kind == "model" else ""
        yield ""
        columns = "eager | C++ | ours | C++ / ours | again | first call, s: C++, ours | error: eager, ours"
        yield f"| {kind} {step}| {columns} |"
        yield f"|---{'|---' if step else ''}|--:|--:|--:|--:|--:|--:|--:|"
        for name, found in sorted(rows.items(), key=lambda item: item[1][0]["ratios"]["cpp"]):
            yield line_of(name, found)
        yield ""
        for run in range(max(map(len, rows.values()))):
            ratios = [found[run]["ratios"]["cpp"] for found in rows.values() if len(found) > run]
            yield (
                f"Run {run + 1}: geometric mean of C++ / ours {geometric_mean(ratios):.3f} over {len(ratios)} "
                f"(floor {mean}), least {min(ratios):.2f}, {sum(ratio < least for ratio in ratios)} below {least}."
            )
    failed = [f"{fact['row']} ({fact['failed'].strip().splitlines()[-1]})" for fact in facts if "failed" in fact]
    if failed:
        yield ""
        yield f"Without figures: {', '.join(failed)}."


def line_of(name: str, found: list[dict[str, Any]]) -> str:
    """A row of a table."""
    one = found[0]
    medians = (f"{one['median'][peer]:.1f}" for peer in PEERS)
    ratios = [f"{fact['ratios']['cpp']:.2f}" for fact in found[:2]]
    first = f"{one['first']['cpp']:.1f}, {one['first']['tilewright']:.1f}"
    errors = f"{one['errors']['eager']:.1e}, {one['errors']['tilewright']:.1e}"
    return "| " + " | ".join((*name.split()[1:], *medians, *ratios, *[""] * (2 - len(ratios)), first, errors)) + " |"


def main() -> None:
    """Measure, or print the tables of a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a regular expression that names of rows contain")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--apart", type=int, default=2, help="one row is timed in so many cores")
    parser.add_argument("--seconds", type=float, default=3600, help="three quarters of them for compiling")
    parser.add_argument("--output", type=Path, default=Path("rows.jsonl"))
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    if options.table is None:
        measure(options)
    else:
        print("\n".join(table(options.table)))


if __name__ == "__main__":
    main()
