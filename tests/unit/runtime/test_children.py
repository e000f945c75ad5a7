"""Processes that are started by one that tilewright stands in for Triton in find the stand-in, too."""

from __future__ import annotations

import os
import subprocess
import sys
from email.parser import Parser
from pathlib import Path

import pytest

from tilewright import compat
from tilewright.compat.children import ON_PATH, folders
from tilewright.support import knobs

CHILD = """
import importlib.metadata, importlib.util, sys
import numpy as np
import triton.language as tl
import triton

@triton.jit
def double(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i) * 2)

def what_it_finds(_=None):
    x = np.arange(8, dtype=np.float32)
    double[(1,)](x, B=8)
    spec = importlib.util.find_spec("triton")
    version = importlib.metadata.version("triton")
    folder = importlib.metadata.distribution("triton").locate_file(".").resolve().name
    return [tl.__name__, spec.name, version == triton.__version__, folder in ("3.6", "3.9"), x.tolist()[7]]

if __name__ == "__main__":
    print(what_it_finds())
"""

PARENT = """
import multiprocessing, os, subprocess, sys
from concurrent.futures import ProcessPoolExecutor
from child import what_it_finds

def run(*command):
    print(subprocess.run(command, capture_output=True, text=True).stdout.strip(), flush=True)

if __name__ == "__main__":
    print(what_it_finds())
    run(sys.executable, "child.py")
    if sys.argv[1:]:
        run(sys.executable, "-c", "import child; print(child.what_it_finds())")
        run(sys.executable, "-m", "child")
        run("./script")
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            print(*pool.map(what_it_finds, [0]), flush=True)
    for kind in ("spawn", "forkserver", "fork"):
        if kind in multiprocessing.get_all_start_methods():
            with multiprocessing.get_context(kind).Pool(1) as pool:
                print(*pool.map(what_it_finds, [0]), flush=True)
    if sys.argv[1:]:
        os.execv(sys.executable, [sys.executable, "child.py"])
"""

FOUND = "['tilewright.language', 'triton', True, True, 14.0]"


@pytest.mark.costly
@pytest.mark.skipif(not hasattr(os, "fork"), reason="scripts that name their interpreter, and fork, are POSIX's")
@pytest.mark.parametrize("way", ["run", "install"])
def test_children_find_the_stand_in(tmp_path: Path, way: str) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    start = "from tilewright import compat\ncompat.install()\n" if way == "install" else ""
    (tmp_path / "parent.py").write_text(start + PARENT)
    command = [sys.executable, "-W", "ignore"]
    command += ["-m", "tilewright.tools.cli", "run", "parent.py", "more"] if way == "run" else ["parent.py"]
    (tmp_path / "script").write_text(f"#!{sys.executable}\n{CHILD}")
    (tmp_path / "script").chmod(0o755)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.splitlines() == [FOUND] * (5 + 5 * (way == "run")), done.stderr


def test_other_interpreters_find_their_own(tmp_path: Path) -> None:
    """One that has no tilewright takes the package `triton` that it has."""
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text("mark = 'their own'")
    program = "import sys; sys.modules['tilewright'] = None; import triton; print(triton.mark)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*folders(), str(tmp_path)])}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "their own\n", done.stderr


def test_nothing_stays_when_it_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    path = list(sys.path)
    with compat.standing_in():
        assert sys.path == path, "for the length of a `with` children are left alone"
        compat.install()
        compat.install()
        assert os.environ["PYTHONPATH"] == os.pathsep.join([*folders(), "/elsewhere"])
        assert [sys.path.count(folder) for folder in folders()] == [1, 1]
    assert os.environ["PYTHONPATH"] == "/elsewhere"
    assert sys.path == path


def test_there_are_metadata_for_every_version() -> None:
    (knob,) = (knob for knob in knobs.KNOBS if knob.name == "triton_version")
    versions = set(knob.choices)
    assert {folder.name for folder in ON_PATH.iterdir() if folder.name[0].isdigit()} == versions
    for version in versions:
        (folder,) = (ON_PATH / version).glob("*.dist-info")
        assert folder.name == f"triton-{version}.0.dist-info"
        assert Parser().parsestr((folder / "METADATA").read_text())["Version"] == f"{version}.0"


@pytest.mark.parametrize("version", ["3.6", "3.9"])
def test_the_version_that_is_asked_for(version: str) -> None:
    program = "from tilewright import compat; compat.install()\nimport importlib.metadata as m, triton\n"
    program += "print(m.version('triton'), triton.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "TILEWRIGHT_TRITON_VERSION": version},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout.split() == [f"{version}.0"] * 2, done.stderr


@pytest.mark.costly
def test_pytorch_finds_it(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs PyTorch")
    program = "from tilewright import compat; compat.install()\nimport torch.utils._triton as t\n"
    program += "print(t.has_triton_package(), t.has_triton(), t.get_triton_version()[0])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "True True 3\n", done.stderr
