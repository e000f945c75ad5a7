"""The suite keeps what it compiles out of its user's caches."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from suite.cache_folder import MARK, VARIABLES, enter_cache_folder, leave_cache_folder
from tilewright.support.disk_cache import cache_directory, cache_directory_or_temporary

PROGRAM = "from tilewright.support.disk_cache import cache_directory; print(cache_directory())"


def is_in_temporary_folder(path: Path) -> bool:
    return path.resolve().is_relative_to(Path(tempfile.gettempdir()).resolve())


def test_the_cache_is_the_suites_own() -> None:
    assert "tilewright-tests-" in str(cache_directory_or_temporary())
    assert is_in_temporary_folder(cache_directory_or_temporary())


@pytest.mark.parametrize("variable", VARIABLES)
def test_every_cache_is_in_the_suites_folder(variable: str) -> None:
    assert Path(os.environ[variable]).is_relative_to(os.environ[MARK])


def test_processes_that_tests_start_use_it_too() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(cache_directory())


def test_without_our_variable_the_users_cache_is_safe() -> None:
    bare = {name: value for name, value in os.environ.items() if name != "TILEWRIGHT_CACHE_DIR"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=bare, capture_output=True, text=True, check=True)
    assert is_in_temporary_folder(Path(done.stdout.strip()))


def test_runs_that_are_one_share_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The caller's, which stays there; a cache that has a folder of its own keeps it."""
    monkeypatch.setenv(MARK, str(tmp_path))
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TRITON_HOME", "elsewhere")
    leave_cache_folder(enter_cache_folder())
    assert tmp_path.is_dir()
    assert os.environ["TILEWRIGHT_CACHE_DIR"] == str(tmp_path / "tilewright")
    assert os.environ["TRITON_HOME"] == "elsewhere"
