"""Back ends of third parties: found by entry point, with barrier filters of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from suite.children import Children
from tilewright.analysis.membar import find_filter, no_filter, nvidia_filter, register_filter
from tilewright.support.errors import TargetError
from tilewright.targets.base import find_target

HERE = Path(__file__).resolve().parent

SCRIPT = """
import numpy as np
import tilewright as triton, tilewright.language as tl
from tilewright.support import knobs

@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)

x, y, out = np.arange(40, dtype=np.float32), np.ones(40, np.float32), np.zeros(40, np.float32)
for _ in range(2):
    kernel = add[(3,)](x, y, out, 40, BLOCK=16, num_warps=2)
    assert (out == x + 1).all(), out
print(kernel.metadata.target.backend, sorted(kernel.asm), '"ttg.num-warps" = 2' in kernel.asm["ttgir"])
try:
    add[(3,)](x, y, out, 40, BLOCK=16, num_warps=4)
except ValueError as error:
    print(error)
with knobs.scope(target="cpu"):
    print(add[(3,)](x, y, out, 40, BLOCK=16, num_warps=4).metadata.target.backend)
"""

SHARED = """
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "TARGET",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: tensor<128xf32, #blocked>) -> tensor<128xf32, #blocked> {
    %m = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    ttg.local_store %x, %m : tensor<128xf32, #blocked> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    %y = ttg.local_load %m : !ttg.memdesc<128xf32, #shared, #smem, mutable> -> tensor<128xf32, #blocked>
    ttg.local_store %y, %m : tensor<128xf32, #blocked> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    tt.return %y : tensor<128xf32, #blocked>
  }
}
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with the package and its entry points, as pip leaves them."""
    (tmp_path / "toy_gpu.py").write_text((HERE / "toy_gpu.py").read_text())
    information = tmp_path / "toy_gpu-0.1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-gpu\nVersion: 0.1\n")
    points = "[tilewright.targets]\ntoy = toy_gpu:make_target\nbroken = toy_gpu:make_nothing\nabsent = no_such:make\n"
    (information / "entry_points.txt").write_text(points)
    return tmp_path


def run(folder: Path, arguments: list[str], **environment: str) -> str:
    """What a program prints with the package installed."""
    here = {"PYTHONPATH": str(folder), "TILEWRIGHT_CACHE_DIR": str(folder / "cache"), **environment}
    done = subprocess.run(
        [sys.executable, *arguments], env=os.environ | here, capture_output=True, text=True, check=False, timeout=120
    )
    return done.stdout + done.stderr


def run_with(children: Children, folder: Path, *command: str, **environment: str) -> str:
    """What a program prints that need not import the compiler itself."""
    here = {"PYTHONPATH": str(folder), "TILEWRIGHT_CACHE_DIR": str(folder / "cache"), **environment}
    done = children.run(command, here, folder)
    return done.stdout + done.stderr


@pytest.mark.costly
def test_kernels_run_on_a_third_partys_target(installed: Path, compiler_children: Children) -> None:
    (installed / "script.py").write_text(SCRIPT)
    output = run_with(compiler_children, installed, "script", TILEWRIGHT_TARGET="toy")
    assert output.splitlines() == [
        "toy ['asm', 'llir', 'obj', 'source', 'ttgir', 'ttir'] True",
        "a toy has two warps",
        "cpu",
    ]


@pytest.mark.costly
def test_barriers_are_the_back_ends_choice(installed: Path, compiler_children: Children) -> None:
    """The toy orders a load after a store by itself; the store after the load still needs its barrier."""
    counts: list[int] = []
    for kind in ("cuda:90", "toy:1", "other:1"):
        (installed / "shared.mlir").write_text(SHARED.replace("TARGET", kind))
        command = ["tilewright.tools.opt", str(installed / "shared.mlir"), "--membar"]
        output = run_with(compiler_children, installed, *command, *(["--target=toy"] if kind == "toy:1" else []))
        assert "local_store" in output, output
        counts.append(output.count("ttg.barrier local"))
    assert counts == [2, 1, 2]


@pytest.mark.costly
def test_wrong_packages_are_named(installed: Path) -> None:
    code = "from tilewright.targets.base import find_target\nfind_target(NAME)"
    output = run(installed, ["-c", code.replace("NAME", "'broken'")])
    assert "TargetError" in output and "'broken'" in output and "is not a target" in output
    output = run(installed, ["-c", code.replace("NAME", "'absent'")])
    assert "TargetError" in output and "'absent'" in output and "no_such" in output
    output = run(installed, ["-c", code.replace("NAME", "'tou'")])
    assert "known are: absent, broken, cpu, cuda, cuda_sim, reference, toy" in output


def test_filters_are_registered_once() -> None:
    assert find_filter("cuda") is nvidia_filter and find_filter("nobody's") is no_filter

    def mine(earlier: Any, later: Any) -> bool:
        return False

    register_filter("test-kind", mine)
    register_filter("test-kind", mine)
    with pytest.raises(ValueError, match="'test-kind' have a barrier filter already"):
        register_filter("test-kind", no_filter)


def test_unknown_targets() -> None:
    with pytest.raises(TargetError, match="there is no target 'tpu'; known are: cpu, cuda"):
        find_target("tpu")
