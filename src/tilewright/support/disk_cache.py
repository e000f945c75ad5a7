"""The on-disk cache of compiled kernels: content-addressed, atomic, private, and able to notice damage.

One file per entry, `<dir>/<key[:2]>/<key>.twk`: a magic line, the SHA-256 of the rest, a JSON header, then the named
binary sections. A write goes to a temporary file in the same folder and is renamed over the entry, so a reader sees an
old entry, a new one or none, whatever happens to the writer. A damaged entry is removed and counts as missing. A cache
that cannot be written (read-only, full) costs a warning, never the result. What a killed writer left behind goes with a
later write to its folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from tilewright.support import knobs

MAGIC = b"TILEWRIGHT1\n"
SUFFIX = ".twk"
TEMPORARY = ".new-"

ABANDONED_AFTER = 3600
"""Seconds after which nobody writes to a temporary file any more."""


def cache_directory() -> Path:
    """Where compiled kernels are kept: TILEWRIGHT_CACHE_DIR, else `tilewright` in the user's cache folder."""
    if chosen := knobs.get("cache_dir"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tilewright"


@dataclass(frozen=True)
class Entry:
    """What is kept of one compiled kernel: JSON-able metadata, and sections of bytes by name."""

    metadata: dict[str, Any]
    sections: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def encode(self) -> bytes:
        """The file's bytes; `decode` is its inverse."""
        sizes = {name: len(data) for name, data in self.sections.items()}
        header = json.dumps({"metadata": self.metadata, "sections": sizes}).encode()
        body = len(header).to_bytes(8, "little") + header + b"".join(self.sections.values())
        return MAGIC + hashlib.sha256(body).digest() + body

    @staticmethod
    def decode(data: bytes) -> Entry | None:
        """The entry in a file's bytes, or None when they are truncated or altered."""
        start = len(MAGIC) + 32
        body = data[start:]
        if data[: len(MAGIC)] != MAGIC or hashlib.sha256(body).digest() != data[len(MAGIC) : start]:
            return None
        header_size = int.from_bytes(body[:8], "little")
        header = json.loads(body[8 : 8 + header_size])
        sections: dict[str, bytes] = {}
        position = 8 + header_size
        for name, size in header["sections"].items():
            sections[name] = body[position : position + size]
            position += size
        return Entry(header["metadata"], sections)


class DiskCache:
    """Entries under one directory, which is made with access for its owner alone.

    The directory may vanish, fill up or turn read-only at any time: `get` then finds nothing, and `put` warns
    once in a process.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)

    def path(self, key: str) -> Path:
        """Where the entry of a key (a hexadecimal digest) lies."""
        return self.directory / key[:2] / (key + SUFFIX)

    def get(self, key: str) -> Entry | None:
        """The entry, or None when there is none or it is damaged (then the file is removed)."""
        path = self.path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        entry = Entry.decode(data)
        if entry is None:
            self._remove(path)
        return entry

    def put(self, key: str, entry: Entry) -> bool:
        """Store an entry; False (and one warning) when the directory does not take it."""
        path = self.path(key)
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            self._remove_abandoned(path.parent)
            self._write(path, entry.encode())
        except OSError as error:
            _warn(self.directory, error.strerror or str(error))
            return False
        return True

    def clear(self) -> int:
        """Remove every entry; the number removed."""
        removed = 0
        for path in self.directory.glob(f"*/*{SUFFIX}"):
            removed += self._remove(path)
        return removed

    @staticmethod
    def _write(path: Path, data: bytes) -> None:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            DiskCache._remove(Path(temporary))
            raise

    @staticmethod
    def _remove_abandoned(folder: Path) -> None:
        """Remove the temporary files of writers that were killed."""
        for path in folder.glob(TEMPORARY + "*"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - ABANDONED_AFTER:
                    DiskCache._remove(path)

    @staticmethod
    def _remove(path: Path) -> bool:
        try:
            path.unlink()
        except OSError:
            return False
        return True


@lru_cache(maxsize=64)
def _warn(directory: Path, reason: str) -> None:
    """Warn once in a process about a directory."""
    warnings.warn(
        f"the compilation cache {directory} cannot be written ({reason}); "
        "kernels are compiled anew in every process. Set TILEWRIGHT_CACHE_DIR to a writable folder.",
        RuntimeWarning,
        stacklevel=4,
    )
