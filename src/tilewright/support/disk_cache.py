"""The on-disk cache of compiled kernels: content-addressed, atomic, private, and able to notice damage.

One file per entry, `<dir>/<key[:2]>/<key>.twk`: a magic line, the SHA-256 of the rest, a JSON header, then the named
binary sections. A write goes to a temporary file in the same folder and is renamed over the entry, so a reader sees an
old entry, a new one or none, whatever happens to the writer. A damaged entry is removed and counts as missing. A cache
that cannot be written (read-only, full) costs a warning, never the result. What a killed writer left goes with a later
write to its folder.

Entries are executed, and their checksum is not a signature: folders and files that others can write are not used (see
`private_files.py`), with a warning. An entry names its key, so that none is taken for another.

The switch `cache_size` bounds the whole. An entry's time of change says when it was last used, to `USED_AGAIN` seconds.
The folder is looked through by chance, once in some 64th of the limit that is written, whatever number of processes
write; then what was not used for longest goes, until the cache has some room.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import random
import shutil
import tempfile
import time
import warnings
from contextlib import suppress
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from tilewright.support import knobs
from tilewright.support.private_files import DistrustedError, check_folder, read_file
from tilewright.support.records import dataclass

MAGIC = b"TILEWRIGHT1\n"
SUFFIX = ".twk"
TEMPORARY = ".new-"

ABANDONED_AFTER = 3600
"""Seconds after which nothing writes to a temporary file any more."""


MOST_BYTES = 1 << 28
"""Bytes that no entry exceeds: what is larger is not read."""

USED_AGAIN = 3600
"""Seconds from which on the use of an entry is noted again."""

LOOKS_PER_LIMIT = 64
ROOM = 0.9
"""The part of the limit that is left in use where entries had to go."""

MEBIBYTE = 1 << 20


def cache_directory() -> Path | None:
    """Return where compiled kernels are kept: TILEWRIGHT_CACHE_DIR, else `tilewright` in the user's cache folder. None,
    with a warning, for a user without a home.
    """
    if chosen := knobs.ask_again("cache_dir"):
        return Path(chosen)
    if user := os.environ.get("XDG_CACHE_HOME"):
        return Path(user) / "tilewright"
    try:
        return Path.home() / ".cache" / "tilewright"
    except RuntimeError:
        _warn_once(
            "no home directory: HOME is not set, and this user has no entry in the passwd file; kernels are compiled "
            "anew in every process. Set TILEWRIGHT_CACHE_DIR to a writable folder."
        )
        return None


def cache_directory_or_temporary() -> Path:
    """The same, for what needs a folder: without a home one that goes when the process ends."""
    return cache_directory() or _temporary_directory()


@lru_cache(maxsize=1)
def _temporary_directory() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tilewright-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


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
        position = 8 + int.from_bytes(body[:8], "little")
        header = _read_header(body[8:position])
        if header is None:
            return None
        metadata, sizes = header
        if position + sum(sizes.values()) != len(body):
            return None
        sections: dict[str, bytes] = {}
        for name, size in sizes.items():
            sections[name] = body[position : position + size]
            position += size
        return Entry(metadata, sections)


def _read_header(text: bytes) -> tuple[dict[str, Any], dict[str, int]] | None:
    """The metadata and the sizes of the sections; None for anything that is not a header, whatever its checksum
    says."""
    try:
        header: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(header, dict):
        return None
    fields = cast("dict[str, Any]", header)
    metadata, sizes = fields.get("metadata"), fields.get("sections")
    if not isinstance(metadata, dict) or not isinstance(sizes, dict):
        return None
    known = cast("dict[str, Any]", metadata), cast("dict[str, Any]", sizes)
    return known if all(type(size) is int and size >= 0 for size in known[1].values()) else None


@dataclass(frozen=True)
class Listed:
    """An entry's file, as it is found in the folder."""

    path: Path
    size: int
    used: float
    """When it was last used, in seconds since 1970."""

    @property
    def key(self) -> str:
        return self.path.stem


KEY = "key"
"""What the metadata of an entry on disk has beside the entry's own."""


class DiskCache:
    """Entries under one directory, which is made with access for its owner alone; none without a directory.

    The directory may vanish, fill up or turn read-only at any time: `get` then finds nothing, and `put` warns
    once in a process.
    """

    def __init__(self, directory: str | os.PathLike[str] | None) -> None:
        self.directory = None if directory is None else Path(directory)

    def path(self, key: str) -> Path:
        """Return where the entry of a key (a hexadecimal digest) lies."""
        assert self.directory is not None, "a cache without a directory has no files"
        return self.directory / key[:2] / (key + SUFFIX)

    def get(self, key: str, *, is_use: bool = True) -> Entry | None:
        """The entry, or None when there is none or it is damaged (then the file is removed), or others may have
        written it (then there is a warning). `is_use` notes that it was used."""
        if self.directory is None:
            return None
        path = self.path(key)
        try:
            self._check_folders(path)
            data, found = read_file(path, MOST_BYTES)
        except DistrustedError as error:
            self._warn_of(error)
            return None
        except OSError:
            return None
        entry = Entry.decode(data)
        if entry is None or entry.metadata.get(KEY) != key:
            self._remove(path)
            return None
        if is_use and found.st_mtime < time.time() - USED_AGAIN:
            with suppress(OSError):
                os.utime(path)
        return Entry({name: value for name, value in entry.metadata.items() if name != KEY}, entry.sections)

    def put(self, key: str, entry: Entry) -> bool:
        """Store an entry; False (and one warning) when the directory does not take it."""
        if self.directory is None:
            return False
        path = self.path(key)
        data = Entry({**entry.metadata, KEY: key}, entry.sections).encode()
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            self._check_folders(path)
            self._remove_abandoned(path.parent)
            self._write(path, data)
        except DistrustedError as error:
            self._warn_of(error)
            return False
        except OSError as error:
            _warn_once(
                f"the compilation cache {self.directory} cannot be written ({error.strerror or error}); kernels are "
                "compiled anew in every process. Set TILEWRIGHT_CACHE_DIR to a writable folder."
            )
            return False
        self._stay_within(MEBIBYTE * knobs.get("cache_size"), len(data))
        return True

    def drop(self, key: str) -> None:
        """Remove an entry that turned out to be of no use."""
        if self.directory is not None:
            self._remove(self.path(key))

    def entries(self) -> list[Listed]:
        """All entries, those that were used last first."""
        listed: list[Listed] = []
        if self.directory is None:
            return listed
        for path in self.directory.glob(f"*/*{SUFFIX}"):
            with suppress(OSError):
                found = path.lstat()
                listed.append(Listed(path, found.st_size, found.st_mtime))
        return sorted(listed, key=lambda entry: entry.used, reverse=True)

    def clear(self) -> int:
        """Remove every entry; the number removed."""
        return sum(self._remove(entry.path) for entry in self.entries())

    def trim(self, limit: int) -> int:
        """Remove what was not used for longest where the entries exceed a number of bytes; the number removed."""
        entries = self.entries()
        if sum(entry.size for entry in entries) <= limit:
            return 0
        removed, size = 0, 0
        for entry in entries:
            size += entry.size
            removed += size > ROOM * limit and self._remove(entry.path)
        return removed

    def _stay_within(self, limit: int, written: int) -> None:
        """Look by chance whether the limit is kept, the more often the more is written; 0 is none."""
        if limit > 0 and random.random() * limit < written * LOOKS_PER_LIMIT:
            with suppress(OSError):
                self.trim(limit)

    def _check_folders(self, path: Path) -> None:
        assert self.directory is not None
        check_folder(self.directory, may_be_link=True)
        check_folder(path.parent)

    def _warn_of(self, error: DistrustedError) -> None:
        _warn_once(
            f"the compilation cache {self.directory} is not trusted: {error}. Until then kernels of it are compiled "
            "anew in every process. TILEWRIGHT_CACHE_DIR names another folder."
        )

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
def _warn_once(message: str) -> None:
    """Warn once in a process."""
    warnings.warn(message, RuntimeWarning, stacklevel=4)
