"""What compiled code depends on besides the kernel: this compiler, xDSL, and LLVM."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from tilewright.support.fingerprint import fingerprint

SOURCES = (".py", ".ll")


@lru_cache(maxsize=1)
def toolchain_fingerprint() -> str:
    """Hash of the versions in use and of the state of our own source files (size and time of change), so that an edited
    checkout never takes a kernel that an older state of it compiled. About 4 ms, once per process.
    """
    root = Path(__file__).resolve().parent.parent
    return fingerprint(installed_version("xdsl"), installed_version("llvmlite"), sorted(_states(str(root), "")))


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
