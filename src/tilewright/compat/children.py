"""Hands the stand-in on to the processes that this one starts.

`on_path/` holds a package `triton` that becomes the stand-in when it is imported, and that distribution's metadata.
The folder goes to the front of PYTHONPATH, which `subprocess` and the servers of `multiprocessing` inherit, and of
`sys.path`, which `spawn` and `forkserver` hand to their children, and PyTorch to its compile workers. There is no
`sitecustomize` and no `.pth` file: a child that does not import `triton` runs no code of ours.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ON_PATH = str(Path(__file__).resolve().parent / "on_path")

VARIABLE = "PYTHONPATH"


def hand_on() -> None:
    """Have every child of this process find the stand-in as `triton`."""
    if ON_PATH not in sys.path:
        sys.path.insert(1, ON_PATH)  # after the folder of the program
    rest = _without_ours()
    os.environ[VARIABLE] = os.pathsep.join([ON_PATH, *rest])


def keep() -> None:
    """Undo `hand_on`."""
    sys.path[:] = [entry for entry in sys.path if entry != ON_PATH]
    if rest := _without_ours():
        os.environ[VARIABLE] = os.pathsep.join(rest)
    else:
        os.environ.pop(VARIABLE, None)


def _without_ours() -> list[str]:
    entries = os.environ.get(VARIABLE, "").split(os.pathsep)
    return [entry for entry in entries if entry and entry != ON_PATH]
