"""What the front end and the passes on Triton IR cost: the first matmul of a process, and kernels of 50 to 2,000 lines.

    python benchmarks/frontend.py

The first figure is cold: a fresh process, imports done, nothing compiled before. The table should show a cost per line
that does not grow with the length of the kernel.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
LENGTHS = (50, 100, 200, 500, 1000, 2000)

COLD = """
import sys, time
sys.path.insert(0, {examples!r})
from tilewright import compat
compat.install()
import matmul
import tilewright.frontend.compile
from tilewright.ir.passes import PassContext, PassPipeline
from tilewright.runtime.driver import driver_for
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
target = driver_for("cpu").target
passes = dict(target.stages())["ttir"]
names = matmul.matmul_kernel.arg_names
signature = {{name: "*fp32" if name.endswith("_ptr") else "i32" for name in names}}
blocks = {{"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8}}
source = ASTSource(matmul.matmul_kernel, signature, blocks)
start = time.perf_counter()
module = source.module(target, CompileOptions())
middle = time.perf_counter()
PassPipeline(passes).run(module, PassContext(facts=target.facts))
print((middle - start) * 1e3, (time.perf_counter() - middle) * 1e3)
"""


def cold_matmul() -> tuple[float, float]:
    """Milliseconds of the front end and of the tt passes for the first matmul of a process: the median of five."""
    runs: list[tuple[float, float]] = []
    for _ in range(5):
        code = COLD.format(examples=str(ROOT / "examples"))
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        front, passes = map(float, result.stdout.split())
        runs.append((front, passes))
    return sorted(runs, key=sum)[2]


def kernel_text(lines: int) -> str:
    """A kernel with `lines` statements over blocks, each using the values of the ones before."""
    body = [
        "    i = tl.arange(0, 64)",
        "    a = tl.load(x_ptr + i)",
        "    b = tl.load(x_ptr + 64 + i)",
    ]
    forms = ("a = a * b + 1.0", "b = tl.where(a > b, a, b - a)", "a = tl.exp(b) - a", "b = b + tl.sum(a, axis=0)")
    body += [f"    {forms[index % len(forms)]}" for index in range(lines - len(body) - 1)]
    body.append("    tl.store(x_ptr + i, a + b)")
    return "import triton\nimport triton.language as tl\n\n@triton.jit\ndef kernel(x_ptr):\n" + "\n".join(body) + "\n"


def measure_length(lines: int, folder: Path) -> tuple[float, float]:
    """Milliseconds of the front end and of the tt passes for a kernel of that many lines: the best of three."""
    from tilewright import compat
    from tilewright.compiler.options import CompileOptions
    from tilewright.compiler.source import ASTSource
    from tilewright.ir.passes import PassContext, PassPipeline
    from tilewright.runtime.driver import driver_for

    path = folder / f"kernel_{lines}.py"
    path.write_text(kernel_text(lines))
    sys.path.insert(0, str(folder))
    with compat.standing_in():
        module: Any = __import__(path.stem)
    target = driver_for("cpu").target
    source = ASTSource(module.kernel, {"x_ptr": "*fp32"})
    best = (float("inf"), float("inf"))
    for _ in range(3):
        start = time.perf_counter()
        ir = source.module(target, CompileOptions())
        middle = time.perf_counter()
        PassPipeline(dict(target.stages())["ttir"]).run(ir, PassContext(facts=target.facts))
        best = min(best, ((middle - start) * 1e3, (time.perf_counter() - middle) * 1e3))
    return best


def main() -> int:
    """Entry point."""
    console = Console(width=None if sys.stdout.isatty() else 100)
    front, passes = cold_matmul()
    console.print(f"first matmul of a process: front end {front:.1f} ms, passes on tt {passes:.1f} ms")
    table = Table(title="cost against length")
    for column in ("lines", "front end ms", "us per line", "tt passes ms", "us per line"):
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        for lines in LENGTHS:
            front, passes = measure_length(lines, Path(folder))
            table.add_row(
                str(lines), f"{front:.1f}", f"{front / lines * 1e3:.0f}", f"{passes:.1f}", f"{passes / lines * 1e3:.0f}"
            )
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
