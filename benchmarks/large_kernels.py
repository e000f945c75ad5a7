"""Does compiling cost time linear in the size of a kernel? Kernels of all kinds at a size and at twice that.

    python benchmarks/large_kernels.py [--targets cpu cuda] [--only PATTERN] [--size N] [--steps 2] [--least 0.2]

A table of CPU seconds and of how they grow, and below each kind the parts of a compilation that grow the fastest: for
twice the size, anything above 2.4 is worth a look. GPUs (sm_90) as far as PTX.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

from xdsl.dialects.builtin import ModuleOp

from tilewright import compat
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.compiler.stages import lower
from tilewright.ir.passes import Instrument, Pass
from tilewright.support.collecting import paused_collection
from tilewright.support.recursion import deep_recursion
from tilewright.targets.base import Target, find_target
from tilewright.targets.cuda.target import CudaTarget

sys.path.insert(0, str(Path(__file__).parent))
with compat.standing_in():
    import large_bodies as bodies

WORTH_A_LOOK = 2.4
"""Growth of time for twice the size."""

Times = defaultdict[str, float]
"""CPU seconds by part of a compilation."""


@dataclass(frozen=True)
class Kind:
    """Kernels that differ in their size: the body of `N`, or what makes the text of one; the types of its arguments
    but `N`; a size."""

    kernel: Any
    types: str | Callable[[int], str]
    size: int

    def source(self, size: int, folder: Path) -> ASTSource:
        """The kernel of that size."""
        if isinstance(self.types, str):
            names = [name for name in self.kernel.arg_names if name != "N"]
            signature = dict(zip(names, self.types.split(), strict=True))
            return ASTSource(self.kernel, {**signature, "N": "constexpr"}, {"N": size})
        kernel = written(self.kernel(size), f"{self.kernel.__name__}_{size}", folder)
        return ASTSource(kernel, dict(zip(kernel.arg_names, self.types(size).split(), strict=True)), {})


def written(text: str, name: str, folder: Path) -> Any:
    """The kernel `k` of a text, which needs a file."""
    (folder / f"{name}.py").write_text(f"import triton\nimport triton.language as tl\n\n\n@triton.jit\n{text}")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    with compat.standing_in():
        return __import__(name).k


def branches(size: int) -> str:
    """One of many ways, by a number."""
    ways = "".join(f"    elif n == {i}:\n        x = x * {i}.5 + {i}\n" for i in range(1, size))
    return f"def k(p, q, n):\n    x = tl.load(p)\n    if n == 0:\n        x = x + 1\n{ways}    tl.store(q, x)\n"


def tile_branches(size: int) -> str:
    """One of many ways, each with a tile."""
    ways = "".join(f"    elif n == {i}:\n        x = x * {i}.5 + tl.load(p + {i} + r)\n" for i in range(1, size))
    start = "def k(p, q, n):\n    r = tl.arange(0, 64)\n    x = tl.load(p + r)\n"
    return f"{start}    if n == 0:\n        x = x + 1\n{ways}    tl.store(q + r, x)\n"


def arguments(size: int) -> str:
    """Many arguments, each a pointer."""
    names = ", ".join(f"a{i}" for i in range(size))
    adds = "".join(f"    x += tl.load(a{i} + r)\n" for i in range(1, size))
    return f"def k({names}):\n    r = tl.arange(0, 64)\n    x = tl.load(a0 + r)\n{adds}    tl.store(a0 + r, x)\n"


def depths(size: int) -> str:
    """Conditionals in one another."""
    lines = [f"{'  ' * (i + 2)}x += {i}\n{'  ' * (i + 2)}if n > {i}:\n" for i in range(size)]
    end = "  " * (size + 2)
    return f"def k(p, q, n):\n    x = tl.load(p)\n{''.join(lines)}{end}x = x * 2\n    tl.store(q, x)\n"


def masked_tiles(size: int) -> str:
    """Loads masked by a condition on lanes and one on scalars, each read by three stores, as in Winograd transforms."""
    loads = "".join(
        f"    d{i} = tl.load(p + i * {i} + r, mask=(r < n) & (i + {i} < m) & (i >= {-i}), other=0.0)\n"
        for i in range(size)
    )
    stores = "".join(
        f"    tl.store(q + m * {i} + r, 4.0 * d{i} - 5.0 * d{(i + 2) % size} + d{(i + 3) % size}, mask=r < n)\n"
        for i in range(size)
    )
    return f"def k(p, q, m, n):\n    i = tl.program_id(0)\n    r = tl.arange(0, 64)\n{loads}{stores}"


def nested_calls(size: int) -> str:
    """Functions that call one another in a chain."""
    steps = "".join(f"def f{i}(x):\n    return f{i - 1}(x) * 2 + {i}\n\n\n@triton.jit\n" for i in range(1, size))
    end = f"def k(p, q):\n    r = tl.arange(0, 64)\n    tl.store(q + r, f{size - 1}(tl.load(p + r)))\n"
    return f"def f0(x):\n    return x\n\n\n@triton.jit\n{steps}{end}"


KINDS = {
    "copies of elements": Kind(bodies.copies, "*fp32 *fp32", 200),
    "copies in place": Kind(bodies.copies_in_place, "*fp32", 200),
    "masked copies": Kind(bodies.masked_copies, "*fp32 *fp32 i32", 100),
    "copies of tiles": Kind(bodies.tile_copies, "*fp32 *fp32 i32", 50),
    "tiles in place": Kind(bodies.tiles_in_place, "*fp32", 50),
    "loads, then a sum": Kind(bodies.loads_then_sum, "*fp32 *fp32", 100),
    "gathers from memory": Kind(bodies.gathers_from_memory, "*fp32 *i32 *fp32", 50),
    "elementwise chain": Kind(bodies.elementwise_chain, "*fp32 *fp32", 200),
    "integer chain": Kind(bodies.integer_chain, "*i32 *i32", 400),
    "scalar chain": Kind(bodies.scalar_chain, "*fp32 *fp32", 400),
    "choices": Kind(bodies.choices, "*fp32 *fp32", 100),
    "chain stored at each step": Kind(bodies.shared_by_many, "*fp32 *fp32", 50),
    "products": Kind(bodies.products, "*fp16 *fp16 *fp16", 50),
    "independent products": Kind(bodies.independent_products, "*fp16 *fp16 *fp32", 20),
    "sums": Kind(bodies.sums, "*fp32 *fp32", 100),
    "dependent sums": Kind(bodies.dependent_sums, "*fp32 *fp32", 50),
    "maxima of rows": Kind(bodies.row_sums, "*fp32 *fp32", 50),
    "scans": Kind(bodies.scans, "*fp32 *fp32", 50),
    "atomic additions": Kind(bodies.additions, "*fp32 *fp32", 50),
    "scalar atomic additions": Kind(bodies.scalar_additions, "*fp32", 100),
    "conditional tiles": Kind(bodies.tensor_conditionals, "*fp32 *fp32 i32", 50),
    "conditional scalars": Kind(bodies.scalar_conditionals, "*fp32 *fp32 i32", 100),
    "conditional stores": Kind(bodies.stores_in_conditionals, "*fp32 *fp32 i32", 100),
    "calls": Kind(bodies.calls, "*fp32 *fp32", 200),
    "inlined calls": Kind(bodies.inlined_calls, "*fp32 *fp32", 100),
    "nested calls": Kind(nested_calls, lambda size: "*fp32 *fp32", 100),
    "loops over tiles": Kind(bodies.loops, "*fp32 *fp32 i32", 50),
    "scalar loops": Kind(bodies.scalar_loops, "*fp32 *fp32 i32", 100),
    "joins and splits": Kind(bodies.halves, "*fp32 *fp32", 25),
    "transposes": Kind(bodies.transposes, "*fp32 *fp32", 50),
    "permutations": Kind(bodies.permutations, "*fp32 *fp32", 50),
    "gathers": Kind(bodies.gathers, "*fp32 *i32 *fp32", 50),
    "exchanges": Kind(bodies.exchanges, "*fp32 *fp32", 10),
    "searches": Kind(bodies.searches, "*fp32 *fp32 i32", 2),
    "chunk scans": Kind(bodies.chunk_scans, "*fp32 *fp32 *fp32 i32", 2),
    "random numbers": Kind(bodies.sampler, "*fp32 i32", 4),
    "hashes of one state": Kind(bodies.hashes, "*i32 i32", 25),
    "branches": Kind(branches, lambda size: "*fp32 *fp32 i32", 100),
    "branches with tiles": Kind(tile_branches, lambda size: "*fp32 *fp32 i32", 50),
    "conditionals in one another": Kind(depths, lambda size: "*fp32 *fp32 i32", 40),
    "masked tiles": Kind(masked_tiles, lambda size: "*fp16 *fp16 i32 i32", 10),
    "arguments": Kind(arguments, lambda size: " ".join(["*fp32"] * size), 100),
}


class PtxTarget(CudaTarget):
    """Ends with PTX."""

    def _assemble(self, ptx: str) -> None:
        return None


class Parts(Instrument):
    """CPU seconds of each part of a compilation."""

    def __init__(self) -> None:
        self.seconds: Times = defaultdict(float)
        self._start = 0.0

    def before_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        self._start = time.process_time()

    def after_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        self.seconds[pass_.name] += time.process_time() - self._start

    @contextmanager
    def part(self, name: str) -> Generator[None]:
        """Count the time of a `with` under a name."""
        start = time.process_time()
        try:
            yield
        finally:
            self.seconds[name] += time.process_time() - start

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its time counted under a name."""

        @wraps(function)
        def run(*args: Any, **keywords: Any) -> Any:
            with self.part(name):
                return function(*args, **keywords)

        return run

    @contextmanager
    def inside_of_emission(self) -> Generator[None]:
        """Count what emission consists of."""
        from tilewright.codegen import llvm_backend
        from tilewright.codegen.nvptx import target_machine
        from tilewright.lowering import loops_to_llvm, ttg_to_llvm
        from tilewright.targets.cuda import pipeline

        functions = (
            (loops_to_llvm, "lower_to_llvm", "loops-to-llvm"),
            (llvm_backend, "compile_text", "LLVM"),
            (pipeline, "lower_memory", "memory"),
            (ttg_to_llvm, "lower_module", "ttg-to-llvm"),
            (target_machine, "emit_ptx", "LLVM"),
        )
        with ExitStack() as patches:
            for module, function, name in functions:
                timed = self.timed(name, getattr(module, function))
                patches.enter_context(patch.object(module, function, timed))
            yield


@deep_recursion()
@paused_collection()
def measure(source: ASTSource, target: Target) -> Times:
    """CPU seconds of the parts of a compilation."""
    parts = Parts()
    stages = lower(source, CompileOptions(arch="sm90"), target, lambda stage: [parts])
    with parts.part("total"):
        with parts.part("front end"):
            _, module = next(stages)
        *_, (_, module) = stages
        configured = target.configured(CompileOptions(arch="sm90")) if isinstance(target, CudaTarget) else target
        with parts.inside_of_emission():
            configured.emit(module)
    return parts.seconds


def show(name: str, target: str, sizes: list[int], found: list[Times], least: float) -> None:
    """A line for a kind, and lines for the parts that grow too fast."""
    totals = " ".join(f"{parts['total']:8.2f}" for parts in found)
    factor = found[-1]["total"] / found[-2]["total"]
    mark = " <--" if factor > WORTH_A_LOOK else ""
    print(f"{target:4} {name:28} {sizes[0]:5} {totals}  x{factor:4.1f}{mark}", flush=True)
    for part, seconds in sorted(found[-1].items(), key=lambda entry: -entry[1]):
        grown = seconds / (found[-2][part] or seconds)
        if part != "total" and seconds > least and grown > WORTH_A_LOOK:
            print(f"       {part:36} " + " ".join(f"{parts[part]:8.2f}" for parts in found) + f"  x{grown:4.1f}")


def main() -> int:
    """Entry point; 1 where a kernel did not compile."""
    failed = False
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", nargs="+", default=["cpu", "cuda"])
    parser.add_argument("--only", default="", help="kinds whose name has this pattern")
    parser.add_argument("--size", type=int, help="the smallest size; each kind has its own")
    parser.add_argument("--steps", type=int, default=2, help="how many sizes, each twice the one before")
    parser.add_argument("--least", type=float, default=0.2, help="seconds from which a part is told of")
    options = parser.parse_args()
    targets: dict[str, Any] = {"cpu": find_target("cpu"), "cuda": PtxTarget()}
    with tempfile.TemporaryDirectory() as folder:
        for target in options.targets:
            measure(KINDS["copies of tiles"].source(1, Path(folder)), targets[target])  # imports
            for name, kind in KINDS.items():
                if not re.search(options.only, name):
                    continue
                sizes = [(options.size or kind.size) << step for step in range(options.steps)]
                try:
                    found = [measure(kind.source(size, Path(folder)), targets[target]) for size in sizes]
                except Exception as error:
                    print(f"{target:4} {name:28} {sizes[0]:5} {type(error).__name__}: {str(error)[:200]}", flush=True)
                    failed = True
                    continue
                show(name, target, sizes, found, options.least)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
