"""What a newcomer meets first: the Makefile's check of Python, the demo's table, `python -m tilewright`, metadata."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RECIPE = (ROOT / "conda" / "meta.yaml").read_text()


def run(*command: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a command, `make` as if no other one had started these tests."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def installs(extra: str) -> list[str]:
    return [re.split(r"[\[<>=]", name)[0] for name in PROJECT["optional-dependencies"][extra]]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("goal", ["demo", "test", "venv"])
def test_an_old_python_is_refused_in_one_sentence(tmp_path: Path, goal: str) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    old = tmp_path / "python3.10"
    old.write_text('#!/bin/sh\ntest "$1" = --version && { echo Python 3.10.9; exit 0; }\nexit 1\n')
    old.chmod(0o755)
    done = run("make", goal, f"PYTHON={old}", folder=tmp_path)
    assert done.returncode != 0
    assert done.stdout == f"tilewright needs Python 3.11 or newer; {old} is Python 3.10.9: make PYTHON=python3.12\n"
    assert not (tmp_path / ".venv").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_python_that_is_not_there_is_named(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    done = run("make", "demo", "PYTHON=no-such-python", folder=tmp_path)
    assert done.stdout == "tilewright needs Python 3.11 or newer; there is no no-such-python: make PYTHON=python3.12\n"


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_demo_installs_the_package_alone() -> None:
    planned = run("make", "--dry-run", "--always-make", "demo").stdout
    assert "pip install" in planned
    assert "[dev]" not in planned and "[test]" not in planned
    assert {"pyright", "ruff"}.isdisjoint(installs("test"))


def test_the_module_is_the_command() -> None:
    done = run(sys.executable, "-m", "tilewright", "--version")
    assert (done.stdout, done.returncode) == (f"tilewright {PROJECT['version']}\n", 0)


@pytest.mark.costly
def test_the_demos_table_fits_80_columns_and_says_what_a_first_call_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
    for first in ("cold", "first"):
        done = run(sys.executable, "examples/demo.py", "--kernel", "softmax")
        assert done.returncode == 0, done.stderr
        assert max(map(len, done.stdout.splitlines())) <= 80
        assert "…" not in done.stdout
        assert re.search(rf"kernel +error +{first} +warm +rate +NumPy +ratio", done.stdout), done.stdout


WIDE_ROW = """
import sys
from rich.console import Console
sys.path.insert(0, "examples")
import demo
table = demo.new_table("first")
table.add_row("attention\\n8 x 1024 x 64 f32", "1e-07", "12.34 s", "0.123 ms", "1234 GFLOP/s", "12.34 s", "123.45x")
Console(width=80).print(table)
"""


def test_a_wide_row_fits_too() -> None:
    """The longest names with the longest times."""
    done = run(sys.executable, "-c", WIDE_ROW)
    assert "123.45x" in done.stdout and "…" not in done.stdout, done.stdout + done.stderr


def test_versions_are_said_once() -> None:
    import tilewright

    assert tilewright.__version__ == PROJECT["version"]
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_conda_recipe_asks_for_what_the_package_does() -> None:
    for dependency in PROJECT["dependencies"]:
        name, comparison, version = re.split(r"([<>=]+)", dependency, maxsplit=1)
        assert f"    - {name} {comparison}{version}\n" in RECIPE
    assert f"    - python {PROJECT['requires-python']}\n" in RECIPE


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_every_python_is_declared_and_run(version: str) -> None:
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    assert workflow.count(f'"{version}"') >= 2
    assert version in (ROOT / "docs" / "versions.md").read_text()
