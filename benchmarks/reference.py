"""What the reference engine costs: vector sums by a thousand programs, at each stage.

    python benchmarks/reference.py

Seconds of processor time, the least of three. The reference is to stay usable on the grids that tests need: less than
two seconds at every stage.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from tilewright import compat
from tilewright.tools.reference_run import run_kernel

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
with compat.standing_in():
    from vector_add import add_kernel

PROGRAMS, BLOCK = 1000, 256
STAGES = ("source", "ttir", "structured", "linalg")
ALLOWED = 2.0


def seconds(stage: str) -> float:
    """Processor time of one grid."""
    n = PROGRAMS * BLOCK - 7
    x, y = np.random.default_rng(0).standard_normal((2, n)).astype(np.float32)
    out = np.zeros(n, np.float32)
    start = time.process_time()
    run_kernel(add_kernel, (PROGRAMS,), x, y, out, n, BLOCK=BLOCK, stage=stage)
    taken = time.process_time() - start
    assert np.array_equal(out, x + y), stage
    return taken


def main() -> int:
    table = Table("stage", "seconds", "allowed")
    figures = {stage: min(seconds(stage) for _ in range(3)) for stage in STAGES}
    for stage, taken in figures.items():
        table.add_row(stage, f"{taken:.2f}", f"{ALLOWED:.0f}")
    Console().print(table)
    return 0 if max(figures.values()) < ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
