"""What compiled code depends on besides the kernel: this compiler, xDSL, and LLVM."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tilewright.support.fingerprint import fingerprint


@lru_cache(maxsize=1)
def toolchain_fingerprint() -> str:
    """Hash of the versions in use and of the state of our own source files (size and time of change), so that an edited
    checkout never takes a kernel that an older state of it compiled. About 2 ms, once per process.
    """
    root = Path(__file__).resolve().parent.parent
    files: list[tuple[str, int, int]] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                status = os.stat(path)
                files.append((os.path.relpath(path, root), status.st_size, status.st_mtime_ns))
    return fingerprint(*map(_version, ("tilewright", "xdsl", "llvmlite")), files)


def _version(package: str) -> str:
    """The version of a package; nothing where it is used from a folder, uninstalled."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
