"""Passes alone and in random sequences, on modules of every stage: they transform or refuse."""

from __future__ import annotations

from random import Random

import pytest

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import parse_pipeline
from tilewright.ir.stage_guard import StageGuard
from tilewright.support.errors import StageContractError
from tilewright.targets.cpu.facts import host_facts
from tilewright.tools.fuzzing.generator import KernelGenerator
from tilewright.tools.fuzzing.pass_runs import every_pass, find_failure, random_sequences
from tilewright.tools.fuzzing.samples import stage_modules

SEQUENCES = 10
"""Random sequences on each module."""


@pytest.mark.costly
@pytest.mark.parametrize("seed", [0, 1])
def test_passes_transform_or_refuse(seed: int) -> None:
    facts, random = host_facts(), Random(seed)
    failures: list[str] = []
    for module in stage_modules(KernelGenerator(Random(seed), 6).generate()):
        for passes in [*([pass_] for pass_ in every_pass()), *random_sequences(random, SEQUENCES)]:
            failure = find_failure(module, passes, facts)
            failures += [failure] if failure is not None else []
    assert not failures, "\n".join(failures)


PLAIN = """
tt.func public @f(%x: tensor<32xf32>) -> tensor<32xf32> {
  %y = tt.reshape %x : tensor<32xf32> -> tensor<32xf32>
  tt.return %y : tensor<32xf32>
}
"""
LAID_OUT = PLAIN.replace("<32xf32>", "<32xf32, #b>")
LAYOUT = "#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>\n"
REFUSED = [
    ("tritongpu-coalesce", PLAIN, "has a tensor without a layout: the pass takes modules of stage 'ttg'"),
    ("tritongpu-prefetch", PLAIN, "this is one of stage 'tt': run convert-triton-to-tritongpu first"),
    ("triton-to-structured", LAYOUT + LAID_OUT, "stage 'tt' or 'structured' or 'linalg', this is one of stage 'ttg'"),
    ("triton-arith-to-linalg", LAYOUT + LAID_OUT, "has a tensor with a layout"),
    ("linalg-to-loops", PLAIN, "'tt.func': is of another stage: the pass takes modules of stage 'linalg'"),
]


@pytest.mark.parametrize(("name", "text", "reason"), REFUSED, ids=[name for name, _, _ in REFUSED])
def test_a_module_of_another_stage_is_refused_by_name(name: str, text: str, reason: str) -> None:
    module = parse_module(text, make_context(), "f.mlir")
    with pytest.raises(StageContractError) as caught:
        parse_pipeline(name).run(module, instruments=[StageGuard()])
    assert str(caught.value).startswith("f.mlir:") and f"pass {name}" in str(caught.value)
    assert reason in str(caught.value)
