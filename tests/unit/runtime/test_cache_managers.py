"""Managers of files by key: remote caches, kernels in them, and switches that choose them."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from tilewright import knobs
from tilewright.compat import cache
from tilewright.compat.cache import (
    CacheManager,
    FileCacheManager,
    RedisRemoteCacheBackend,
    RemoteCacheBackend,
    RemoteCacheManager,
)
from tilewright.support.errors import KnobError

KEY = "00ff"


class Elsewhere(RemoteCacheBackend):
    """A remote cache that is a dictionary."""

    files: ClassVar[dict[tuple[str, str], bytes]] = {}
    asked: ClassVar[list[str]] = []

    def __init__(self, key: str) -> None:
        self.key = key

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        Elsewhere.asked += filenames
        return {name: self.files[self.key, name] for name in filenames if (self.key, name) in self.files}

    def put(self, filename: str, data: bytes) -> None:
        self.files[self.key, filename] = data


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Generator[Path]:
    Elsewhere.files.clear()
    Elsewhere.asked.clear()
    with knobs.cache.scope(), knobs.redis.scope():
        knobs.cache.dir = str(tmp_path)
        yield tmp_path


def test_remote_files_are_copied_to_where_they_are_asked_for(folder: Path) -> None:
    knobs.cache.remote_manager_class = Elsewhere
    here = RemoteCacheManager("K")
    path = Path(here.put("text", "a.json", binary=False))
    here.put(b"\x00", "b.bin")
    here.put_group("both", {"b.bin": "", "a.json": ""})
    assert path == folder / "K" / "a.json" and path.read_text() == "text"
    assert Elsewhere.files["K", "a.json"] == b"text"
    knobs.cache.dir = str(folder / "another machine")
    there = RemoteCacheManager("K")
    group = there.get_group("both")
    assert group is not None and sorted(group) == ["a.json", "b.bin"]
    assert Path(group["b.bin"]).read_bytes() == b"\x00" and "another machine" in group["b.bin"]
    assert there.get_file("c") is None and RemoteCacheManager("L").get_group("both") is None
    del Elsewhere.files["K", "b.bin"]
    assert there.get_group("both") is None


def test_what_is_dumped_and_put_in_place_of_stages_stays_here(folder: Path) -> None:
    knobs.cache.remote_manager_class = Elsewhere
    knobs.cache.dump_dir, knobs.cache.override_dir = str(folder / "dumped"), str(folder / "dumped")
    for kind in (RemoteCacheManager, FileCacheManager):
        knobs.cache.manager_class = kind
        dumped = cache.get_dump_manager(KEY)
        path = dumped.put("text", "k.ttir")
        assert path == str(folder / "dumped" / "AD7Q" / "k.ttir")
        read = cache.get_override_manager(KEY)
        assert read.get_file("k.ttir") == path and read.get_file("k.llir") is None
        with pytest.raises(RuntimeError, match="only read"):
            read.put("text", "k.llir")
        assert dumped.put_group("k", {"k.ttir": path}) and dumped.get_group("k") == {"k.ttir": path}
    assert not Elsewhere.files


def test_a_remote_cache_has_to_be_chosen() -> None:
    with pytest.raises(RuntimeError, match="TRITON_REMOTE_CACHE_BACKEND"):
        RemoteCacheManager("K")


def test_classes_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "tilewright.compat.cache:FileCacheManager")
    assert knobs.cache.manager_class is FileCacheManager
    knobs.cache.manager_class = RemoteCacheManager
    assert knobs.cache.manager_class is RemoteCacheManager
    del knobs.cache.manager_class
    assert knobs.cache.manager_class is FileCacheManager
    monkeypatch.setenv("TRITON_REMOTE_CACHE_BACKEND", "tilewright.compat.cache:FileCacheManager")
    with pytest.raises(KnobError, match="does not derive from RemoteCacheBackend"):
        _ = knobs.cache.remote_manager_class
    for text, words in (
        ("FileCacheManager", "module:class"),
        ("no.such.module:Class", "does not name a class: No module named 'no'"),
        ("tilewright.compat.cache:NoSuchManager", "does not name a class: .*NoSuchManager"),
        ("os:path", "does not derive from CacheManager"),
    ):
        monkeypatch.setenv("TRITON_CACHE_MANAGER", text)
        with pytest.raises(KnobError, match=words):
            _ = knobs.cache.manager_class
    monkeypatch.setenv("TRITON_REDIS_PORT", "7000")
    assert knobs.redis.port == 7000 and knobs.redis.host == "localhost"
    monkeypatch.setenv("TRITON_REMOTE_CACHE_BACKEND", "os:path")
    with pytest.raises(KnobError, match=r"^TRITON_REMOTE_CACHE_BACKEND='os:path' does not derive"):
        _ = knobs.cache.remote_manager_class
    monkeypatch.setenv("TRITON_REDIS_PORT", "abc")
    with pytest.raises(KnobError, match="TRITON_REDIS_PORT='abc': invalid literal for int"):
        _ = knobs.redis.port


class Server:
    """What the package `redis` has of a server."""

    kept: ClassVar[dict[str, bytes]] = {}

    def __init__(self, host: str, port: int) -> None:
        self.place = (host, port)

    def mget(self, names: list[str]) -> list[bytes | None]:
        return [self.kept.get(name) for name in names]

    def set(self, name: str, data: bytes) -> None:
        self.kept[name] = data


def test_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    redis: Any = ModuleType("redis")
    redis.Redis = Server
    monkeypatch.setitem(sys.modules, "redis", redis)
    knobs.redis.key_format = "{key}/{filename}"
    knobs.cache.remote_manager_class = RedisRemoteCacheBackend
    manager = RemoteCacheManager("K")
    manager.put(b"1", "a")
    assert Server.kept == {"K/a": b"1"} and manager.get_file("b") is None
    assert Path(manager.get_file("a") or "").read_bytes() == b"1"


def test_keys() -> None:
    signature = {"x": "*fp32", "n": "i32"}
    key = cache.make_so_cache_key("v", signature, {}, (), warp=32)
    assert key == cache.make_so_cache_key("v", {**signature, "x": "*fp16"}, {}, (), warp=32)
    assert key != cache.make_so_cache_key("v", signature, {}, (), warp=64)
    with pytest.raises(ValueError, match="hexadecimal"):
        cache.get_cache_manager("no digest")


def compile_again() -> Any:
    """A kernel, compiled or found by a function that remembers nothing."""

    @tilewright.jit
    def double(x_ptr, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(x_ptr + i, tl.load(x_ptr + i) * 2)

    x = np.arange(16, dtype=np.float32)
    double[(1,)](x, N=16)
    assert (x == 2 * np.arange(16)).all()


def test_kernels_are_shared_through_a_remote_cache(folder: Path) -> None:
    hits: list[bool] = []
    knobs.cache.manager_class, knobs.cache.remote_manager_class = RemoteCacheManager, Elsewhere
    with knobs.compilation.scope():
        knobs.compilation.listener = lambda **told: hits.append(told["cache_hit"])
        compile_again()
        assert hits == [False] and len(Elsewhere.files) == 1
        knobs.cache.dir = str(folder / "another machine")
        compile_again()
        assert hits == [False, True]
        ((place, data),) = Elsewhere.files.items()
        Elsewhere.files[place] = data[:-1] + bytes([data[-1] ^ 1])
        compile_again()
        assert hits == [False, True, False] and Elsewhere.files[place] == data


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_files_that_others_can_write_are_not_run() -> None:
    class Careless(FileCacheManager):
        def get_file(self, filename: str) -> str | None:
            if (path := super().get_file(filename)) is not None:
                os.chmod(path, 0o666)
            return path

    knobs.cache.manager_class = Careless
    compile_again()
    with pytest.warns(UserWarning, match="is not used"):
        compile_again()


def test_managers_are_abstract() -> None:
    with pytest.raises(TypeError):
        CacheManager("K")  # type: ignore[abstract]  # pyright: ignore[reportAbstractUsage]
