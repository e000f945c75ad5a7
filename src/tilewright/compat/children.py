"""Hands the stand-in on to the processes that this one starts.

`on_path/package` holds a package `triton` that becomes the stand-in when it is imported, `on_path/3.9` the metadata of
that version of the distribution. Both go to the front of PYTHONPATH, which `subprocess` and the servers of
`multiprocessing` inherit, and of `sys.path`, which `spawn` and `forkserver` hand to their children, and PyTorch to its
compile workers. There is no `sitecustomize` and no `.pth` file: a child that does not import `triton` runs no code of
ours.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tilewright.support import knobs

ON_PATH = Path(__file__).resolve().parent / "on_path"

VARIABLE = "PYTHONPATH"


def folders() -> list[str]:
    """Return what children look in: the package, and the metadata of the version of Triton that is stood in for."""
    return [str(ON_PATH / "package"), str(ON_PATH / knobs.get("triton_version"))]


def hand_on() -> None:
    """Have every child of this process find the stand-in as `triton`."""
    sys.path[1:1] = [folder for folder in folders() if folder not in sys.path]  # after the folder of the program
    os.environ[VARIABLE] = os.pathsep.join([*folders(), *_without_ours(os.environ.get(VARIABLE, "").split(os.pathsep))])


def keep() -> None:
    """Undo `hand_on`."""
    sys.path[:] = [entry for entry in sys.path if not _is_ours(entry)]
    if rest := _without_ours(os.environ.get(VARIABLE, "").split(os.pathsep)):
        os.environ[VARIABLE] = os.pathsep.join(rest)
    else:
        os.environ.pop(VARIABLE, None)


def _without_ours(entries: list[str]) -> list[str]:
    return [entry for entry in entries if entry and not _is_ours(entry)]


def _is_ours(entry: str) -> bool:
    return Path(entry).parent == ON_PATH
