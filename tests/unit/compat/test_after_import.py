"""Functions that are called after the import of a module of somebody else's."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from tilewright.compat.after_import import AfterImport

NAME = "somebody_elses_module"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of a module that nobody has imported."""
    path = tmp_path / f"{NAME}.py"
    path.write_text("value = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield path
    sys.modules.pop(NAME, None)


@pytest.mark.usefixtures("module")
def test_it_is_called_once_the_module_is_there() -> None:
    seen: list[int] = []
    wait = AfterImport(NAME, lambda: seen.append(sys.modules[NAME].value))
    wait.wait()
    wait.wait()
    assert not seen and NAME not in sys.modules
    found = importlib.import_module(NAME)
    assert seen == [3]
    assert type(found.__loader__) is SourceFileLoader and "exec_module" not in vars(found.__loader__)
    assert wait not in sys.meta_path
    importlib.reload(found)
    assert seen == [3]


@pytest.mark.usefixtures("module")
def test_it_is_called_at_once_after_an_import_and_never_after_a_stop() -> None:
    seen: list[str] = []
    stopped = AfterImport(NAME, lambda: seen.append("stopped"))
    stopped.wait()
    stopped.stop()
    importlib.import_module(NAME)
    assert not seen
    wait = AfterImport(NAME, lambda: seen.append("at once"))
    wait.wait()
    assert seen == ["at once"]
    wait.stop()
    wait.wait()
    assert seen == ["at once"]
    del sys.modules[NAME]
    wait.wait()
    importlib.import_module(NAME)
    assert seen == ["at once", "at once"]


def test_a_module_that_fails_is_waited_for_again(module: Path) -> None:
    seen: list[str] = []
    module.write_text("1 / 0\n")
    wait = AfterImport(NAME, lambda: seen.append("imported"))
    wait.wait()
    with pytest.raises(ZeroDivisionError):
        importlib.import_module(NAME)
    assert not seen
    module.write_text("value = 4\n# mended\n")
    importlib.invalidate_caches()
    importlib.import_module(NAME)
    assert seen == ["imported"]
