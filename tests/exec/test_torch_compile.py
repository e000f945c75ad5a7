"""PyTorch's compiler on the CPU, with tilewright in the place of Triton."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from suite.children import Children

pytestmark = [pytest.mark.costly, pytest.mark.needs("torch")]

HERE = Path(__file__).parent


def run_program(children: Children, folder: Path, *command: str, **environment: str) -> str:
    """Run a program of this folder: PyTorch's compiler writes Triton kernels for it, and it says that all is right.
    Returns what else it says."""
    cache = folder / "cache"
    done = children.run(
        ["tilewright.tools.cli", "run", str(HERE / command[0]), *command[1:]],
        {"TORCHINDUCTOR_CACHE_DIR": str(cache), "TORCHINDUCTOR_COMPILE_THREADS": "1", **environment},
        folder,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("right")
    assert any("@triton.jit" in path.read_text() for path in cache.rglob("*.py"))
    return done.stderr


def test_functions_compiled_by_torch(tmp_path: Path, inductor_children: Children) -> None:
    run_program(inductor_children, tmp_path, "compiled_by_torch.py")


def test_weights_of_fewer_bytes(tmp_path: Path, inductor_children: Children) -> None:
    """Matmuls of few rows are one kernel with what makes their weights; others are calls, as without tilewright."""
    run_program(inductor_children, tmp_path, "weights_in_torch.py")


def test_concatenations_computed_where_they_are_used(tmp_path: Path, inductor_children: Children) -> None:
    run_program(inductor_children, tmp_path, "cats_in_torch.py")


def test_kernels_come_back_pickled_from_workers(tmp_path: Path, torch_children: Children) -> None:
    """Workers that are forked; `host_programs/models/compiled_by_workers.py` has those that are started."""
    chosen = {"TORCHINDUCTOR_WORKER_START": "fork", "TORCHINDUCTOR_COMPILE_THREADS": "2"}
    run_program(torch_children, tmp_path, "compiled_by_torch.py", "indexing", **chosen)


def test_what_pytorch_knows_of_users_kernels(tmp_path: Path, inductor_children: Children) -> None:
    """Which arguments a kernel writes; then such kernels compiled without copies, called plainly and as operators."""
    assert "Traceback" not in run_program(inductor_children, tmp_path, "kernels_in_torch.py")


@pytest.mark.needs("triton")
def test_official_triton_serves_pytorch_with_this_back_end(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "inductor_on_official.py")],
        env=os.environ
        | {"TILEWRIGHT_TRITON_BACKEND": "cpu", "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
        | {"TORCHINDUCTOR_COMPILE_THREADS": "1", "TRITON_CACHE_DIR": str(tmp_path / "triton")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0 and done.stdout == "right\n", done.stderr
    assert any("@triton.jit" in path.read_text() for path in tmp_path.rglob("*.py"))


@pytest.mark.skipif(shutil.which("g++") is None, reason="PyTorch's ahead-of-time compiler needs a C++ compiler")
def test_packages_run_users_kernels_without_tilewright(tmp_path: Path, inductor_children: Children) -> None:
    """AOTInductor packs kernels and their launcher as shared libraries; a process that finds no tilewright loads them."""
    run_program(inductor_children, tmp_path, "ahead_of_time_in_torch.py", str(tmp_path))
    done = subprocess.run(
        [sys.executable, str(HERE / "package_of_torch.py"), str(tmp_path)],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0 and done.stdout == "right\n", done.stderr


def test_pytorch_finds_the_back_end_by_its_entry_point(tmp_path: Path, torch_children: Children) -> None:
    entries = tmp_path / "entries"
    entries.mkdir()
    run_program(torch_children, tmp_path, "torch_entry_point.py", str(entries))


def test_the_program_of_the_page_about_models(tmp_path: Path) -> None:
    """In a process of its own: nothing is imported before its first line."""
    page = HERE.parents[1] / "docs" / "models.md"
    (program,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(program.splitlines()) <= 12
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path), "TORCHINDUCTOR_COMPILE_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert any("@triton.jit" in path.read_text() for path in tmp_path.rglob("*.py"))


def test_kernels_are_launched_at_sites(tmp_path: Path, inductor_children: Children) -> None:
    """Natively after the first calls, and by PyTorch's own object where something is different."""
    run_program(inductor_children, tmp_path, "launched_at_sites.py")


def test_another_state_of_the_compiler_writes_its_own_graphs(tmp_path: Path, torch_children: Children) -> None:
    run_program(torch_children, tmp_path, "cached_graphs.py")


def test_templates_of_products_are_tuned(tmp_path: Path, inductor_children: Children) -> None:
    run_program(inductor_children, tmp_path, "products_in_torch.py")


def test_blocks_fit_a_cpu(tmp_path: Path, inductor_children: Children) -> None:
    run_program(inductor_children, tmp_path, "blocks_in_torch.py")


@pytest.mark.skipif(shutil.which("g++") is None, reason="PyTorch's template of attention is C++")
def test_attention_is_a_template_in_cpp(tmp_path: Path, inductor_children: Children) -> None:
    run_program(inductor_children, tmp_path, "attention_in_torch.py")
