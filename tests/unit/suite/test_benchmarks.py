"""The benchmark's scripts find what they share with the tests: between two releases nothing else imports them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.mark.costly
@pytest.mark.sampled
@pytest.mark.parametrize("script", ["cpu/worker.py", "cpu/block_growth.py", "cpu/sanitizing.py"])
def test_scripts_are_imported(script: str) -> None:
    """In a process of its own: here pytest has added the folders of the tests to the path."""
    path = BENCHMARKS / script
    code = f"import sys; sys.path.insert(0, {str(path.parent)!r}); import {path.stem}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
