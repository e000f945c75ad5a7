"""Every kernel of the corpus and the examples through the middle layer. Upstream MLIR takes its last stage, and what
the CPU target makes of it; the examples compute the same at every stage."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable

import numpy as np
import pytest
from corpus_stages import EXAMPLES, FILES, Stages, stages_of
from stage_runs import NOT_RUN, compare_stages
from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.passes import PassContext, PassPipeline
from tilewright.ir.printing import print_op
from tilewright.ir.verify import verify_module
from tilewright.targets.base import find_target

MLIR_OPT = shutil.which("mlir-opt-22") or "/usr/lib/llvm-22/bin/mlir-opt"
EXPECTED_REMARKS = (
    "a select whose condition varies from lane to lane",
    "without formula",
    "a remainder plus something else",
)


@pytest.fixture(params=FILES, scope="module")
def kernels(request: pytest.FixtureRequest) -> list[Stages]:
    """The kernels of one file of the corpus, or the examples."""
    return stages_of(request.param)


def short_name(name: str) -> str:
    return name.split(":")[1]


def test_nothing_of_triton_is_left(kernels: list[Stages]) -> None:
    for stages in kernels:
        verify_module(stages.structured)
        verify_module(stages.linalg)
        assert not stages.left, (stages.name, stages.left, stages.remarks)


def test_remarks_only_where_an_access_has_no_structure(kernels: list[Stages]) -> None:
    for stages in kernels:
        assert all(any(text in remark for text in EXPECTED_REMARKS) for remark in stages.remarks), stages.remarks


@pytest.mark.needs("mlir-opt")
def test_upstream_accepts_the_linalg_stage(kernels: list[Stages]) -> None:
    modules = [stages for stages in kernels if not stages.left]
    check_with_upstream((stages.name, stages.linalg) for stages in modules)


@pytest.mark.needs("mlir-opt")
def test_upstream_accepts_the_loops_stage(kernels: list[Stages]) -> None:
    check_with_upstream((stages.name, at_loops_stage(stages)) for stages in kernels if not stages.left)


def at_loops_stage(stages: Stages) -> ModuleOp:
    """A module as it is when the CPU target lowers it to LLVM."""
    target = find_target("cpu")
    module, (name, passes) = stages.linalg.clone(), target.stages()[-1]
    assert name == "loops"
    PassPipeline(passes).run(module, PassContext(facts=target.facts))
    return module


def check_with_upstream(modules: Iterable[tuple[str, ModuleOp]]) -> None:
    """One process for a file: about 1.5 s for 330 modules."""
    text = "\n// -----\n".join(f"// {name}\n{print_op(module)}" for name, module in modules)
    command = [MLIR_OPT, "--split-input-file", "--verify-each", "--canonicalize", "-o", "/dev/null"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


@pytest.mark.costly
def test_stages_of_the_examples_compute_the_same() -> None:
    """Random inputs, odd sizes: what does not leave memory before the middle layer does not leave it after, and leaves
    the same in the arrays. Kernels of the corpus run at these stages in tests/exec/test_engines.py."""
    rng = np.random.default_rng(11)
    stages = [each for each in stages_of(EXAMPLES) if short_name(each.name) not in NOT_RUN]
    missing = [each.name for each in stages if not compare_stages(each, rng)]
    assert stages and not missing, f"no inputs found on which these run: {missing}"
