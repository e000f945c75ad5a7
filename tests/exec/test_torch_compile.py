"""PyTorch's compiler on the CPU, with tilewright in the place of Triton."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.needs("torch")

PROGRAM = Path(__file__).with_name("compiled_by_torch.py")


@pytest.mark.costly
@pytest.mark.parametrize(
    ("threads", "workers", "functions"),
    [("1", "none", []), ("2", "subprocess", ["indexing"]), ("2", "fork", ["indexing"])],
)
def test_functions_compiled_by_torch(tmp_path: Path, threads: str, workers: str, functions: list[str]) -> None:
    """All in one process, and some kernels by PyTorch's compile workers, from which they come back pickled."""
    chosen = {} if workers == "none" else {"TORCHINDUCTOR_WORKER_START": workers}
    warnings = ["-W", "error:Could not find an active"]
    done = subprocess.run(
        [sys.executable, *warnings, "-m", "tilewright.tools.cli", "run", str(PROGRAM), *functions],
        env=os.environ | chosen | {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path), "TORCHINDUCTOR_COMPILE_THREADS": threads},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("right")
    assert any("@triton.jit" in path.read_text() for path in tmp_path.rglob("*.py"))


@pytest.mark.costly
def test_what_pytorch_knows_of_users_kernels(tmp_path: Path) -> None:
    """Which arguments a kernel writes; then such kernels compiled without copies, called plainly and as operators."""
    program = Path(__file__).with_name("kernels_in_torch.py")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tilewright.tools.cli", "run", str(program)],
        env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path), "TORCHINDUCTOR_COMPILE_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("right") and "Traceback" not in done.stderr


@pytest.mark.costly
def test_pytorch_finds_the_back_end_by_its_entry_point(tmp_path: Path) -> None:
    cache, entries = tmp_path / "cache", tmp_path / "entries"
    entries.mkdir()
    program = Path(__file__).with_name("torch_entry_point.py")
    done = subprocess.run(
        [sys.executable, "-m", "tilewright.tools.cli", "run", str(program), str(entries)],
        env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(cache), "TORCHINDUCTOR_COMPILE_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("right")
    assert any("@triton.jit" in path.read_text() for path in cache.rglob("*.py"))


@pytest.mark.costly
def test_the_program_of_the_page_about_models(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "models.md"
    (program,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(program.splitlines()) <= 12
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert any("@triton.jit" in path.read_text() for path in tmp_path.rglob("*.py"))
