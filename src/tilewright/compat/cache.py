"""What Triton calls `triton.runtime.cache`: folders of files by key, which programs keep things of their own in and
derive classes from.

    files = get_cache_manager(key)
    path = files.get_file("tuned.json") or files.put(text, "tuned.json")

They lie beside the compiled kernels (`knobs.cache.dir`), whose own cache is of another form (`support/disk_cache.py`).
Naming a class in TRITON_CACHE_MANAGER has no effect on that one: what such classes mend, concurrent writers, it does
itself.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import Any

from tilewright.compiler.toolchain import toolchain_fingerprint
from tilewright.support.disk_cache import cache_directory_or_temporary
from tilewright.support.errors import OptionError

__all__ = [
    "CacheManager",
    "FileCacheManager",
    "default_cache_dir",
    "get_cache_manager",
    "triton_key",
]

GROUP = "__grp__"


def _base32(key: str) -> str:  # pyright: ignore[reportUnusedFunction]
    """The folder of a key in hexadecimal; PyTorch asks for it by this name."""
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def __getattr__(name: str) -> Any:
    """PyTorch takes the switches from here."""
    if name == "knobs":
        return import_module("triton.knobs")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class CacheManager(ABC):
    """Files that belong to a key."""

    @abstractmethod
    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None: ...

    @abstractmethod
    def get_file(self, filename: str) -> str | None:
        """The path of a file that was put, or None."""

    @abstractmethod
    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        """Keep a file; returns its path."""

    @abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None:
        """The files that were put under one name and are still there, or None."""

    @abstractmethod
    def put_group(self, filename: str, group: dict[str, str]) -> str:
        """Remember paths under one name."""


class FileCacheManager(CacheManager):
    """A folder for each key, in the cache directory. Files appear whole: a reader finds an old one, a new one or none.

    Raises OptionError for `override` and `dump`, which are for the stages of kernels."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        if override or dump:
            raise OptionError(
                "no files are put in place of stages: the launch option `ir_override` does that, the switch `dump_ir` "
                "writes them"
            )
        self.key = key
        self.cache_dir = str(cache_directory_or_temporary() / key)
        self.lock_path = str(Path(self.cache_dir) / "lock")
        Path(self.cache_dir).mkdir(parents=True, exist_ok=True)

    def _make_path(self, filename: str) -> str:
        return str(Path(self.cache_dir) / filename)

    def has_file(self, filename: str) -> bool:
        """Return whether a file was put."""
        return Path(self._make_path(filename)).exists()

    def get_file(self, filename: str) -> str | None:
        return self._make_path(filename) if self.has_file(filename) else None

    def get_group(self, filename: str) -> dict[str, str] | None:
        found = self.get_file(GROUP + filename)
        paths = None if found is None else json.loads(Path(found).read_text()).get("child_paths")
        return None if paths is None else {name: path for name, path in paths.items() if Path(path).exists()}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        return self.put(json.dumps({"child_paths": group}), GROUP + filename, binary=False)

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        path = self._make_path(filename)
        handle, temporary = tempfile.mkstemp(dir=self.cache_dir, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data if isinstance(data, bytes) else str(data).encode())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return path


def get_cache_manager(key: str) -> CacheManager:
    """The files of a key."""
    return FileCacheManager(key)


def default_cache_dir() -> str:
    """Return where compiled kernels are kept."""
    return str(cache_directory_or_temporary())


def triton_key() -> str:
    """Return what compiled code depends on besides kernel and target: the compiler itself."""
    return toolchain_fingerprint()
