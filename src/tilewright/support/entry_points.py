"""Entry points of installed packages, found without importing what reads metadata where there are none."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

METADATA = (".dist-info", ".egg-info")
FILE = "entry_points.txt"


@cache
def find_entry_points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group, by name. The standard library, whose import takes longer than all the rest of a
    cached start, is asked only where a file of entry points on the path has the group."""
    heading = f"[{group}]".encode()
    if not any(heading in text for folder in sys.path for text in _files_in(folder or os.getcwd())):
        return ()
    from importlib.metadata import entry_points

    return tuple(sorted(entry_points(group=group), key=lambda point: point.name))


def _files_in(folder: str) -> Iterator[bytes]:
    """The files of entry points of the distributions in a folder."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(METADATA)]
    except OSError:
        return
    for name in names:
        try:
            with open(os.path.join(folder, name, FILE), "rb") as file:
                yield file.read()
        except OSError:
            continue
