"""Compile the example kernels, run them on real sizes, and print how right and how fast they are.

python examples/demo.py                     the table
python examples/demo.py --show linalg       the IR of one stage of each kernel instead
python examples/demo.py --kernel softmax    one kernel
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tilewright import compat
from tilewright.support.disk_cache import SUFFIX, cache_directory

compat.install()
sys.path.insert(0, str(Path(__file__).parent))

import attention  # noqa: E402
import layer_norm  # noqa: E402
import matmul  # noqa: E402
import softmax  # noqa: E402
import vector_add  # noqa: E402

STAGES = ("source", "ttir", "structured", "linalg", "loops", "llir", "asm")


@dataclass
class Case:
    """One kernel on one size: `run` launches it, `numpy` computes the same, `work` is bytes or operations per run."""

    name: str
    shape: str
    kernel: Any
    run: Callable[[], Any]
    numpy: Callable[[], Any]
    out: np.ndarray
    expected: Callable[[], np.ndarray]
    work: float
    unit: str


def vector_add_case(rng: np.random.Generator) -> Case:
    n = 2**24
    x, y = rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32)
    out, other = np.empty_like(x), np.empty_like(x)
    return Case(
        "vector add", "2^24 f32", vector_add.add_kernel, lambda: vector_add.add(x, y, out),
        lambda: np.add(x, y, out=other), out, lambda: x + y, 12 * n, "GB/s",
    )  # fmt: skip


def softmax_case(rng: np.random.Generator) -> Case:
    rows, cols = 4096, 1000
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    out = np.empty_like(x)

    def by_numpy() -> np.ndarray:
        shifted = np.exp(x - x.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)

    def exact() -> np.ndarray:
        wide = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        return wide / wide.sum(axis=1, keepdims=True)

    return Case(
        "fused softmax", f"{rows} x {cols} f32", softmax.softmax_kernel, lambda: softmax.softmax(x, out), by_numpy,
        out, exact, 8 * x.size, "GB/s",
    )  # fmt: skip


def matmul_case(rng: np.random.Generator) -> Case:
    n = 512
    a, b = rng.standard_normal((n, n), dtype=np.float32), rng.standard_normal((n, n), dtype=np.float32)
    out, other = np.empty_like(a), np.empty_like(a)
    return Case(
        "matmul", f"{n} x {n} f32", matmul.matmul_kernel, lambda: matmul.matmul(a, b, out),
        lambda: np.matmul(a, b, out=other), out, lambda: a.astype(np.float64) @ b, 2 * n**3, "GFLOP/s",
    )  # fmt: skip


def layer_norm_case(rng: np.random.Generator) -> Case:
    rows, cols = 1024, 4096
    x, w, b = (rng.standard_normal(shape, dtype=np.float32) for shape in ((rows, cols), cols, cols))
    out, mean, rstd = np.empty_like(x), np.empty(rows, np.float32), np.empty(rows, np.float32)

    def run() -> None:
        layer_norm.layer_norm_forward[(rows,)](x, out, w, b, mean, rstd, cols, cols, 1e-5, BLOCK=4096)

    def normalised(values: np.ndarray) -> np.ndarray:
        centred = values - values.mean(axis=1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5) * w + b

    return Case(
        "layer norm", f"{rows} x {cols} f32", layer_norm.layer_norm_forward, run, lambda: normalised(x), out,
        lambda: normalised(x.astype(np.float64)), 8 * x.size, "GB/s",
    )  # fmt: skip


def attention_case(rng: np.random.Generator) -> Case:
    heads, length, dim = 8, 1024, 64
    q, k, v = rng.standard_normal((3, heads, length, dim), dtype=np.float32)
    out, lse = np.empty_like(q), np.empty((heads, length), np.float32)

    def run() -> None:
        attention.attention_forward[(length // 64, heads)](
            q, k, v, out, lse, dim**-0.5, length, length,
            length * dim, dim, length * dim, dim, length * dim, dim, length * dim, dim,
            HEAD=dim, BLOCK_M=64, BLOCK_N=64, CAUSAL=False,
        )  # fmt: skip

    def attend(queries: np.ndarray) -> np.ndarray:
        scores = queries @ k.transpose(0, 2, 1) * queries.dtype.type(dim**-0.5)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True) @ v

    return Case(
        "attention", f"{heads} x {length} x {dim} f32", attention.attention_forward, run, lambda: attend(q), out,
        lambda: attend(q.astype(np.float64)), 4 * heads * length**2 * dim, "GFLOP/s",
    )  # fmt: skip


FIRST = {
    "cold": "cold: first call, compilation included, and for the first kernel the compiler's imports; warm: the "
    "least time of later calls, by turns with NumPy's.",
    "first": "first: first call, of kernels that the cache may hold (`tilewright cache clear` empties it); warm: the "
    "least time of later calls, by turns with NumPy's.",
}
"""What the columns of times are, by the name of the first."""


def is_cache_empty() -> bool:
    """Whether no compiled kernel is kept on disk."""
    return not any(cache_directory().glob(f"*/*{SUFFIX}"))


CASES = {
    "vector_add": vector_add_case,
    "softmax": softmax_case,
    "layer_norm": layer_norm_case,
    "matmul": matmul_case,
    "attention": attention_case,
}


def least_seconds(functions: Sequence[Callable[[], Any]], budget: float = 1.0) -> list[float]:
    """The least time of a call of each function, called in turn for about `budget` seconds.

    The least time is what the function takes undisturbed; by turns, a busy moment of the machine befalls all of them.
    """
    least = [float("inf")] * len(functions)
    stop, rounds = time.perf_counter() + budget, 0
    while rounds < 5 or time.perf_counter() < stop:
        for index, function in enumerate(functions):
            start = time.perf_counter()
            function()
            least[index] = min(least[index], time.perf_counter() - start)
        rounds += 1
    return least


def in_units(seconds: float) -> str:
    """A time with three digits, in ms or s."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def new_table(first: str) -> Table:
    """The table, without rows; `first` is what first calls are called. It fits 80 columns."""
    table = Table(title="Triton kernels on this CPU", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("kernel", "error", first, "warm", "rate", "NumPy", "ratio"):
        table.add_column(column, justify="left" if column == "kernel" else "right", no_wrap=True)
    return table


def measure(case: Case, table: Table) -> None:
    """Run one case and add its row."""
    start = time.perf_counter()
    case.run()
    first = time.perf_counter() - start
    error = float(np.max(np.abs(case.out - case.expected())))
    ours, numpy = least_seconds((case.run, case.numpy))
    table.add_row(
        f"{case.name}\n[dim]{case.shape}[/]", f"{error:.0e}", in_units(first), in_units(ours),
        f"{case.work / ours / 1e9:.0f} {case.unit}", in_units(numpy), f"{numpy / ours:.2f}x",
    )  # fmt: skip


def show(case: Case, stage: str, console: Console) -> None:
    """Print one stage of the kernel's IR."""
    case.run()
    (compiled,) = list(case.kernel.cache.values())[:1]
    console.rule(f"{case.name}: {stage}")
    console.print(compiled.asm[stage], markup=False, highlight=False, soft_wrap=True)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", metavar="STAGE", choices=STAGES, help=f"print a stage's IR: {', '.join(STAGES)}")
    parser.add_argument("--kernel", choices=CASES, help="one kernel only")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 80)
    rng = np.random.default_rng(0)
    names = [options.kernel] if options.kernel else list(CASES)
    first = "cold" if is_cache_empty() else "first"
    table = new_table(first)
    for name in names:
        with console.status(f"compiling and running {name} ..."):
            case = CASES[name](rng)
            if not options.show:
                measure(case, table)
        if options.show:
            show(case, options.show, console)
    if not options.show:
        console.print(table)
        said = f"error: the largest, against NumPy in float64 (vector add: float32); {FIRST[first]}"
        console.print(said, style="dim")
    return 0


if __name__ == "__main__":
    sys.exit(main())
