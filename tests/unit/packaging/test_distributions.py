"""Both wheels in an environment of their own: `import triton` with nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from suite.clean_environments import official_wheel

pytest.importorskip("hatchling", reason="needs hatchling, which builds the wheels")
pytest.importorskip("pip", reason="needs pip, which installs them")

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="kernels are not launched on Windows")
ROOT = Path(__file__).resolve().parents[3]
PROVIDER = ROOT / "distributions" / "tilewright-triton"

PROGRAM = """
import importlib.metadata, importlib.util, multiprocessing, subprocess, sys
import numpy as np
import triton
import triton.language as tl

@triton.jit
def double(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i) * 2)

def what_it_finds(_=None):
    x = np.arange(8, dtype=np.float32)
    double[(1,)](x, B=8)
    found = importlib.util.find_spec("triton.language") is not None
    version = importlib.metadata.version("triton")
    return triton.__version__, version, found, "cpu" in triton.backends.backends, x.tolist()[7]

if __name__ == "__main__":
    print(*what_it_finds())
    if "child" not in sys.argv:
        print(subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True).stdout.strip())
        for kind in ("spawn", "forkserver", "fork"):
            with multiprocessing.get_context(kind).Pool(1) as pool:
                print(*pool.map(what_it_finds, [0])[0])
"""
FOUND = "3.9.0 3.9.0 True True 14.0"

GATES = """
import torch
from torch.utils import _triton
print(_triton.has_triton_package(), _triton.has_triton())
torch.cuda.is_available, torch.cuda.get_device_capability = lambda: True, lambda *_: (9, 0)
print(_triton.has_triton_stable_tma_api(), _triton.has_triton_tensor_descriptor_host_tma())
"""


def pip(environment: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pip of this process, working on another environment, without network."""
    python = str(environment / "bin" / "python")
    options = ("--python", python, "--disable-pip-version-check", "--isolated", "--quiet")
    command = [sys.executable, "-m", "pip", *options, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def install(environment: Path, *wheels: Path) -> subprocess.CompletedProcess[str]:
    return pip(environment, "install", "--no-deps", "--no-index", *map(str, wheels))


def run(environment: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Its Python, away from the repository and from what this process hands on."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(environment / "bin" / "python"), *arguments]
    return subprocess.run(
        command, cwd=environment, env=outside, capture_output=True, text=True, check=False, timeout=300
    )


def site_of(environment: Path) -> Path:
    (site,) = (environment / "lib").glob("python3*/site-packages")
    return site


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Both distributions, built from this repository."""
    folder = tmp_path_factory.mktemp("wheels")
    for source in (ROOT, PROVIDER):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=300)
    return tuple(sorted(folder.iterdir()))


@pytest.fixture(scope="module")
def environment(wheels: tuple[Path, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with both wheels; what they depend on comes from this process's."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=300)
    done = install(folder, *wheels)
    assert done.returncode == 0, done.stderr
    shared = [entry for entry in sys.path if entry.endswith("site-packages")]
    (site_of(folder) / "dependencies.pth").write_text("\n".join(shared))
    return folder


@pytest.mark.costly
@POSIX
def test_every_process_of_the_environment_finds_triton(environment: Path) -> None:
    program = environment / "program.py"
    program.write_text(PROGRAM)
    done = run(environment, str(program))
    assert done.stdout.splitlines() == [FOUND] * 5, done.stdout + done.stderr


@pytest.mark.costly
@POSIX
def test_pytorchs_gates_are_open(environment: Path) -> None:
    pytest.importorskip("torch")
    done = run(environment, "-c", GATES)
    assert done.stdout.split() == ["True"] * 4, done.stdout + done.stderr


@pytest.mark.costly
@POSIX
def test_the_official_package_does_not_replace_it(environment: Path, tmp_path: Path) -> None:
    """pip removes no distribution without a list of files, and says who installed it."""
    done = install(environment, official_wheel(tmp_path, "3.6.0"))
    assert done.returncode != 0
    assert "triton 3.9.0" in done.stderr and "installed by tilewright" in done.stderr, done.stderr
    assert (site_of(environment) / "triton-3.9.0.dist-info").is_dir()


@pytest.mark.costly
@POSIX
def test_beside_the_official_package_the_import_is_refused(wheels: tuple[Path, ...], tmp_path: Path) -> None:
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=300)
    assert install(folder, official_wheel(tmp_path, "3.9.0")).returncode == 0
    assert install(folder, *wheels).returncode == 0
    done = run(folder, "-c", "import triton")
    message = done.stderr.splitlines()[-1]
    said = "DistributionClashError: tilewright-triton and the official triton package are both installed in "
    assert said in message
    assert "pip uninstall tilewright-triton" in message


def test_both_distributions_bear_one_version() -> None:
    main, provider = (tomllib.loads((folder / "pyproject.toml").read_text())["project"] for folder in (ROOT, PROVIDER))
    assert provider["version"] == main["version"]
    assert provider["dependencies"] == [f"tilewright=={main['version']}"]
    assert provider["requires-python"] == main["requires-python"]
