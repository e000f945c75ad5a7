"""Benchmarks of the example kernels as ratios against peers in one run (`make bench`).

    python benchmarks/run.py [--threads N] [--seconds S] [--json FILE]

Contenders are called in turn, round after round, so that a drift of the machine's speed hits all of them; a ratio is
the median over the rounds of (peer's time / our time): above 1 we are faster. `--threads` limits us, OpenBLAS and
PyTorch alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def parse_arguments() -> argparse.Namespace:
    """The command line; read before NumPy is imported, since thread counts go through the environment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, help="threads for everybody (default 1)")
    parser.add_argument("--seconds", type=float, default=2.0, help="measuring time per row (default 2)")
    parser.add_argument("--json", metavar="FILE", help="also write the figures as JSON")
    return parser.parse_args()


OPTIONS = parse_arguments()
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "TILEWRIGHT_NUM_THREADS"):
    os.environ[variable] = str(OPTIONS.threads)

import numpy as np  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from tilewright import compat  # noqa: E402

compat.install()
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

import matmul  # noqa: E402
import softmax  # noqa: E402
import vector_add  # noqa: E402

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]
else:
    torch.set_num_threads(OPTIONS.threads)

Contender = Callable[[], Any]


@dataclass
class Row:
    """One line of the table: our launch and its peers, all computing the same; `work` is bytes or operations."""

    name: str
    ours: Contender
    peers: dict[str, Contender]
    work: float
    unit: str


def vector_add_row(n: int, label: str) -> Row:
    rng = np.random.default_rng(0)
    x, y = rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32)
    out, other = np.empty_like(x), np.empty_like(x)
    peers: dict[str, Contender] = {"NumPy": lambda: np.add(x, y, out=other)}
    if torch is not None:
        tx, ty, tout = (torch.from_numpy(a) for a in (x, y, np.empty_like(x)))
        peers["PyTorch"] = lambda: torch.add(tx, ty, out=tout)
    return Row(f"vector add f32 {label}", lambda: vector_add.add(x, y, out), peers, 12 * n, "GB/s")


def softmax_row(rows: int, cols: int) -> Row:
    x = np.random.default_rng(0).standard_normal((rows, cols), dtype=np.float32)
    out, other = np.empty_like(x), np.empty_like(x)

    def by_numpy() -> None:
        np.subtract(x, x.max(axis=1, keepdims=True), out=other)
        np.exp(other, out=other)
        np.divide(other, other.sum(axis=1, keepdims=True), out=other)

    peers: dict[str, Contender] = {"NumPy": by_numpy}
    if torch is not None:
        tx, tout = torch.from_numpy(x), torch.from_numpy(np.empty_like(x))
        peers["PyTorch"] = lambda: torch.softmax(tx, dim=1, out=tout)
    return Row(f"softmax f32 {rows}x{cols}", lambda: softmax.softmax(x, out), peers, 8 * x.size, "GB/s")


def matmul_row(n: int) -> Row:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((n, n), dtype=np.float32), rng.standard_normal((n, n), dtype=np.float32)
    out, other = np.empty_like(a), np.empty_like(a)
    peers: dict[str, Contender] = {"NumPy": lambda: np.matmul(a, b, out=other)}
    if torch is not None:
        ta, tb, tout = (torch.from_numpy(m) for m in (a, b, np.empty_like(a)))
        peers["PyTorch"] = lambda: torch.mm(ta, tb, out=tout)
    return Row(f"matmul f32 {n}", lambda: matmul.matmul(a, b, out), peers, 2 * n**3, "GFLOP/s")


def elapsed(fn: Contender) -> float:
    start = time.perf_counter()
    fn()
    return time.perf_counter() - start


def measure(row: Row, budget: float) -> dict[str, Any]:
    """Medians over interleaved rounds, each contender first called twice to warm up."""
    contenders = {"ours": row.ours, **row.peers}
    cold = elapsed(row.ours)
    for fn in contenders.values():
        fn()
    times: dict[str, list[float]] = {name: [] for name in contenders}
    stop = time.perf_counter() + budget
    while len(times["ours"]) < 5 or time.perf_counter() < stop:
        for name, fn in contenders.items():
            times[name].append(elapsed(fn))
    ratios = {
        name: statistics.median(peer / ours for peer, ours in zip(times[name], times["ours"], strict=True))
        for name in row.peers
    }
    ours = statistics.median(times["ours"])
    return {
        "name": row.name, "cold_ms": cold * 1e3, "ours_ms": ours * 1e3, "rate": row.work / ours / 1e9, "unit": row.unit,
        "ratios": ratios, "rounds": len(times["ours"]),
    }  # fmt: skip


def launch_microseconds() -> float:
    """Median time of launching a cached kernel on one small program, four arguments."""
    x = np.zeros(16, dtype=np.float32)
    launch = vector_add.add_kernel[(1,)]
    launch(x, x, x, 16, BLOCK=16)
    return statistics.median(elapsed(lambda: launch(x, x, x, 16, BLOCK=16)) for _ in range(2000)) * 1e6


def main() -> int:
    """Entry point."""
    console = Console(width=None if sys.stdout.isatty() else 110)
    rows = [
        vector_add_row(2**20, "2^20"), vector_add_row(2**24, "2^24"), softmax_row(4096, 1000), softmax_row(2048, 4096),
        matmul_row(256), matmul_row(512), matmul_row(1024),
    ]  # fmt: skip
    results: list[dict[str, Any]] = []
    with console.status("") as status:
        for row in rows:
            status.update(f"measuring {row.name} ...")
            results.append(measure(row, OPTIONS.seconds))
    table = Table(title=f"{OPTIONS.threads} thread(s); ratios are peer's time / our time, above 1 means we are faster")
    for column in ("benchmark", "first call", "ours", "rate", "vs NumPy", "vs PyTorch"):
        table.add_column(column, justify="left" if column == "benchmark" else "right")
    for result in results:
        ratios = [f"{result['ratios'][peer]:.2f}" if peer in result["ratios"] else "-" for peer in ("NumPy", "PyTorch")]
        table.add_row(
            result["name"], f"{result['cold_ms']:.0f} ms", f"{result['ours_ms']:.3f} ms",
            f"{result['rate']:.1f} {result['unit']}", *ratios,
        )  # fmt: skip
    console.print(table)
    launch = launch_microseconds()
    console.print(f"cached launch from Python, one program, four arguments: {launch:.1f} us")
    if OPTIONS.json:
        Path(OPTIONS.json).write_text(
            json.dumps({"threads": OPTIONS.threads, "launch_us": launch, "rows": results}, indent=2)
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
