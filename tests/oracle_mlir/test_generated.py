"""Random kernels: upstream's parser, verifier and the documented list of passes take the linalg text of every one.

benchmarks/results/fuzzing.md says how many were run this way, and with which seeds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.ir.printing import print_op
from tilewright.targets.base import find_target
from tilewright.tools.fuzzing.address_kernels import AddressKernelGenerator
from tilewright.tools.fuzzing.differential import launch_of_file
from tilewright.tools.fuzzing.generator import KernelGenerator
from tilewright.tools.fuzzing.replay import render
from tilewright.tools.validation.kept_source import KeptSource

KERNELS = 6
FIRST_SEED = 230_000_000


def linalg_text(generator: type[KernelGenerator | AddressKernelGenerator], seed: int) -> str:
    """The `ttir` of a kernel behind `triton-to-linalg`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(render(generator(Random(seed)).generate()))
        launch = launch_of_file(path)
        module = KeptSource(launch.source, "ttir").module(find_target("cpu"), launch.options)
    parse_pipeline("inline{insists-on-pointers=true},lift-cf-to-scf,triton-to-linalg").run(module, PassContext())
    return print_op(module)


@pytest.mark.filterwarnings("ignore:tl.make_block_ptr")
@pytest.mark.parametrize("generator", [KernelGenerator, AddressKernelGenerator])
def test_upstream_takes_random_kernels(generator: Any, refused: Callable[[list[str]], str]) -> None:
    texts = [linalg_text(generator, FIRST_SEED + number) for number in range(KERNELS)]
    assert not refused(texts)
