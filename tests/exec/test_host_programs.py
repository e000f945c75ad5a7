"""Programs written for Triton, with the host code that such programs have, run unchanged by `tilewright run`."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.children import Children

pytestmark = pytest.mark.needs("torch")

PROGRAMS = sorted((Path(__file__).parent / "host_programs").glob("*.py"))


@pytest.mark.costly
@pytest.mark.parametrize("target", ["cpu", "cuda_sim"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program_runs_unchanged(program: Path, target: str, torch_children: Children, tmp_path: Path) -> None:
    command = ["tilewright.tools.cli", "run", str(program)]
    done = torch_children.run(command, {"TILEWRIGHT_TARGET": target}, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("right on " + ("cpu" if target == "cpu" else "cuda"))
