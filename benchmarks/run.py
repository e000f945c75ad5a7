"""CPU benchmarks as ratios against peers in one run (`make bench`).

    python benchmarks/run.py [--threads N] [--seconds S] [--only TEXT] [--json FILE]

Contenders are called in turn, round after round, so that a drift of the machine's speed hits all of them; a ratio is
the median over the rounds of (peer's time / our time): above 1 we are faster. Where a kernel has several sensible
block sizes, the fastest is taken first, as a user's autotuner would. `--threads` limits us, OpenBLAS and PyTorch alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def parse_arguments() -> argparse.Namespace:
    """The command line; read before NumPy is imported, since thread counts go through the environment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, help="threads for everybody (default 1)")
    parser.add_argument("--seconds", type=float, default=1.0, help="measuring time per row (default 1)")
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--json", metavar="FILE", help="also write the figures as JSON")
    return parser.parse_args()


OPTIONS = parse_arguments()
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "TILEWRIGHT_NUM_THREADS"):
    os.environ[variable] = str(OPTIONS.threads)

import numpy as np  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from tilewright import compat  # noqa: E402

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT.parent / "examples")]
with compat.standing_in():
    import attention
    import kernels
    import matmul
    import softmax
    import vector_add

try:
    import torch
except ImportError:
    torch = None
else:
    torch.set_num_threads(OPTIONS.threads)

Contender = Callable[[], Any]


@dataclass
class Case:
    """Our launches (the fastest counts) and the peers that compute the same; `work` is bytes or operations."""

    ours: Sequence[Contender]
    peers: dict[str, Contender]
    work: float
    unit: str
    floor: float | None = None
    """The ratio to PyTorch that we promise."""


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    """Random numbers, as a NumPy array."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32).astype(dtype)


def cdiv(x: int, y: int) -> int:
    return -(-x // y)


def tensors(*arrays: Any) -> list[Any]:
    """PyTorch tensors over the same memory, or nothing where PyTorch is absent."""
    return [torch.from_numpy(array) for array in arrays] if torch is not None else []


def vector_add_case(n: int, floor: float) -> Case:
    x, y = normal(n), normal(n, seed=1)
    out, other, third = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    peers: dict[str, Contender] = {"NumPy": lambda: np.add(x, y, out=other)}
    if torch is not None:
        tx, ty, tout = tensors(x, y, third)
        peers["PyTorch"] = lambda: torch.add(tx, ty, out=tout)
    ours = [lambda block=block: vector_add.add(x, y, out, block) for block in (1024, 4096, 16384)]
    return Case(ours, peers, 12 * n, "GB/s", floor)


def gelu_case(n: int, floor: float) -> Case:
    x = normal(n)
    out = np.empty_like(x)

    def launch(block: int) -> None:
        kernels.gelu_kernel[(cdiv(n, block),)](x, out, n, BLOCK=block)

    peers: dict[str, Contender] = {}
    if torch is not None:
        (tx,) = tensors(x)
        peers["PyTorch"] = lambda: torch.nn.functional.gelu(tx, approximate="tanh")
    return Case([lambda block=block: launch(block) for block in (1024, 4096)], peers, 8 * n, "GB/s", floor)


def softmax_case(rows: int, cols: int, floor: float) -> Case:
    x = normal(rows, cols)
    out, other = np.empty_like(x), np.empty_like(x)

    def by_numpy() -> None:
        np.subtract(x, x.max(axis=1, keepdims=True), out=other)
        np.exp(other, out=other)
        np.divide(other, other.sum(axis=1, keepdims=True), out=other)

    peers: dict[str, Contender] = {"NumPy": by_numpy}
    if torch is not None:
        (tx,) = tensors(x)
        peers["PyTorch"] = lambda: torch.softmax(tx, dim=1)
    return Case([lambda: softmax.softmax(x, out)], peers, 8 * x.size, "GB/s", floor)


def layer_norm_case(rows: int, cols: int, floor: float) -> Case:
    x, w, b = normal(rows, cols), normal(cols, seed=1), normal(cols, seed=2)
    out = np.empty_like(x)
    block = 1 << (cols - 1).bit_length()
    peers: dict[str, Contender] = {}
    if torch is not None:
        tx, tw, tb = tensors(x, w, b)
        peers["PyTorch"] = lambda: torch.nn.functional.layer_norm(tx, (cols,), tw, tb)
    launch = kernels.layer_norm_kernel[(rows,)]
    return Case([lambda: launch(x, out, w, b, cols, cols, 1e-5, BLOCK=block)], peers, 8 * x.size, "GB/s", floor)


def matmul_case(n: int, floor: float) -> Case:
    a, b = normal(n, n), normal(n, n, seed=1)
    out, other, third = np.empty_like(a), np.empty_like(a), np.empty_like(a)
    peers: dict[str, Contender] = {"NumPy": lambda: np.matmul(a, b, out=other)}
    if torch is not None:
        ta, tb, tout = tensors(a, b, third)
        peers["PyTorch"] = lambda: torch.mm(ta, tb, out=tout)
    shapes = [(64, 64, 64), (128, 128, 64), (128, 128, 256), (256, 256, 64)]
    ours = [lambda shape=shape: matmul.matmul(a, b, out, *shape) for shape in shapes]
    return Case(ours, peers, 2 * n**3, "GFLOP/s", floor)


def matmul_nt_case(n: int, floor: float, dtype: str = "float32") -> Case:
    if dtype == "float32":
        a, b, out = normal(n, n), normal(n, n, seed=1), np.empty((n, n), np.float32)
    elif torch is None:
        raise RuntimeError("needs PyTorch for bfloat16")
    else:
        a, b = (torch.from_numpy(normal(n, n, seed=seed)).to(torch.bfloat16) for seed in (0, 1))
        out = torch.empty_like(a)

    def launch(bm: int, bn: int, bk: int) -> None:
        grid = (cdiv(n, bn), cdiv(n, bm))
        kernels.matmul_nt_kernel[grid](a, b, out, n, n, n, n, n, n, BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk)

    peers: dict[str, Contender] = {}
    if torch is not None:
        ta, tb = tensors(a, b) if dtype == "float32" else (a, b)
        tout = torch.empty_like(ta)
        peers["PyTorch"] = lambda: torch.mm(ta, tb.T, out=tout)
    shapes = [(64, 64, 64), (128, 128, 64), (128, 128, 256), (256, 256, 64)]
    return Case([lambda shape=shape: launch(*shape) for shape in shapes], peers, 2 * n**3, "GFLOP/s", floor)


def bf16_matmul_case(n: int, floor: float) -> Case:
    if torch is None:
        raise RuntimeError("needs PyTorch for bfloat16")
    a, b = (torch.from_numpy(normal(n, n, seed=seed)).to(torch.bfloat16) for seed in (0, 1))
    out, tout = torch.empty_like(a), torch.empty_like(a)
    shapes = [(64, 64, 64), (128, 128, 64), (128, 128, 256), (256, 256, 64)]
    ours = [lambda shape=shape: matmul.matmul(a, b, out, *shape) for shape in shapes]
    return Case(ours, {"PyTorch": lambda: torch.mm(a, b, out=tout)}, 2 * n**3, "GFLOP/s", floor)


def attention_case(
    heads: int, length: int, dim: int, floor: float, *, causal: bool = False, bf16: bool = False
) -> Case:
    arrays = [normal(heads, length, dim, seed=seed) for seed in (0, 1, 2)]
    if torch is not None:
        q, k, v = (torch.from_numpy(a).to(torch.bfloat16 if bf16 else torch.float32) for a in arrays)
        out = torch.empty_like(q)
    elif bf16:
        raise RuntimeError("needs PyTorch for bfloat16")
    else:
        q, k, v = arrays
        out = np.empty_like(q)
    lse = np.empty((heads, length), np.float32)
    scale = dim**-0.5
    stride = (length * dim, dim)

    def launch(bm: int, bn: int) -> None:
        attention.attention_forward[(cdiv(length, bm), heads)](
            q, k, v, out, lse, scale, length, length, *stride, *stride, *stride, *stride,
            HEAD=dim, BLOCK_M=bm, BLOCK_N=bn, CAUSAL=causal,
        )  # fmt: skip

    peers: dict[str, Contender] = {}
    if torch is not None:
        attend = torch.nn.functional.scaled_dot_product_attention
        batch = [t[None] for t in (q, k, v)]
        peers["PyTorch"] = lambda: attend(*batch, is_causal=causal)
    work = 4 * heads * length * length * dim / (2 if causal else 1)
    shapes = [(64, 64), (128, 64)] if causal else [(64, 64), (128, 64), (64, 128)]
    return Case([lambda s=s: launch(*s) for s in shapes], peers, work, "GFLOP/s", floor)


def gather_case(table_rows: int, width: int, n: int, floor: float) -> Case:
    table = normal(table_rows, width)
    index = np.random.default_rng(0).integers(0, table_rows, n)
    out, other = np.empty((n, width), np.float32), np.empty((n, width), np.float32)

    def launch(rows: int) -> None:
        kernels.gather_kernel[(cdiv(n, rows),)](index, table, out, width, n, ROWS=rows, BLOCK=width)

    peers: dict[str, Contender] = {"NumPy": lambda: np.take(table, index, axis=0, out=other)}
    if torch is not None:
        tt, ti = tensors(table, index)
        peers["PyTorch"] = lambda: torch.nn.functional.embedding(ti, tt)
    return Case([lambda rows=rows: launch(rows) for rows in (8, 32)], peers, 8 * n * width, "GB/s", floor)


def column_sum_case(rows: int, cols: int, floor: float) -> Case:
    x = normal(rows, cols)
    out = np.empty(cols, np.float32)

    def launch(bm: int, bn: int) -> None:
        kernels.column_sum_kernel[(cdiv(cols, bn),)](x, out, rows, cols, BLOCK_M=bm, BLOCK_N=bn)

    peers: dict[str, Contender] = {"NumPy": lambda: x.sum(axis=0)}
    if torch is not None:
        (tx,) = tensors(x)
        peers["PyTorch"] = lambda: tx.sum(dim=0)
    return Case([lambda s=s: launch(*s) for s in ((16, 512), (32, 256), (8, 1024))], peers, 4 * x.size, "GB/s", floor)


def cumsum_case(rows: int, cols: int, floor: float) -> Case:
    x = normal(rows, cols)
    out, other = np.empty_like(x), np.empty_like(x)
    launch = kernels.cumsum_kernel[(rows,)]
    peers: dict[str, Contender] = {"NumPy": lambda: np.cumsum(x, axis=1, out=other)}
    if torch is not None:
        (tx,) = tensors(x)
        peers["PyTorch"] = lambda: torch.cumsum(tx, dim=1)
    return Case([lambda: launch(x, out, cols, BLOCK=cols)], peers, 8 * x.size, "GB/s", floor)


ROWS: dict[str, Callable[[], Case]] = {
    "vector add f32 2^20": lambda: vector_add_case(2**20, 0.95),
    "vector add f32 2^24": lambda: vector_add_case(2**24, 1.1),
    "gelu (tanh) f32 2^22": lambda: gelu_case(2**22, 3.0),
    "softmax f32 4096x781": lambda: softmax_case(4096, 781, 1.6),
    "softmax f32 2048x4096": lambda: softmax_case(2048, 4096, 1.6),
    "layer norm f32 1024x4096": lambda: layer_norm_case(1024, 4096, 1.4),
    "layer norm f32 512x8192": lambda: layer_norm_case(512, 8192, 1.4),
    "matmul f32 512": lambda: matmul_case(512, 1.0),
    "matmul f32 1536": lambda: matmul_case(1536, 1.0),
    "matmul f32 1000, B transposed": lambda: matmul_nt_case(1000, 0.9),
    "matmul bf16 1024": lambda: bf16_matmul_case(1024, 0.92),
    "attention f32 8x1024x64": lambda: attention_case(8, 1024, 64, 1.15),
    "attention f32 8x1024x64 causal": lambda: attention_case(8, 1024, 64, 1.0, causal=True),
    "attention bf16 8x1024x64": lambda: attention_case(8, 1024, 64, 1.9, bf16=True),
    "gather 50000x256, 8192 rows": lambda: gather_case(50000, 256, 8192, 0.95),
    "column sums f32 4096x4096": lambda: column_sum_case(4096, 4096, 0.95),
    "row cumsum f32 2048x4096": lambda: cumsum_case(2048, 4096, 1.2),
}


def elapsed(fn: Contender) -> float:
    start = time.perf_counter()
    fn()
    return time.perf_counter() - start


def fastest(candidates: Sequence[Contender]) -> Contender:
    """The launch with the smallest of a few times."""
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda fn: min(elapsed(fn) for _ in range(4)))


def measure(name: str, case: Case, budget: float) -> dict[str, Any]:
    """Medians over interleaved rounds, each contender first called to warm up."""
    cold = elapsed(case.ours[0])
    contenders = {"ours": fastest(case.ours), **case.peers}
    for fn in contenders.values():
        fn()
    times: dict[str, list[float]] = {label: [] for label in contenders}
    stop = time.perf_counter() + budget
    while len(times["ours"]) < 5 or time.perf_counter() < stop:
        for label, fn in contenders.items():
            times[label].append(elapsed(fn))
    ratios = {
        label: statistics.median(peer / own for peer, own in zip(times[label], times["ours"], strict=True))
        for label in case.peers
    }
    ours = statistics.median(times["ours"])
    return {
        "name": name, "cold_ms": cold * 1e3, "ours_ms": ours * 1e3, "rate": case.work / ours / 1e9, "unit": case.unit,
        "ratios": ratios, "floor": case.floor, "rounds": len(times["ours"]),
    }  # fmt: skip


def launch_microseconds() -> float:
    """Median time of launching a cached kernel on one small program, four arguments."""
    x = np.zeros(16, dtype=np.float32)
    launch = vector_add.add_kernel[(1,)]
    launch(x, x, x, 16, BLOCK=16)
    return statistics.median(elapsed(lambda: launch(x, x, x, 16, BLOCK=16)) for _ in range(2000)) * 1e6


def results(seconds: float, only: str) -> Iterator[dict[str, Any]]:
    """Measure the chosen rows one by one."""
    for name, make in ROWS.items():
        if only in name:
            try:
                case = make()
            except RuntimeError as error:
                print(f"{name}: left out, {error}", file=sys.stderr)
                continue
            yield measure(name, case, seconds)


def main() -> int:
    """Entry point."""
    console = Console(width=None if sys.stdout.isatty() else 120)
    measured: list[dict[str, Any]] = []
    with console.status("measuring ...") as status:
        for result in results(OPTIONS.seconds, OPTIONS.only):
            measured.append(result)
            status.update(f"measured {result['name']}")
    table = Table(title=f"{OPTIONS.threads} thread(s); ratios are peer's time / our time, above 1 means we are faster")
    for column in ("benchmark", "first call", "ours", "rate", "vs NumPy", "vs PyTorch", "promised"):
        table.add_column(column, justify="left" if column == "benchmark" else "right")
    for result in measured:
        ratios = [f"{result['ratios'][peer]:.2f}" if peer in result["ratios"] else "-" for peer in ("NumPy", "PyTorch")]
        table.add_row(
            result["name"], f"{result['cold_ms']:.0f} ms", f"{result['ours_ms']:.3f} ms",
            f"{result['rate']:.1f} {result['unit']}", *ratios, f"{result['floor']:.2f}",
        )  # fmt: skip
    console.print(table)
    launch = launch_microseconds()
    console.print(f"cached launch from Python, one program, four arguments: {launch:.1f} us")
    if OPTIONS.json:
        figures = {"threads": OPTIONS.threads, "launch_us": launch, "rows": measured}
        Path(OPTIONS.json).write_text(json.dumps(figures, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
