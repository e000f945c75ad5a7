"""What compiling costs: cold starts, imports, cached starts, growth with the block sizes, launches from Python.

Each figure of a start comes from fresh processes, of which the fastest counts: other load only ever adds to it. "After
imports" means that the modules which a compilation needs, found by a first run, are imported before the clock starts.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
STARTS = ("vector add", "softmax", "matmul", "attention", "attention causal")
COLD_MS = {"softmax": 180.0, "matmul": 250.0, "attention": 450.0, "attention causal": 450.0}
IMPORT_MS, CACHED_MS, LAUNCH_US = 120.0, 100.0, 5.0
BLOCKS = (32, 64, 128, 256, 512, 1024, 2048, 4096)

CHILD = """
import json, sys, time
start = time.perf_counter()
import tilewright
imported = time.perf_counter() - start
import numpy as np
from tilewright import compat
with compat.standing_in():
    import attention, matmul, softmax, vector_add
for name in json.loads(sys.argv[2]):
    try:
        __import__(name)
    except ImportError:
        pass
a, b, c = (np.zeros((256, 256), np.float32) for _ in range(3))
q, k, v, o = (np.zeros((2, 256, 64), np.float32) for _ in range(4))
lse, strides = np.zeros((2, 256), np.float32), (256 * 64, 64) * 4

def attend(causal):
    attention.attention_forward[(4, 2)](
        q, k, v, o, lse, 0.125, 256, 256, *strides, HEAD=64, BLOCK_M=64, BLOCK_N=64, CAUSAL=causal
    )

runs = {
    "vector add": lambda: vector_add.add(a.ravel(), b.ravel(), c.ravel()),
    "softmax": lambda: softmax.softmax(a, c),
    "matmul": lambda: matmul.matmul(a, b, c),
    "attention": lambda: attend(False),
    "attention causal": lambda: attend(True),
}
wall, cpu = time.perf_counter(), time.process_time()
runs[sys.argv[1]]()
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
modules = [name for name in sys.modules if name.split(".")[0] in ("tilewright", "xdsl", "llvmlite")]
print(json.dumps({"import": imported, "wall": wall, "cpu": cpu, "modules": modules}))
"""


@dataclass
class Figure:
    """One line of the compile table."""

    name: str
    value: float
    unit: str
    most: float | None = None
    """What is promised."""

    @property
    def passed(self) -> bool:
        return self.most is None or self.value <= self.most


def measure_compiling(*, rounds: int = 5) -> list[Figure]:
    """All figures of this module."""
    return [
        *starts(rounds),
        *growth(),
        Figure("launch, cached, one program, four arguments", launch_us(), "us", LAUNCH_US),
    ]


def starts(rounds: int) -> Iterator[Figure]:
    """Imports, cold compilations and cached starts."""
    imports: list[float] = []
    for name in STARTS:
        cold: list[float] = []
        with tempfile.TemporaryDirectory() as cache:
            modules = _child(name, [], cache)["modules"]
            cached = [_child(name, [], cache) for _ in range(rounds)]
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(_child(name, modules, cache)["wall"])
        imports += [run["import"] for run in cached]
        yield Figure(f"{name}: cold, after imports", min(cold) * 1e3, "ms", COLD_MS.get(name))
        yield Figure(f"{name}: cached, in a new process", min(run["wall"] for run in cached) * 1e3, "ms", CACHED_MS)
    yield Figure("import tilewright", min(imports) * 1e3, "ms", IMPORT_MS)


def _child(name: str, modules: Sequence[str], cache: str) -> dict[str, object]:
    path = os.pathsep.join([str(REPOSITORY / "examples"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "TILEWRIGHT_CACHE_DIR": cache, "PYTHONPATH": path}
    command = [sys.executable, "-c", CHILD, name, json.dumps(modules)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def growth() -> Iterator[Figure]:
    """The steepest growth of compile time and of machine code as block sizes double from 32 to 4096."""
    from block_growth import GROWING, compile_at

    for name in GROWING:
        compile_at(name, BLOCKS[0])
        seconds: list[float] = []
        sizes: list[int] = []
        for block in BLOCKS:
            spent, size = zip(*(compile_at(name, block) for _ in range(3)), strict=True)
            seconds.append(min(spent))
            sizes.append(size[0])
        steepest = max(after / before for before, after in pairwise(seconds))
        yield Figure(f"{name}: compile time when a block doubles, at most", steepest, "x", 2.0)
        yield Figure(f"{name}: largest machine code, BLOCK 32 to 4096", max(sizes) / 1024, "KiB")


def launch_us() -> float:
    """Median time of launching a cached kernel on one small program with four arguments."""
    import numpy as np

    from tilewright import compat

    sys.path.insert(0, str(REPOSITORY / "examples"))
    with compat.standing_in():
        import vector_add

    x = np.zeros(16, dtype=np.float32)
    launch = vector_add.add_kernel[(1,)]
    times: list[float] = []
    for _ in range(60):
        start = time.perf_counter()
        for _ in range(100):
            launch(x, x, x, 16, BLOCK=16)
        times.append((time.perf_counter() - start) / 100)
    return statistics.median(times) * 1e6
