"""Passes of packages outside of the tree, found by entry point and put into pipelines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from suite.children import Children

HERE = Path(__file__).resolve().parent

SCRIPT = """
import sys
import numpy as np
import tilewright as triton, tilewright.language as tl

@triton.jit
def double(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2.0)

x = np.ones(16, np.float32)
kernel = double[(1,)](x, BLOCK=16)
was_compiled = "xdsl" in sys.modules
print(x[0], "toy.seen" in kernel.asm.get("ttgir", ""), was_compiled)
"""
MODULE = '"builtin.module"() ({ tt.func @f() { tt.return } }) : () -> ()'


class Package:
    """A package in a folder of its own, as pip leaves it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "third_factor.py").write_text((HERE / "third_factor.py").read_text())
        (folder / "script.py").write_text(SCRIPT)
        self._information = folder / "third_factor-0.1.dist-info"
        self._information.mkdir()
        (self._information / "METADATA").write_text("Metadata-Version: 2.1\nName: third-factor\nVersion: 0.1\n")

    def register(self, **points: str) -> None:
        """Have entry points of these names, and no others."""
        lines = [f"{name} = {value}\n" for name, value in points.items()]
        (self._information / "entry_points.txt").write_text("[tilewright.passes]\n" + "".join(lines))

    def run(self, *arguments: str, **environment: str) -> str:
        """What a program prints with the package installed."""
        here = {"PYTHONPATH": str(self.folder), "TILEWRIGHT_CACHE_DIR": str(self.folder / "cache"), **environment}
        command = [sys.executable, *arguments]
        done = subprocess.run(command, env=os.environ | here, capture_output=True, text=True, check=False, timeout=120)
        return done.stdout + done.stderr

    def run_with(self, children: Children, *command: str, **environment: str) -> str:
        """What a program prints that need not import the compiler itself: a module, and its arguments."""
        here = {"PYTHONPATH": str(self.folder), "TILEWRIGHT_CACHE_DIR": str(self.folder / "cache"), **environment}
        done = children.run(command, here, self.folder)
        return done.stdout + done.stderr

    def run_kernel(self, target: str = "cpu", **environment: str) -> str:
        return self.run(str(self.folder / "script.py"), TILEWRIGHT_TARGET=target, **environment)


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


@pytest.mark.costly
def test_a_pass_of_a_package_runs_and_is_part_of_the_cache_key(package: Package) -> None:
    assert package.run_kernel() == "2.0 False True\n"
    package.register(factor="third_factor:IN_TTIR")
    assert package.run_kernel() == "3.0 False True\n"
    assert package.run_kernel() == "3.0 False False\n", "not taken from the cache, or the plug-in was imported"
    source = package.folder / "third_factor.py"
    source.write_text(source.read_text().replace("FROM, TO = 2.0, 3.0", "FROM, TO = 2.0, 11.0"))
    assert package.run_kernel() == "11.0 False True\n"
    package.register()
    assert package.run_kernel() == "2.0 False False\n"


@pytest.mark.costly
def test_places_of_other_targets(package: Package, compiler_children: Children) -> None:
    package.register(factor="third_factor:IN_TTIR", names="third_factor:IN_TTGIR", loops="third_factor:IN_LOOPS")
    assert package.run_with(compiler_children, "script", TILEWRIGHT_TARGET="cuda_sim") == "2.0 True True\n"
    package.register(names="third_factor:AT_THE_END")
    assert package.run_with(compiler_children, "script", TILEWRIGHT_TARGET="cuda_sim") == "2.0 True True\n"


@pytest.mark.costly
def test_the_baseline_leaves_out_places_that_it_has_not(package: Package) -> None:
    package.register(loops="third_factor:IN_LOOPS", factor="third_factor:IN_TTIR")
    assert package.run_kernel(TILEWRIGHT_OPT="0") == "3.0 False True\n"


@pytest.mark.costly
def test_its_passes_have_flags(package: Package, compiler_children: Children) -> None:
    package.register(names="third_factor:AT_THE_END")
    (package.folder / "module.mlir").write_text(MODULE)
    command = ["tilewright.tools.opt", str(package.folder / "module.mlir"), "--name-functions"]
    output = package.run_with(compiler_children, *command)
    assert 'toy.seen = "f"' in output, output


@pytest.mark.costly
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "no_such:PLACEMENT",
            "cannot be loaded from no_such:PLACEMENT: ModuleNotFoundError: No module named 'no_such'",
        ),
        ("third_factor:ABSENT", "cannot be loaded from third_factor:ABSENT: AttributeError"),
        ("third_factor:NO_PLACEMENT", "names no position: third_factor:NO_PLACEMENT is ABCMeta, no tilewright."),
        ("third_factor:TWO_PLACES", "names two positions, before 'cse' and after 'cse': name one"),
        ("third_factor:NO_TARGET", "names a pipeline of 'cup'; there are targets cpu, cuda, reference"),
        ("third_factor:NO_STAGE", "names the pipeline 'cpu/tir'; there are cpu/ttir, cpu/structured, cpu/linalg"),
        ("third_factor:NO_PASS", "'cpu/ttir' has no pass 'triton-combin'; did you mean 'triton-combine'?"),
        ("third_factor:NO_OCCURRENCE", "'cpu/structured' has 'cse' 1 times: there is no occurrence 7"),
        ("third_factor:NO_MAKER", "makes int, no pass"),
    ],
)
def test_bad_plugins_are_named(package: Package, compiler_children: Children, value: str, message: str) -> None:
    package.register(mine=value)
    last = package.run_with(compiler_children, "script", TILEWRIGHT_TARGET="cpu").splitlines()[-1]
    assert last.startswith("tilewright.support.errors.PipelineError: pass plug-in 'mine' of third-factor 0.1"), last
    assert message in last
