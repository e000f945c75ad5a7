"""What compiling costs, kernel by kernel: CPU seconds of the front end, the passes, our LLVM text, and LLVM.

    python benchmarks/compile_time.py [--only PATTERN] [--runs 3] [--passes]

Each row is the shortest of some compilations in one process, imports done and caches cold but for micro-kernels, which
are compiled once in a process. GPUs (sm_90) as far as PTX. `--passes` shows the passes that take the most of a row.
"""

from __future__ import annotations

import argparse
import gc
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tilewright import compat
from tilewright.codegen import llvm_backend
from tilewright.codegen.nvptx import target_machine
from tilewright.compiler.compilation import Compilation
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.ir.passes import Pass, PassPipeline, available_passes
from tilewright.support.collecting import paused_collection
from tilewright.support.recursion import deep_recursion
from tilewright.targets.base import Target, find_target
from tilewright.targets.cuda.target import CudaTarget

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / folder) for folder in ("benchmarks", "examples", "tests/exec", "tests")]
with compat.standing_in():
    import library_sequences

    import attention
    import large_bodies
    import layer_norm
    import matmul
    import softmax
    from large_kernels import masked_tiles, written

PARTS = ("front end", "passes", "text", "LLVM")
Times = defaultdict[str, float]
"""CPU seconds by part of a compilation."""

MATMUL = "*fp16:16 *fp16:16 *fp16:16" + 9 * " i32:16" + " =128 =128 =64 =8"
ATTENTION = 4 * "*fp16:16 " + "*fp32:16 fp32" + 10 * " i32:16" + " =128 =64 =64 =1"
CHUNK_ANSWERS = 9 * "*fp32:16 " + 13 * "i32:16 " + "=True =True =64 =64 =32 =128"
STATE_GAINED = 5 * "*fp32:16 " + 13 * "i32:16 " + "=64 =64 =32"


class PtxTarget(CudaTarget):
    """A GPU for which no machine code is made: ptxas is not ours, and a process of its own."""

    def _assemble(self, ptx: str) -> None:
        return None


def rows(folder: Path) -> Generator[tuple[str, str, ASTSource]]:
    """Each row's name, its target, and the kernel."""
    winograd = written(masked_tiles(36), "masked_36", folder)
    yield "softmax", "cpu", source(softmax.softmax_kernel, "*fp32:16 *fp32:16 i32:16 i32:16 i32 =1024")
    yield "layer norm", "cpu", source(layer_norm.layer_norm_forward, 6 * "*fp32:16 " + "i32:16 i32:16 fp32 =1024")
    yield "matmul", "cpu", source(matmul.matmul_kernel, MATMUL.replace("fp16", "fp32"))
    yield "causal attention", "cpu", source(attention.attention_forward, ATTENTION.replace("fp16", "fp32"))
    yield "thresholds of a sampler, 6", "cpu", source(large_bodies.searches, "*fp32:16 *fp32:16 i32 =6")
    yield "chunk scan of Mamba-2", "cpu", source(library_sequences.chunk_answers, CHUNK_ANSWERS)
    yield "chunk state of Mamba-2", "cpu", source(library_sequences.state_gained, STATE_GAINED)
    yield "exchanges of a bitonic sort, 36", "cpu", source(large_bodies.exchanges, "*fp32:16 *fp32:16 =36")
    yield "36 masked loads", "cpu", source(winograd, "*fp16:16 *fp16:16 i32 i32")
    yield "matmul", "sm90", source(matmul.matmul_kernel, MATMUL)
    yield "causal attention", "sm90", source(attention.attention_forward, ATTENTION)
    yield "chunk scan of Mamba-2", "sm90", source(library_sequences.chunk_answers, CHUNK_ANSWERS)


def source(kernel: Any, arguments: str) -> ASTSource:
    """A kernel for arguments in its order: `:16` marks multiples of 16, `=` constants."""
    tokens = dict(zip(kernel.arg_names, arguments.split(), strict=True))
    signature = {name: "constexpr" if token[0] == "=" else token.partition(":")[0] for name, token in tokens.items()}
    constants = {
        name: {"=True": True}.get(token) or int(token[1:]) for name, token in tokens.items() if token[0] == "="
    }
    attributes = {name: {"tt.divisibility": 16} for name, token in tokens.items() if token.endswith(":16")}
    return ASTSource(kernel, signature, constants, attributes, noalias=True)


@contextmanager
def clocks(times: Times, *, by_pass: bool) -> Generator[None]:
    """Add up the CPU time of each part, less what is another part's."""
    inside: list[float] = []

    def clocked(part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def timed(*arguments: Any, **options: Any) -> Any:
            inside.append(0.0)
            start = time.process_time()
            try:
                return call(*arguments, **options)
            finally:
                spent = time.process_time() - start
                times[part] += spent - inside.pop()
                if inside:
                    inside[-1] += spent

        return timed

    places: list[tuple[Any, str, str]] = [
        (ASTSource, "module", "front end"),
        (PassPipeline, "run", "passes"),
        (llvm_backend, "compile_parts", "LLVM"),
        (target_machine, "emit_ptx", "LLVM"),
        (Compilation, "emit", "text"),
    ]
    passes: Mapping[str, type[Pass]] = available_passes() if by_pass else {}
    places += [(cls, "run", f"--{name}") for name, cls in passes.items()]
    with ExitStack() as stack:
        for owner, name, part in places:
            stack.enter_context(patch.object(owner, name, clocked(part, getattr(owner, name))))
        yield


@deep_recursion()
@paused_collection()
def compile_once(kernel: ASTSource, target: Target) -> None:
    compilation = Compilation(kernel, CompileOptions(), target)
    for _ in compilation:
        pass
    compilation.emit()


def measure(kernel: ASTSource, target: Target, runs: int, *, by_pass: bool) -> Times:
    """The shortest of some compilations: other load only ever adds to it."""
    best: Times | None = None
    for _ in range(runs):
        gc.collect()
        times: Times = defaultdict(float)
        with clocks(times, by_pass=by_pass):
            start = time.process_time()
            compile_once(kernel, target)
        times["total"] = time.process_time() - start
        best = times if best is None or times["total"] < best["total"] else best
    assert best is not None
    return best


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name or target has this pattern")
    parser.add_argument("--runs", type=int, default=3, help="compilations of each row, of which the shortest counts")
    parser.add_argument("--passes", action="store_true", help="the passes that take the most of each row")
    options = parser.parse_args()
    targets: dict[str, Target] = {"cpu": find_target("cpu"), "sm90": PtxTarget(90)}
    print(f"{'CPU seconds':40}" + "".join(f"{part:>11}" for part in (*PARTS, "total")))
    with tempfile.TemporaryDirectory() as folder:
        for name, where, kernel in rows(Path(folder)):
            if not re.search(options.only, f"{name} {where}"):
                continue
            compile_once(kernel, targets[where])  # imports, micro-kernels
            times = measure(kernel, targets[where], options.runs, by_pass=options.passes)
            passes = {part: spent for part, spent in times.items() if part.startswith("--")}
            times["passes"] += sum(passes.values())
            columns = "".join(f"{times[part]:11.3f}" for part in (*PARTS, "total"))
            print(f"{f'{name}, {where}':40}{columns}", flush=True)
            for part in sorted(passes, key=lambda part: -passes[part])[:8]:
                print(f"    {part:36}{passes[part]:22.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
