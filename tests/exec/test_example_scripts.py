"""The examples as scripts: each runs by itself and prints how far it is from NumPy."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tilewright import compat
from tilewright.support import knobs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if path.stem != "demo")
IN_GLUON = sorted((EXAMPLES / "gluon").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_runs_by_itself(
    script: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [str(script)])
    with compat.standing_in(), knobs.scope(target="cpu"):
        runpy.run_path(str(script), run_name="__main__")
    said = capsys.readouterr().out
    error = re.search(r"largest error (\S+)\n", said)
    if error is not None:
        assert float(error[1]) < 1e-4
    else:
        assert said == "kept 0.700 of 100000 elements; again the same: True\n"


@pytest.mark.parametrize("script", IN_GLUON, ids=lambda path: path.stem)
def test_example_in_gluon_runs_by_itself(
    script: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [str(script)])
    with compat.standing_in(), knobs.scope(target="cuda_sim"):
        runpy.run_path(str(script), run_name="__main__")
    error = re.search(r"largest error (\S+)\n", capsys.readouterr().out)
    assert error is not None and float(error[1]) < 1e-4
