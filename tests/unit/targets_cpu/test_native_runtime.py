"""The native runtime's object comes from the disk cache, whatever befalls the cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tilewright.support import knobs
from tilewright.targets.cpu import native_runtime
from tilewright.targets.cpu.facts import host_facts, named_facts
from tilewright.targets.cpu.native_runtime import made_meanwhile, runtime_image
from tilewright.targets.launch_cache import native


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The processors that objects were compiled for."""
    made: list[str] = []

    def compile_text(text: str, facts: Any, **keywords: Any) -> bytes:
        made.append(facts.cpu)
        return b"object for " + facts.cpu.encode()

    monkeypatch.setattr(native, "compile_text", compile_text)
    return made


def test_it_is_compiled_once_for_each_machine(tmp_path: Path, compiled: list[str]) -> None:
    host, other = host_facts(), named_facts("x86-64")
    with knobs.scope(cache_dir=str(tmp_path)):
        images = [runtime_image(facts) for facts in (host, other, host, other)]
    assert images == [b"object for " + facts.cpu.encode() for facts in (host, other, host, other)]
    assert compiled == [host.cpu, other.cpu]


def test_a_damaged_object_is_made_again(tmp_path: Path, compiled: list[str]) -> None:
    with knobs.scope(cache_dir=str(tmp_path)):
        whole = runtime_image(host_facts())
        (path,) = (path for path in tmp_path.rglob("*") if path.is_file())
        data = bytearray(path.read_bytes())
        data[-3] ^= 1
        path.write_bytes(data)
        assert runtime_image(host_facts()) == whole
        assert runtime_image(host_facts()) == whole
    assert len(compiled) == 2


def test_without_a_cache(tmp_path: Path, compiled: list[str]) -> None:
    (tmp_path / "file").write_text("no folder")
    with knobs.scope(cache_dir=str(tmp_path / "file")), pytest.warns(RuntimeWarning, match="cannot be written"):
        assert runtime_image(host_facts()) == runtime_image(host_facts())
    assert len(compiled) == 2


@pytest.fixture
def forgotten() -> Iterator[None]:
    """A process that has not had an object of the runtime."""
    native_runtime._host_image.cache_clear()  # pyright: ignore[reportPrivateUsage]
    yield
    native_runtime._host_image.cache_clear()  # pyright: ignore[reportPrivateUsage]


@pytest.mark.usefixtures("forgotten")
def test_it_is_made_while_a_kernel_is_compiled(tmp_path: Path, compiled: list[str]) -> None:
    with knobs.scope(cache_dir=str(tmp_path)):
        for _ in range(2):
            with made_meanwhile():
                pass
            assert compiled == [host_facts().cpu]


@pytest.mark.usefixtures("forgotten", "compiled")
def test_what_fails_meanwhile_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_runtime, "runtime_image", lambda facts: 1 // 0)
    with made_meanwhile():
        pass
    with pytest.raises(ZeroDivisionError):
        native_runtime._host_image()  # pyright: ignore[reportPrivateUsage]
