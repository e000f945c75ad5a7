"""Managers of files by key, as Triton has them: those of a folder, those of a remote cache, and kernels in them.

    TRITON_CACHE_MANAGER=triton.runtime.cache:RemoteCacheManager TRITON_REMOTE_CACHE_BACKEND=mine:Backend python ...

Compiled kernels go to `DiskCache` unless a class of managers is chosen: then each is a file in the manager of its key.
What a remote cache answers is executed, as everywhere with such caches: who can write there runs code here.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
import warnings
from abc import ABC, abstractmethod
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from tilewright.support.disk_cache import (
    KEY,
    MOST_BYTES,
    SUFFIX,
    DiskCache,
    Entry,
    cache_directory,
    cache_directory_or_temporary,
)
from tilewright.support.knob_groups import FromEnvironment, class_named
from tilewright.support.private_files import DistrustedError, read_file

GROUP = "__grp__"

MANAGER = FromEnvironment(
    "TRITON_CACHE_MANAGER", None, partial(class_named, base="CacheManager"), "kernels are kept by such managers"
)
REMOTE = FromEnvironment(
    "TRITON_REMOTE_CACHE_BACKEND", None, partial(class_named, base="RemoteCacheBackend"), "`RemoteCacheManager` asks it"
)
DUMP_DIR = FromEnvironment(
    "TRITON_DUMP_DIR", lambda: str(cache_directory_or_temporary() / "dump"), lambda _, text: text,
    "where `compilation.dump_ir = True` and `get_dump_manager` write",
)  # fmt: skip
OVERRIDE_DIR = FromEnvironment(
    "TRITON_OVERRIDE_DIR", lambda: str(cache_directory_or_temporary() / "override"), lambda _, text: text,
    "where `get_override_manager` reads; see `compilation.override`",
)  # fmt: skip
REDIS_KEY = FromEnvironment(
    "TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}", lambda _, text: text, "names of files in Redis"
)
REDIS_HOST = FromEnvironment("TRITON_REDIS_HOST", "localhost", lambda _, text: text, "where Redis runs")
REDIS_PORT = FromEnvironment("TRITON_REDIS_PORT", 6379, lambda _, text: int(text), "its port")


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
        """The files that were put under one name, or None unless all are there."""

    @abstractmethod
    def put_group(self, filename: str, group: dict[str, str]) -> str:
        """Remember paths under one name."""


class FileCacheManager(CacheManager):
    """A folder for each key, in the cache directory, or where stages are dumped to or taken from. Files appear whole: a
    reader finds an old one, a new one or none."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key
        home = DUMP_DIR.get() if dump else OVERRIDE_DIR.get() if override else cache_directory_or_temporary()
        self.cache_dir = str(Path(home) / key)
        self.lock_path: str | None = None
        if dump or not override:
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
        children = _children(self.get_file(GROUP + filename))
        if not isinstance(children, dict):
            return None
        paths = cast("dict[str, str]", children)
        return paths if all(Path(path).exists() for path in paths.values()) else None

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        return self.put(json.dumps({"child_paths": group}), GROUP + filename, binary=False)

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        if self.lock_path is None:
            raise RuntimeError(f"files that take the place of stages are only read, not put: {filename}")
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


class RemoteCacheBackend:
    """What keeps the files of a key elsewhere; classes derive from it."""

    def __init__(self, key: str) -> None: ...

    @abstractmethod
    def get(self, filenames: list[str]) -> dict[str, bytes]:
        """The contents of those of the files that are there."""
        raise NotImplementedError

    @abstractmethod
    def put(self, filename: str, data: bytes) -> Any:
        """Keep a file."""
        raise NotImplementedError


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """Files in a Redis server; needs the package `redis`."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._format: str = REDIS_KEY.get()
        self._redis: Any = import_module("redis").Redis(host=REDIS_HOST.get(), port=REDIS_PORT.get())

    def _name(self, filename: str) -> str:
        return self._format.format(key=self._key, filename=filename)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        found = self._redis.mget([self._name(filename) for filename in filenames])
        return {name: data for name, data in zip(filenames, found, strict=True) if data is not None}

    def put(self, filename: str, data: bytes) -> None:
        self._redis.set(self._name(filename), data)


class RemoteCacheManager(CacheManager):
    """Files of a remote cache (`knobs.cache.remote_manager_class`), each copied into the folder of its key when it is
    asked for. Raises RuntimeError where no remote cache is chosen."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        backend = REMOTE.get()
        if backend is None:
            raise RuntimeError("TRITON_REMOTE_CACHE_BACKEND names no class: RemoteCacheManager has nothing to ask")
        self._backend: RemoteCacheBackend = backend(key)
        self._files = FileCacheManager(key, override=override, dump=dump)
        self._is_local = override or dump

    def get_file(self, filename: str) -> str | None:
        if self._is_local:
            return self._files.get_file(filename)
        # Even for what lies here already: the remote cache notes what is used.
        data = self._backend.get([filename]).get(filename)
        return None if data is None else self._files.put(data, filename)

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        if not self._is_local:
            data = data if isinstance(data, bytes) else str(data).encode()
            self._backend.put(filename, data)
        return self._files.put(data, filename, binary)

    def get_group(self, filename: str) -> dict[str, str] | None:
        if self._is_local:
            return self._files.get_group(filename)
        names = _children(self.get_file(GROUP + filename))
        if names is None:
            return None
        found = self._backend.get(list(names))
        if len(found) != len(list(names)):
            return None
        return {name: self._files.put(data, name) for name, data in found.items()}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        if self._is_local:
            return self._files.put_group(filename, group)
        return self.put(json.dumps({"child_paths": sorted(group)}), GROUP + filename, binary=False)


def _children(path: str | None) -> Any:
    """Return what a file says of its group: paths by name, or names; None where it says nothing that can be read."""
    if path is None:
        return None
    try:
        said: Any = json.loads(Path(path).read_text())
    except (OSError, ValueError):
        return None
    found: Any = cast("dict[str, Any]", said).get("child_paths") if isinstance(said, dict) else None
    return found if isinstance(found, list | dict) else None  # pyright: ignore[reportUnknownVariableType]


def base32(key: str) -> str:
    """The folder of a key in hexadecimal."""
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def cache_manager(key: str, **kind: bool) -> CacheManager:
    """Make a manager of the chosen class (`knobs.cache.manager_class`) for a key. Raises ValueError for one that is not
    a digest in hexadecimal."""
    return (MANAGER.get() or FileCacheManager)(base32(key), **kind)


class ManagedCache(DiskCache):
    """Compiled kernels in managers of the chosen class, each in that of its key."""

    def __init__(self, kind: type[CacheManager]) -> None:
        super().__init__(cache_directory_or_temporary())
        self._kind = kind

    def path(self, key: str) -> Path:
        """Return where the entry of a key lies, once it has been put or found."""
        return Path(FileCacheManager(base32(key)).cache_dir) / (key + SUFFIX)

    def get(self, key: str, *, is_use: bool = True) -> Entry | None:
        """The entry, or None where the manager has none, or one that is damaged or that others may have written."""
        found = self._kind(base32(key)).get_file(key + SUFFIX)
        if found is None:
            return None
        try:
            data, _ = read_file(Path(found), MOST_BYTES)
        except DistrustedError as error:
            warnings.warn(f"a kernel that the cache has is not used: {error}", stacklevel=2)
            return None
        except OSError:
            return None
        entry = Entry.decode(data)
        if entry is None or entry.metadata.get(KEY) != key:
            return None
        return Entry({name: value for name, value in entry.metadata.items() if name != KEY}, entry.sections)

    def put(self, key: str, entry: Entry) -> bool:
        """Have the manager keep an entry."""
        self._kind(base32(key)).put(Entry({**entry.metadata, KEY: key}, entry.sections).encode(), key + SUFFIX)
        return True


def kernel_cache() -> DiskCache:
    """Return where compiled kernels are kept: the disk cache, or the managers that a program chose."""
    kind = MANAGER.get()
    return DiskCache(cache_directory()) if kind is None else ManagedCache(kind)
