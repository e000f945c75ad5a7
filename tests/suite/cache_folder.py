"""A cache folder of the suite's own, shared by its workers and by the processes that tests start."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

VARIABLES = {"TILEWRIGHT_CACHE_DIR": "tilewright", "XDG_CACHE_HOME": "user", "TRITON_HOME": "triton"}
"""What says where compiled kernels are kept, ours and official Triton's, and the folder for each."""

MARK = "TILEWRIGHT_TEST_CACHE"
"""The environment variable by which workers find the folder that the first process made."""


def enter_cache_folder() -> Path | None:
    """Make a fresh folder and point every cache at it; None in a worker, which takes the one that its parent made.

    Every run starts empty: what is tested is the compiler, not what an earlier run left behind.
    """
    if MARK in os.environ:
        return None
    folder = Path(tempfile.mkdtemp(prefix="tilewright-tests-"))
    os.environ[MARK] = str(folder)
    for variable, name in VARIABLES.items():
        os.environ[variable] = str(folder / name)
    return folder


def leave_cache_folder(folder: Path | None) -> None:
    """Remove what `enter_cache_folder` made."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
