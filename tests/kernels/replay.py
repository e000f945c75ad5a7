"""Hashes of the code of every kernel of the corpus, and of the benchmark's rows: what a refactor must not change.

    python tests/kernels/replay.py --save before.txt                       in the tree as it was
    python tests/kernels/replay.py --against before.txt                    after the change: lists what differs

Kernels of the corpus are compiled as they are and with aligned, disjoint arguments, to LLVM IR for each of
`PROCESSORS` and `GPUS`; this text is hashed. `--only TEXT` keeps the kernels whose name has
it; `--show KERNEL` prints the text. The exit status is 1 where something differs.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(REPOSITORY / folder)
    for folder in ("tests/kernels", "tests/kernels/corpus", "tests/exec", "tests", "benchmarks/cpu", "examples")
]

import corpus_oracle as oracle  # noqa: E402

from tilewright.codegen import llvm_backend  # noqa: E402
from tilewright.codegen.nvptx.emitter import NvptxEmitter  # noqa: E402
from tilewright.compiler.options import CompileOptions  # noqa: E402
from tilewright.compiler.source import ASTSource  # noqa: E402
from tilewright.compiler.stages import lower  # noqa: E402
from tilewright.lowering.loops_to_llvm import lower_to_llvm  # noqa: E402
from tilewright.lowering.ttg_to_llvm import lower_module  # noqa: E402
from tilewright.support.errors import TilewrightError  # noqa: E402
from tilewright.support.recursion import deep_recursion  # noqa: E402
from tilewright.targets.cpu.facts import named_facts  # noqa: E402
from tilewright.targets.cpu.target import CpuTarget  # noqa: E402
from tilewright.targets.cuda.pipeline import lower_memory  # noqa: E402
from tilewright.targets.cuda.target import CudaTarget  # noqa: E402

AMX = frozenset({"amx-tile", "amx-bf16", "amx-int8"})
PROCESSORS = {"x86-64-v4+amx": ("x86-64-v4", AMX), "x86-64-v3": ("x86-64-v3", frozenset[str]())}
"""With matrix units and 32 registers of 512 bits, and with 16 of 256."""
GPUS = {"sm_80": 80, "sm_90": 90}


def targets() -> dict[str, CpuTarget | CudaTarget]:
    """The targets by the names that the lines bear."""
    made: dict[str, CpuTarget | CudaTarget] = {name: CudaTarget(capability) for name, capability in GPUS.items()}
    for name, (level, more) in PROCESSORS.items():
        facts = named_facts(level)
        made[name] = CpuTarget(replace(facts, features=facts.features | more))
    return made


def sources(only: str) -> Iterator[tuple[str, ASTSource]]:
    """Every kernel with its name: the corpus, then the rows of the benchmark."""
    for case in oracle.cases():
        for how, variant in (("", case), (" aligned", oracle.aligned(case))):
            name = f"{case}{how}"
            if only in name:
                signature, constants, attributes = oracle.arguments_of(variant, "tilewright")
                source = ASTSource(oracle.kernel_of(variant, "tilewright"), signature, constants, attributes)
                yield name, replace(source, noalias=True) if how else source
    yield from _benchmark_sources(only)


def _benchmark_sources(only: str) -> Iterator[tuple[str, ASTSource]]:
    try:
        from others import OTHERS
        from promised import PROMISED
    except ImportError as error:
        print(f"the rows of the benchmark are left out: {error}", file=sys.stderr)
        return
    for title, make in (PROMISED | OTHERS).items():
        if only in title:
            for number, launch in enumerate(make().ours):
                compiled = launch.kernel.warmup(*launch.arguments, grid=launch.grid, **launch.constants)
                yield f"{title}:{number}", compiled.src


@deep_recursion()
def code_of(source: ASTSource, target: CpuTarget | CudaTarget) -> str:
    """The LLVM IR of a kernel, or the class and text of the error in its place; without the folder of its file."""
    try:
        module = None
        for _, reached in lower(source, CompileOptions(), target):
            module = reached
        assert module is not None
        if isinstance(target, CpuTarget):
            return str(lower_to_llvm(module, target.facts, data_layout=llvm_backend.data_layout(target.facts)).text)
        lower_memory(module, target.facts)
        text = str(lower_module(module, target.facts, NvptxEmitter(target.facts), line_info=False).text)
        return re.sub(rf'\[\d+ x i8\] c"{re.escape(str(REPOSITORY))}', "", text)
    except TilewrightError as error:
        return f"{type(error).__name__}: {str(error).replace(str(REPOSITORY), '')}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Hash the code of every kernel of the corpus and of the benchmark's rows."
    )
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", default="", help="print the code of the kernels whose name has this")
    options = parser.parse_args()
    by_name, lines = targets(), dict[str, str]()
    for name, source in sources(options.show or options.only):
        for target_name, target in by_name.items():
            text = code_of(source, target)
            if options.show:
                print(f"// {target_name} {name}\n{text}")
            lines[f"{target_name} {name}"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    if options.save is not None:
        options.save.write_text("".join(f"{digest} {name}\n" for name, digest in lines.items()))
    known: Path | None = options.against
    if known is None:
        print(f"{len(lines)} texts")
        return 0
    before = {line[17:]: line[:16] for line in known.read_text().splitlines()}
    changed = [name for name, digest in lines.items() if before.get(name, digest) != digest]
    print(
        "\n".join(
            [*changed, f"{len(changed)} of {len(lines)} texts differ, {len(lines.keys() - before.keys())} are new"]
        )
    )
    return int(bool(changed))


if __name__ == "__main__":
    raise SystemExit(main())
