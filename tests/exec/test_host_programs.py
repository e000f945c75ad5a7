"""Programs written for Triton, with the host code that such programs have, run unchanged by `tilewright run`."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.children import Children

pytestmark = pytest.mark.needs("torch")

FOLDER = Path(__file__).parent / "host_programs"
PROGRAMS = sorted(FOLDER.glob("*.py"))
MODELS = sorted(FOLDER.glob("models/*.py"))
"""Parts of models, run on the CPU alone."""


@pytest.mark.costly
@pytest.mark.parametrize("target", ["cpu", "cuda_sim"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program_runs_unchanged(program: Path, target: str, inductor_children: Children, tmp_path: Path) -> None:
    run(program, target, inductor_children, tmp_path)


@pytest.mark.costly
@pytest.mark.parametrize("program", MODELS, ids=lambda path: path.stem)
def test_model_runs_unchanged(program: Path, inductor_children: Children, tmp_path: Path) -> None:
    run(program, "cpu", inductor_children, tmp_path)


def run(program: Path, target: str, inductor_children: Children, folder: Path) -> None:
    """Run a program, which must end by saying where it was right."""
    command = ["tilewright.tools.cli", "run", str(program)]
    done = inductor_children.run(command, {"TILEWRIGHT_TARGET": target}, folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("right on " + ("cpu" if target == "cpu" else "cuda"))
