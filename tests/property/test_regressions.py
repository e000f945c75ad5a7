"""Kernels that were miscompiled or rejected once, each found by `tilewright fuzz` and made small."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.tools.fuzzing.differential import CPU, GPUS, check_launch, launch_of_file
from tilewright.tools.fuzzing.replay import tolerance_of_file

FILES = sorted((Path(__file__).parent / "regressions").glob("*.py"))


def test_there_are_files() -> None:
    assert len(FILES) >= 7


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_engines_agree(path: Path) -> None:
    failure = check_launch(launch_of_file(path), tolerance_of_file(path), (CPU, *GPUS))
    assert failure is None, str(failure)
