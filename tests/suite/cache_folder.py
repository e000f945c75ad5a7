"""A cache folder of the suite's own, shared by its workers and by the processes that tests start."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

VARIABLES = {
    "TILEWRIGHT_CACHE_DIR": "tilewright",
    "XDG_CACHE_HOME": "user",
    "TRITON_HOME": "triton",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
}
"""What says where compiled kernels are kept, ours, official Triton's and PyTorch's, and the folder for each."""

MARK = "TILEWRIGHT_TEST_CACHE"
"""The environment variable by which workers find the folder that the first process made, and runs that are one for
continuous integration theirs: the later of them compiles nothing again."""


def enter_cache_folder() -> Path | None:
    """Make a fresh folder and point every cache at it; None where there is one already: a worker takes that which its
    parent made, a run that of its caller.

    Every other run starts empty: what is tested is the compiler, not what an earlier run left behind.
    """
    given = os.environ.get(MARK)
    folder = Path(given or tempfile.mkdtemp(prefix="tilewright-tests-"))
    os.environ[MARK] = str(folder)
    for variable, name in VARIABLES.items():
        if given:
            os.environ.setdefault(variable, str(folder / name))
        else:
            os.environ[variable] = str(folder / name)
    return None if given else folder


def leave_cache_folder(folder: Path | None) -> None:
    """Remove what `enter_cache_folder` made."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
