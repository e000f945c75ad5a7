"""Random walks over the columns of rows: the CPU agrees with the reference, optimised and not. `tilewright fuzz --only
rows` runs many more."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from suite.seeds import seeds
from tilewright.support import knobs
from tilewright.tools.fuzzing.differential import BASELINE, CPU_ALONE, check_kernel
from tilewright.tools.fuzzing.replay import render
from tilewright.tools.fuzzing.row_walks import SCANNED, STATISTICS, RowWalkGenerator


@pytest.mark.parametrize("number", seeds(12, 100))
def test_both_ways_agree_with_the_reference(number: int) -> None:
    seed = Random(number).getrandbits(40)
    kernel = RowWalkGenerator(Random(seed)).generate()
    with knobs.scope(opt="strict"):
        failure = check_kernel(kernel, (CPU_ALONE, BASELINE))
    assert failure is None, render(kernel, f"seed {seed}\n{failure}")


def test_kernels_have_what_they_are_for() -> None:
    features, grids = Counter[str](), Counter[bool]()
    for seed in range(300):
        kernel = RowWalkGenerator(Random(seed)).generate()
        features.update(kernel.features)
        grids[bool(kernel.scalars)] += 1
    walks = {f"walk {kind}" for kind in ("range", "while", "backwards", "blocks")}
    missing = {*STATISTICS, SCANNED, *walks} - {name for name, count in features.items() if count > 10}
    assert not missing
    assert min(grids.values()) > 50
