"""The disk cache: round trips, damage, folders that cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.support.disk_cache import DiskCache, Entry

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
