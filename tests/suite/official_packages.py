"""Where official Triton is found, by version: in the environment, or in a folder of its own beside it.

Two versions do not fit into one process, nor into one environment: what they make of kernels is asked for in processes
of their own, see `official_answers`.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from functools import cache
from pathlib import Path

NEWEST, OLDEST = "3.9", "3.6"
"""The version that our language follows, and the first whose programs it takes, too."""

FOLDER = Path(sys.prefix) / "oracles"
"""`pip install --target` puts packages into `triton-3.9` and the like below it; see `make oracles`."""


@cache
def installed() -> str | None:
    """The version, as 3.9, of the package in the environment."""
    try:
        return ".".join(importlib.metadata.version("triton").split(".")[:2])
    except importlib.metadata.PackageNotFoundError:
        return None


def is_available(version: str) -> bool:
    """Can a process import official Triton of a version, as 3.9?"""
    return version == installed() or (FOLDER / f"triton-{version}" / "triton").is_dir()


def environment(version: str) -> dict[str, str]:
    """The environment variables of a process that imports official Triton of a version."""
    inherited = dict(os.environ)
    if version != installed():
        paths = [str(FOLDER / f"triton-{version}"), *filter(None, [inherited.get("PYTHONPATH")])]
        inherited["PYTHONPATH"] = os.pathsep.join(paths)
    return inherited
