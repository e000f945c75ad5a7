"""Random programs of reads and writes: on every path conflicting accesses have a barrier between them, and no barrier
can be left out."""

from __future__ import annotations

import itertools
import random

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from suite.seeds import seeds
from tilewright.analysis.allocation import ModuleAllocation
from tilewright.analysis.membar import no_filter
from tilewright.dialects import make_context, scf, tt, ttg
from tilewright.ir.parsing import parse_module
from tilewright.ir.verify import verify_module
from tilewright.transforms.ttg.membar import insert_barriers

CONTEXT = make_context()
HEADER = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @k(%x: tensor<128xi32, #b>, %n: i32, %c: i1) {
"""
MEMDESC = "!ttg.memdesc<128xi32, #s, #smem, mutable>"
BUFFERS = 3


def random_program(rng: random.Random) -> str:
    """Buffers that live throughout, read and written in loops and conditionals."""
    lines = [f"  %m{i} = ttg.local_alloc : () -> {MEMDESC}" for i in range(BUFFERS)]
    counter = itertools.count()

    def write(depth: int) -> None:
        for _ in range(rng.randrange(1, 5)):
            kind, buffer = rng.randrange(8), f"%m{rng.randrange(BUFFERS)}"
            if kind < 3:
                lines.append(f"  ttg.local_store %x, {buffer} : tensor<128xi32, #b> -> {MEMDESC}")
            elif kind < 6:
                lines.append(f"  %v{next(counter)} = ttg.local_load {buffer} : {MEMDESC} -> tensor<128xi32, #b>")
            elif depth < 3:
                lines.append(
                    f"  scf.for %i{next(counter)} = %n to %n step %n : i32 {{" if kind == 6 else "  scf.if %c {"
                )
                write(depth + 1)
                if kind == 7 and rng.random() < 0.5:
                    lines.append("  } else {")
                    write(depth + 1)
                lines.append("  }")

    write(0)
    lines += [f"  ttg.local_dealloc %m{i} : {MEMDESC}" for i in range(BUFFERS)]
    return HEADER + "\n".join(lines) + "\n  tt.return\n}\n}\n"


def paths(block: Block, rng: random.Random) -> list[Operation]:
    """The ops of one run: loops turn 0 to 2 times, conditionals go either way."""
    trace: list[Operation] = []
    for op in block.ops:
        if isinstance(op, scf.ForOp):
            for _ in range(rng.randrange(3)):
                trace += paths(op.body.block, rng)
        elif isinstance(op, scf.IfOp):
            region = op.regions[rng.randrange(2)]
            if region.blocks:
                trace += paths(region.block, rng)
        else:
            trace.append(op)
    return trace


def races(trace: list[Operation], without: Operation | None = None) -> int:
    """Accesses in conflict with one that no barrier separates from them."""
    reads: set[object] = set()
    writes: set[object] = set()
    found = 0
    for op in trace:
        if isinstance(op, ttg.LocalBarrierOp) and op is not without:
            reads, writes = set(), set()
        elif isinstance(op, ttg.LocalLoadOp):
            found += op.src in writes
            reads.add(op.src)
        elif isinstance(op, ttg.LocalStoreOp):
            found += op.dst in writes or op.dst in reads
            writes.add(op.dst)
    return found


def with_barriers(text: str) -> ModuleOp:
    module = parse_module(text, CONTEXT)
    insert_barriers(ModuleAllocation(module), no_filter)
    verify_module(module)
    return module


def runs_of(module: ModuleOp, rng: random.Random, count: int) -> list[list[Operation]]:
    function = next(op for op in module.ops if isinstance(op, tt.FuncOp))
    return [paths(function.body.block, rng) for _ in range(count)]


@pytest.mark.sampled
@pytest.mark.parametrize("seed", seeds(30, 60))
def test_every_conflict_has_a_barrier_and_every_barrier_a_conflict(seed: int) -> None:
    rng = random.Random(seed)
    text = random_program(rng)
    module = with_barriers(text)
    runs = runs_of(module, rng, 150)
    assert not any(races(run) for run in runs), text
    for barrier in [op for op in module.walk() if isinstance(op, ttg.LocalBarrierOp)]:
        more = itertools.chain(runs, runs_of(module, rng, 1500))
        assert any(races(run, without=barrier) for run in more), f"superfluous barrier in\n{module}"


def test_races_are_seen() -> None:
    text = (
        HEADER
        + f"""  %m = ttg.local_alloc : () -> {MEMDESC}
  ttg.local_store %x, %m : tensor<128xi32, #b> -> {MEMDESC}
  %v = ttg.local_load %m : {MEMDESC} -> tensor<128xi32, #b>
  tt.return\n}}\n}}\n"""
    )
    assert races(runs_of(parse_module(text, CONTEXT), random.Random(0), 1)[0]) == 1
