"""Programs written for Triton, with the host code that such programs have, run unchanged by `tilewright run`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.needs("torch")

PROGRAMS = sorted((Path(__file__).parent / "host_programs").glob("*.py"))


@pytest.mark.costly
@pytest.mark.parametrize("target", ["cpu", "cuda_sim"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program_runs_unchanged(program: Path, target: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tilewright.tools.cli", "run", str(program)],
        env=os.environ | {"TILEWRIGHT_TARGET": target},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("right on " + ("cpu" if target == "cpu" else "cuda"))
