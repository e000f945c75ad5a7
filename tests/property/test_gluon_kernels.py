"""Random kernels in Gluon: the CPU, optimised and not, and a simulated GPU agree with the reference. `tilewright fuzz
--only gluon` runs many more."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from suite.seeds import seeds
from tilewright.support import knobs
from tilewright.tools.fuzzing.differential import BASELINE, CPU_ALONE, GPUS_ALONE, check_kernel
from tilewright.tools.fuzzing.gluon_kernels import GluonKernelGenerator
from tilewright.tools.fuzzing.replay import render


@pytest.mark.parametrize("number", seeds(12, 60))
def test_all_ways_agree_with_the_reference(number: int) -> None:
    seed = Random(number).getrandbits(40)
    kernel = GluonKernelGenerator(Random(seed)).generate()
    with knobs.scope(opt="strict"):
        failure = check_kernel(kernel, (CPU_ALONE, BASELINE, GPUS_ALONE[number % 2]))
    assert failure is None, render(kernel, f"seed {seed}\n{failure}")


def test_kernels_have_what_they_are_for() -> None:
    calls, layouts = Counter[str](), Counter[str]()
    words = ("convert_layout", "gather(", "scatter(", "histogram", "split", "join", "permute", "reshape", "mma_v2")
    words += ("associative_scan", ".slice(", "async_load", "expand_dims", "for ", "if ", "xor_sum")
    kinds = ("Blocked", "Slice", "DistributedLinear", "NVMMADistributed", "DotOperand")
    kinds += ("SwizzledShared", "PaddedShared", "NVMMAShared", "SharedLinear")
    for seed in range(300):
        source = GluonKernelGenerator(Random(seed)).generate().source
        calls.update(word for word in words if word in source)
        layouts.update(kind for kind in kinds if f"gl.{kind}Layout" in source)
    missing = [name for name in words if calls[name] < 10] + [name for name in kinds if layouts[name] < 20]
    assert not missing
