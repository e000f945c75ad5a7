"""Programs as children of one process: each has its own status, output and environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from suite.children import Children

pytestmark = [
    pytest.mark.costly,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the programs are children of one process"),
]

RAISES = "import os, sys\nprint(os.environ['WORD'], *sys.argv[1:])\nraise ValueError('no')\n"


def test_each_program_has_its_own_status_and_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "right.json").write_text("[1]")
    (tmp_path / "wrong.json").write_text("[1")
    (tmp_path / "program_that_raises.py").write_text(RAISES)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Children("json") as children:
        right = children.run(["json.tool", str(tmp_path / "right.json")], {}, tmp_path)
        wrong = children.run(["json.tool", str(tmp_path / "wrong.json")], {}, tmp_path)
        raised = children.run(["program_that_raises", "to", "you"], {"WORD": "said"}, tmp_path)
    assert (right.returncode, right.stdout, right.stderr) == (0, "[\n    1\n]\n", "")
    assert (wrong.returncode, wrong.stdout) == (1, "") and "Expecting ','" in wrong.stderr
    assert (raised.returncode, raised.stdout) == (1, "said to you\n") and raised.stderr.endswith("ValueError: no\n")
