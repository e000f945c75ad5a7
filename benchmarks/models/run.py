"""Fused kernels of models under PyTorch's compiler: eager, Inductor's C++ back end and tilewright.

The three take turns in one process; a row has the median time of a call and the median of the rounds' ratios, so that
what else a machine does falls on all alike. Compiled results are compared with eager ones.

    python benchmarks/models/run.py --only softmax --rounds 20
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PEERS = ("eager", "cpp", "tilewright")
WHOLE = "# Whole models"
"""The heading of the part of the results that whole.py writes."""
ROUND_SECONDS = 2e-3
"""Calls of a peer in one round take about this long."""


def time_rounds(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds a call of each function, round by round, in turns."""
    counts: dict[str, int] = {}
    for name, call in calls.items():
        call()  # which may compile again, after a reset
        started = time.perf_counter()
        call()
        counts[name] = max(1, min(1000, int(ROUND_SECONDS / (time.perf_counter() - started))))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            started = time.perf_counter()
            for _ in range(counts[name]):
                call()
            times[name].append((time.perf_counter() - started) / counts[name])
    return times


def compile_for(function: Callable[..., Any], peer: str, args: tuple[Any, ...]) -> tuple[Callable[[], Any], float]:
    """A call of the compiled function, and the seconds that the first one took."""
    import torch

    from tilewright.compat.torch_compile import compile_graph

    backend: Any = "inductor" if peer == "cpp" else compile_graph
    compiled: Any = torch.compile(function, fullgraph=True, dynamic=False, backend=backend)
    started = time.perf_counter()
    result, expected = compiled(*args), function(*args)
    seconds = time.perf_counter() - started
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)
    return lambda: compiled(*args), seconds


def measure(name: str, rounds: int) -> str:
    """One row of the table."""
    import torch
    from fused import CASES

    torch.manual_seed(0)
    function, args = CASES[name]()
    calls: dict[str, Callable[[], Any]] = {"eager": lambda: function(*args)}
    first: dict[str, float] = {}
    for peer in PEERS[1:]:
        torch._dynamo.reset()  # the compiled functions of earlier rows
        calls[peer], first[peer] = compile_for(function, peer, args)
    times = time_rounds(calls, rounds)
    medians = [f"{statistics.median(times[peer]) * 1e6:.1f}" for peer in PEERS]
    ratios = [statistics.median(a / b for a, b in zip(times[p], times["tilewright"], strict=True)) for p in PEERS[:2]]
    RATIOS.append(ratios[1])
    shown = " | ".join((*medians, *(f"{ratio:.2f}" for ratio in ratios)))
    return f"| {name} | {shown} | {first['cpp']:.1f} / {first['tilewright']:.1f} |"


RATIOS: list[float] = []
"""Of the rows so far: the C++ back end's time by ours."""


def main() -> None:
    """Print the table, and write it where `--output` says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a regular expression that names contain")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    os.environ["TILEWRIGHT_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(options.threads)
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"

    import tilewright.compat

    tilewright.compat.install()
    import torch
    from fused import CASES

    torch.set_num_threads(options.threads)
    head = [
        "# Models under PyTorch's compiler: fused kernels",
        "",
        f"`make bench-models`; PyTorch {torch.__version__}, Python {platform.python_version()}, {processor()}, "
        f"{options.threads} thread(s).",
        "Microseconds of a compiled call (medians), the peers' time by ours (medians of rounds in turns), and",
        "the seconds of the first call, which compiles.",
        "",
        "| kernel | eager | C++ | tilewright | eager / ours | C++ / ours | first call C++ / ours |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    print("\n".join(head), flush=True)
    for name in CASES:
        if re.search(options.only, name):
            head.append(measure(name, options.rounds))
            print(head[-1], flush=True)
    if not RATIOS:
        return
    mean = math.exp(statistics.fmean(map(math.log, RATIOS)))
    head += ["", f"Geometric mean of C++ / ours: {mean:.2f} over {len(RATIOS)} kernels; least {min(RATIOS):.2f}."]
    print(head[-1])
    if options.output is not None:
        before = options.output.read_text() if options.output.exists() else ""
        _, heading, models = before.partition(WHOLE)
        options.output.write_text("\n".join(head) + "\n" + (f"\n{heading}{models}" if heading else ""))


def processor() -> str:
    """The processor's name, where Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    main()
