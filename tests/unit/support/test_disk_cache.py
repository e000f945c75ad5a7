"""The disk cache: round trips, damage, folders that cannot be written, what others may have written, its limit."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.children import Children
from tilewright.support import disk_cache, knobs
from tilewright.support.disk_cache import MAGIC, MEBIBYTE, DiskCache, Entry
from tilewright.tools.cli import main

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs users and modes of POSIX")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")

KEY = "ab" + "0" * 62


def entry() -> Entry:
    return Entry({"name": "k", "arena": 64}, {"obj": b"\x7fELF" * 9, "llir": b"define void @k()"})


def test_an_entry_comes_back_as_it_was_put(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache")
    assert cache.get(KEY) is None
    assert cache.put(KEY, entry())
    assert cache.get(KEY) == entry()
    assert cache.clear() == 1
    assert cache.get(KEY) is None


def test_the_folder_is_private(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache")
    cache.put(KEY, entry())
    assert cache.path(KEY).parent.stat().st_mode & 0o077 == 0
    assert cache.path(KEY).stat().st_mode & 0o077 == 0


@given(position=st.integers(0, 10_000), flip=st.integers(1, 255))
def test_any_flipped_byte_is_noticed(position: int, flip: int) -> None:
    data = bytearray(entry().encode())
    data[position % len(data)] ^= flip
    assert Entry.decode(bytes(data)) is None


@given(length=st.integers(0, 10_000))
def test_any_truncation_is_noticed(length: int) -> None:
    data = entry().encode()
    assert Entry.decode(data[: length % len(data)]) is None


def test_a_damaged_file_is_removed(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    cache.put(KEY, entry())
    cache.path(KEY).write_bytes(b"TILEWRIGHT1\nnonsense")
    assert cache.get(KEY) is None
    assert not cache.path(KEY).exists()
    assert cache.put(KEY, entry())
    assert cache.get(KEY) == entry()


def test_a_folder_that_cannot_be_written_costs_one_warning(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    cache = DiskCache(blocked)
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        assert not cache.put(KEY, entry())
    assert not cache.put(KEY, entry())
    assert cache.get(KEY) is None


def test_no_temporary_file_stays_behind_when_the_rename_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    cache = DiskCache(tmp_path)
    with pytest.warns(RuntimeWarning, match="No space left"):
        assert not cache.put(KEY, entry())
    assert list(tmp_path.glob("*/*")) == []


def filled(folder: Path) -> DiskCache:
    cache = DiskCache(folder / "cache")
    assert cache.put(KEY, entry())
    return cache


def assert_distrusted(cache: DiskCache, words: str) -> None:
    """Nothing is read and nothing written, with a warning each process once."""
    disk_cache._warn_once.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with pytest.warns(RuntimeWarning, match=words):
        assert cache.get(KEY) is None


@posix
@pytest.mark.parametrize(("mode", "words"), [(0o777, "by everybody.*chmod go-w"), (0o770, "by its group.*chmod go-w")])
def test_what_others_can_write_is_not_read(tmp_path: Path, mode: int, words: str) -> None:
    cache = filled(tmp_path)
    for path in (cache.path(KEY), cache.path(KEY).parent, cache.directory):
        assert path is not None
        kept = path.stat().st_mode
        path.chmod(mode)
        assert_distrusted(cache, words)
        path.chmod(kept)
        assert cache.get(KEY) == entry()


@posix
def test_nothing_is_written_where_others_can_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="is not trusted.*by everybody.*TILEWRIGHT_CACHE_DIR"):
        assert not DiskCache(tmp_path).put(KEY, entry())
    assert not list(tmp_path.glob("*/*"))


@as_root
def test_what_belongs_to_others_is_not_read(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    for path in (cache.path(KEY), cache.path(KEY).parent, cache.directory):
        assert path is not None
        os.chown(path, 12345, 12345)
        assert_distrusted(cache, "belongs to user 12345, not to user 0.*chown")
        os.chown(path, 0, 0)
        assert cache.get(KEY) == entry()


def test_links_pipes_and_devices_are_not_read(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    path = cache.path(KEY)
    outside = path.rename(tmp_path / "outside.twk")
    path.symlink_to(outside)
    assert_distrusted(cache, "is a link; remove it")
    path.unlink()
    path.symlink_to("/dev/zero")
    assert_distrusted(cache, "is a link; remove it")
    path.unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(path, 0o600)
        assert_distrusted(cache, "is not a regular file; remove it")
        path.unlink()
    path.parent.rename(tmp_path / "ab")
    path.parent.symlink_to(tmp_path / "ab")
    assert_distrusted(cache, "is a link; remove it")


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    assert cache.directory is not None
    (tmp_path / "link").symlink_to(cache.directory)
    assert DiskCache(tmp_path / "link").get(KEY) == entry()


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    os.truncate(cache.path(KEY), 1 << 40)
    assert_distrusted(cache, "more than the 268435456 of any entry")


def forged(header: bytes, sections: bytes = b"", size: int | None = None) -> bytes:
    body = (len(header) if size is None else size).to_bytes(8, "little") + header + sections
    return MAGIC + sha256(body).digest() + body


@pytest.mark.parametrize(
    "data",
    [
        forged(b"no json"),
        forged(b"\xff\xfe"),
        forged(b"[" * 100_000),
        forged(b"[1]"),
        forged(b'{"metadata": {}}'),
        forged(b'{"metadata": 1, "sections": {}}'),
        forged(b'{"metadata": {}, "sections": {"obj": "4"}}', b"1234"),
        forged(b'{"metadata": {}, "sections": {"obj": -4}}'),
        forged(b'{"metadata": {}, "sections": {"obj": 1000}}'),
        forged(b"{}", size=1 << 60),
        forged(b""),
        MAGIC + sha256(b"").digest(),
    ],
    ids=range(12),
)
def test_a_right_checksum_makes_no_entry(tmp_path: Path, data: bytes) -> None:
    cache = filled(tmp_path)
    cache.path(KEY).write_bytes(data)
    assert cache.get(KEY) is None
    assert not cache.path(KEY).exists()


def test_an_entry_is_not_taken_for_another(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    other = KEY[:-1] + "1"
    cache.path(KEY).rename(cache.path(other))
    assert cache.get(other) is None


PROGRAM = """
import numpy as np, tilewright as triton, tilewright.language as tl
@triton.jit
def add_one(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) + 1)
x = np.arange(64, dtype=np.int32)
o = x * 0
add_one[(1,)](x, o, B=64)
print((o == x + 1).all())
"""


def run_program(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process that launches a kernel."""
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(folder / "program.py")]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout == "True\n", done.stderr
    return done


def rewrite(path: Path, change: Any) -> None:
    found = Entry.decode(path.read_bytes())
    assert found is not None
    change(found)
    path.write_bytes(found.encode())


@pytest.mark.costly
def test_kernels_are_compiled_again_where_entries_are_not_what_they_should_be(
    tmp_path: Path, compiler_children: Children
) -> None:
    def run() -> None:
        done = compiler_children.run_text(PROGRAM, {"TILEWRIGHT_CACHE_DIR": str(tmp_path / "cache")}, tmp_path)
        assert done.stdout == "True\n", done.stderr

    run()
    for change in (
        lambda found: found.metadata.pop("entry"),
        lambda found: found.metadata.update(written=None),
        lambda found: found.metadata.update(object_bytes="many", arena_bytes=[]),
        lambda found: found.sections.pop("obj"),
        lambda found: found.sections.update(obj=b"no object"),
        lambda found: found.sections.update(llir=b"\xff"),
    ):
        for path in list((tmp_path / "cache").glob("*/*.twk")):
            if "entry" in json.dumps(getattr(Entry.decode(path.read_bytes()), "metadata", {})):
                rewrite(path, change)
        run()


@pytest.mark.costly
def test_users_without_a_home_get_a_warning_and_no_cache(tmp_path: Path) -> None:
    nobody = "import os, pwd\nfor name in ('HOME', 'XDG_CACHE_HOME', 'TILEWRIGHT_CACHE_DIR'): os.environ.pop(name, 0)\n"
    nobody += "def getpwuid(user): raise KeyError(user)\npwd.getpwuid = getpwuid\n"
    (tmp_path / "sitecustomize.py").write_text(nobody)
    done = run_program(tmp_path, PYTHONPATH=str(tmp_path))
    assert "HOME is not set" in done.stderr
    assert done.stderr.count("RuntimeWarning") == 1
    assert "Set TILEWRIGHT_CACHE_DIR" in done.stderr


def keys(count: int) -> list[str]:
    return [sha256(bytes([number])).hexdigest() for number in range(count)]


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    cache, now = DiskCache(tmp_path), time.time()
    large = Entry({}, {"obj": bytes(100_000)})
    with knobs.scope(cache_size=1):
        for age, key in enumerate(keys(20)):
            if age == 10:
                assert cache.get(keys(1)[0]) is not None  # the oldest is used again
            assert cache.put(key, large)
            os.utime(cache.path(key), (now - 100_000 + age,) * 2)
    present = {entry.key for entry in cache.entries()}
    assert sum(entry.size for entry in cache.entries()) <= MEBIBYTE
    assert present >= {keys(1)[0], *keys(20)[14:]}
    assert not present & set(keys(10)[1:])


def test_no_limit_keeps_everything(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    with knobs.scope(cache_size=0):
        for key in keys(15):
            cache.put(key, Entry({}, {"obj": bytes(100_000)}))
    assert len(cache.entries()) == 15


def write_many(folder: Path, seed: int) -> bool:
    """Write and read while others do: what is read is right."""
    knobs.set_value("cache_size", 1)
    cache = DiskCache(folder)
    for number in range(60):
        key = sha256(bytes([number % 20])).hexdigest()
        cache.put(key, Entry({}, {"obj": key.encode() * 2000}))
        other = sha256(bytes([(number * 7 + seed) % 20])).hexdigest()
        found = cache.get(other)
        if found is not None and found.sections["obj"] != other.encode() * 2000:
            return False
    return True


@pytest.mark.costly
def test_processes_share_the_limit(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(write_many, [(tmp_path, 1), (tmp_path, 2)]) == [True, True]
    assert sum(entry.size for entry in DiskCache(tmp_path).entries()) < 1.3 * MEBIBYTE


def test_the_cache_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = DiskCache(tmp_path)
    for age, key in zip((0, 7200, 3 * 86400), keys(3), strict=True):
        cache.put(key, Entry({"entry": f"kernel_{age}"}, {"obj": bytes(5000)}))
        os.utime(cache.path(key), (time.time() - age - 60,) * 2)
    with knobs.scope(cache_dir=str(tmp_path), cache_size=2):
        assert main(["cache", "list"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.split() for line in lines[:3]] == [
            [keys(1)[0][:12], "5", "KiB", "1", "minutes", "ago", "kernel_0"],
            [keys(2)[1][:12], "5", "KiB", "2", "hours", "ago", "kernel_7200"],
            [keys(3)[2][:12], "5", "KiB", "3", "days", "ago", f"kernel_{3 * 86400}"],
        ]
        assert lines[3] == f"{tmp_path}: 3 entries, 15 KiB of 2.0 MiB"
        assert main(["cache"]) == 0
        assert main(["cache", "clear"]) == 0
        assert capsys.readouterr().out.splitlines()[1] == f"removed 3 entries from {tmp_path}"
