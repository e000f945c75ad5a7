"""Every kernel of the corpus means the same behind every pass on the way to TritonGPU IR, for Ampere and for Hopper.

Every run takes the first argument list of most kernels; `pytest --long` takes all of them, and other numbers of warps and
stages.
"""

from __future__ import annotations

import corpus_inputs
import corpus_oracle as oracle
import engines
import pytest
from gpu_pass_runs import run_behind_passes
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32

from tilewright.compiler.options import CompileOptions
from tilewright.dialects import ttg
from tilewright.ir.passes import PassContext
from tilewright.reference import ReferenceError
from tilewright.support.errors import CompilationError
from tilewright.transforms.ttg.pipeline import PipelinePass

FILES_WITH_PRODUCTS = ("basics", "tutorials")
"""Files of which every run takes each kernel for both architectures, which differ in products most."""

FILES_WITH_LOOPS = ("functions", "memory", "patterns", "unusual")
"""Files of which every run takes each kernel for Hopper; of the others it takes every third."""

OTHER_SETTINGS = [("sm80", 2, 5), ("sm80", 1, 2), ("sm90", 8, 4), ("sm90", 4, 1)]
"""Architectures, warps and stages of the long run, besides the defaults."""

DEEP_NESTS = ("nested_loops", "scalar_store_nested_loop", "deep_nest")
"""Kernels whose loops inside loops keep their few rounds."""

AMPERE_LACKS = "fp8e4nv not supported in this architecture"
"""What kernels with a type that compute capability 8.0 lacks end with there."""


def _parameters() -> list[object]:
    seen: set[tuple[str, str]] = set()
    found: list[object] = []
    for case in corpus_inputs.runnable_cases():
        is_first = (case.file, case.kernel) not in seen
        seen.add((case.file, case.kernel))
        for arch in ("sm90", "sm80"):
            is_both = case.file in FILES_WITH_PRODUCTS
            is_hopper = arch == "sm90" and (case.file in FILES_WITH_LOOPS or len(seen) % 3 == 0)
            is_sample = is_first and (is_both or is_hopper)
            marks = () if is_sample else (pytest.mark.long,)
            found.append(pytest.param(case, arch, 4, 3, marks=marks, id=f"{arch}-{case}"))
        for arch, warps, stages in OTHER_SETTINGS:
            name = f"{arch}-{warps}warps-{stages}stages-{case}"
            found.append(pytest.param(case, arch, warps, stages, marks=pytest.mark.long, id=name))
    return found


def inputs_for(case: oracle.Case) -> corpus_inputs.Inputs:
    """Inputs with which the kernel's loops have several rounds, and are worth pipelining: all is aligned."""
    if not corpus_inputs.shape_of(case).has_loop or case.kernel in DEEP_NESTS:
        return corpus_inputs.inputs_of(case)
    return corpus_inputs.inputs_of(oracle.aligned(case), corpus_inputs.LARGE_SIZE)


def check(case: oracle.Case, options: CompileOptions) -> list[str]:
    """The passes that were run. Fails at the first one behind which the result differs."""
    inputs = inputs_for(case)
    steps = run_behind_passes(inputs, options)
    first = next(steps)
    ran = [first.name]
    for step in steps:
        wrong = engines.differences(first.result, step.result, ignored=inputs.ignored)
        assert not wrong, f"pass {step.number}, {step.name}: " + "\n".join(wrong)
        ran.append(step.name)
    return ran


@pytest.mark.parametrize(("case", "arch", "warps", "stages"), _parameters())
def test_passes_keep_the_meaning(case: oracle.Case, arch: str, warps: int, stages: int) -> None:
    try:
        ran = check(case, CompileOptions(arch=arch, num_warps=warps, num_stages=stages))
    except CompilationError as error:
        assert arch == "sm80" and AMPERE_LACKS in str(error)
        return
    assert "convert-triton-to-tritongpu" in ran


@pytest.fixture
def waits_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipeliner is wrong: it lets one group of copies more be under way."""
    original = PipelinePass.run

    def run(self: PipelinePass, module: ModuleOp, context: PassContext) -> None:
        original(self, module, context)
        for op in module.walk():
            if isinstance(op, ttg.AsyncWaitOp):
                op.num = IntegerAttr(op.num.value.data + 1, i32)

    monkeypatch.setattr(PipelinePass, "run", run)


@pytest.mark.costly
@pytest.mark.usefixtures("waits_too_little")
def test_a_wrong_pass_is_found() -> None:
    product = next(case for case in oracle.cases() if case.kernel == "matmul")
    with pytest.raises((AssertionError, ReferenceError), match="copy"):
        check(product, CompileOptions(arch="sm80"))
