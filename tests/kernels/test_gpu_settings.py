"""Every kernel of the corpus compiles to TritonGPU IR with its memory laid out, for every architecture and whatever the
numbers of warps and stages.

Every run takes a third of the corpus, each kernel with another of the 64 settings; `pytest --long` takes all kernels
with eight settings each.
"""

from __future__ import annotations

from itertools import product

import corpus_oracle as oracle
import pytest

from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.ir.passes import PassContext, PassPipeline
from tilewright.support.errors import CompilationError
from tilewright.targets.base import find_target
from tilewright.targets.capabilities import configured
from tilewright.targets.cuda.pipeline import lower_memory

Setting = tuple[str, int, int]

SETTINGS: list[Setting] = list(product(("sm80", "sm86", "sm89", "sm90"), (1, 2, 4, 8), (1, 2, 3, 4)))
"""Architectures, warps, stages."""

EVERY = 3
"""Which part of the corpus is the sample; it shares no factor with the number of settings."""

SETTINGS_OF_LONG_RUN = 8

AMPERE_LACKS = "fp8e4nv not supported in this architecture"


def _settings_of(number: int) -> list[Setting]:
    """Some settings for a kernel, spread over all of them."""
    step = len(SETTINGS) // SETTINGS_OF_LONG_RUN
    return [SETTINGS[(number + step * turn + turn) % len(SETTINGS)] for turn in range(SETTINGS_OF_LONG_RUN)]


def _parameters() -> list[object]:
    found: list[object] = []
    for number, case in enumerate(oracle.cases()):
        for turn, setting in enumerate(_settings_of(number)):
            is_sample = turn == 0 and number % EVERY == 0
            name = "-".join(map(str, (*setting, case)))
            found.append(pytest.param(case, setting, marks=() if is_sample else (pytest.mark.long,), id=name))
    return found


def compile_with(case: oracle.Case, setting: Setting) -> None:
    """Compile a kernel with aligned arguments, which lets loops be pipelined, as far as the memory it takes."""
    arch, num_warps, num_stages = setting
    options = CompileOptions(arch=arch, num_warps=num_warps, num_stages=num_stages)
    target = configured(find_target("cuda"), options)
    signature, constants, attributes = oracle.arguments_of(oracle.aligned(case), "tilewright")
    source = ASTSource(oracle.kernel_of(case, "tilewright"), signature, constants, attributes)
    module = source.module(target, options)
    for _, passes in target.stages():
        PassPipeline(passes).run(module, PassContext(facts=target.facts))
        module.verify()
    lower_memory(module, target.facts)
    module.verify()


@pytest.mark.parametrize(("case", "setting"), _parameters())
def test_compiles(case: oracle.Case, setting: Setting) -> None:
    try:
        compile_with(case, setting)
    except CompilationError as error:
        assert setting[0] in ("sm80", "sm86") and AMPERE_LACKS in str(error)
