"""The toolchain part of cache keys: this compiler, xDSL, LLVM, and passes from other packages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.support.entry_points import find_entry_points
from tilewright.support.fingerprint import fingerprint

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PASSES = "tilewright.passes"
"""The group of entry points of `compiler.plugins`."""
SOURCES = (".py", ".ll")


@lru_cache(maxsize=1)
def toolchain_fingerprint() -> str:
    """Hash of the versions in use and of the state of our own source files (size and time of change), so that an edited
    checkout never takes a kernel that an older state of it compiled. About 4 ms, once per process.
    """
    root = Path(__file__).resolve().parent.parent
    versions = (installed_version("xdsl"), installed_version("llvmlite"))
    return fingerprint(
        *versions, sorted(_states(str(root), "")), [_state_of(point) for point in find_entry_points(PASSES)]
    )


def _state_of(point: EntryPoint) -> list[str]:
    """A plug-in: where it is, its package's version, and the state of the sources beside it. Nothing of it runs."""
    spec = find_spec(point.module.partition(".")[0])
    sources: list[str] = []
    if spec is not None and spec.submodule_search_locations:
        sources = sorted(state for folder in spec.submodule_search_locations for state in _states(folder, ""))
    elif spec is not None and spec.origin is not None:
        status = os.stat(spec.origin)
        sources = [f"{spec.origin} {status.st_size} {status.st_mtime_ns}"]
    return [point.name, point.value, "" if point.dist is None else point.dist.version, *sources]


def _states(folder: str, prefix: str) -> Iterator[str]:
    """Path, size and time of change of each source file below a folder, one text a file: 700 files are many."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.endswith(SOURCES):
                status = entry.stat()
                yield f"{prefix}{name} {status.st_size} {status.st_mtime_ns}"
            elif name != "__pycache__" and entry.is_dir():
                yield from _states(entry.path, f"{prefix}{name}/")


def installed_version(package: str) -> str:
    """The version of a package; nothing where it is used from a folder, uninstalled.

    It is in the name of a folder beside the package, `xdsl-0.74.0.dist-info`; only where there is none is the standard
    library asked, whose import alone takes longer than all the rest of a cached start's key.
    """
    spec = find_spec(package)
    if spec is not None and spec.origin is not None:
        site = Path(spec.origin).parent.parent
        beside = next(site.glob(f"{package}-*.dist-info"), None)
        if beside is not None:
            return beside.name
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""
