"""Errors of the commands are coloured where they go to a terminal, and say the same without colours."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from suite.children import Children
from tilewright.support.spans import Span, render_message
from tilewright.tools.cli import main
from tilewright.tools.colours import styled, write_diagnostic
from tilewright.tools.opt import run as run_opt

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
CASES = [
    ({}, False),
    ({"FORCE_COLOR": "1"}, True),
    ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ({"NO_COLOR": "1"}, False),
    ({"FORCE_COLOR": "1", "TERM": "dumb"}, False),
]
PROGRAM = """\
import numpy as np
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    tl.store(x, wrong)


if __name__ == "__main__":
    kernel[(1,)](np.ones(1))
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def set_environment(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(("given", "is_coloured"), CASES)
def test_the_environment_decides(given: dict[str, str], is_coloured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    set_environment(given, monkeypatch)
    text = render_message("error", "expected\ttwo", Span("k.py", 3, 5, 8), source_line="    [bold]x", hint="try one")
    stream = io.StringIO()
    write_diagnostic(text, stream)
    assert bool(ESCAPES.search(stream.getvalue())) == is_coloured
    if not is_coloured:
        assert stream.getvalue() == f"{text}\n"


def test_a_terminal_has_colours_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_wanted in (True, False):
        stream = Terminal()
        write_diagnostic("k.py:3: error: no such name", stream)
        assert bool(ESCAPES.search(stream.getvalue())) == is_wanted
        assert ESCAPES.sub("", stream.getvalue()) == "k.py:3: error: no such name\n"
        monkeypatch.setenv("NO_COLOR", "1")


def test_what_is_coloured() -> None:
    spans = {line[span.start : span.end]: str(span.style) for line in LINES for span in styled(line).spans}
    assert spans == {
        "k.py:3:5: ": "bold", "error": "bold red", "note": "bold cyan", "hint": "green", "        ^^^": "bold green",
    }  # fmt: skip


LINES = [
    "k.py:3:5: error: expected one: note: two",
    "    an error: of the program's own text",
    "        ^^^",
    "hint: try one",
    "note: called from here",
]


@pytest.mark.parametrize(("given", "is_coloured"), CASES[:3])
def test_commands(
    given: dict[str, str],
    is_coloured: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file that is missing, a kernel that does not compile, IR that does not parse: the texts differ by colours."""
    (tmp_path / "kernel.py").write_text(PROGRAM)
    (tmp_path / "wrong.mlir").write_text("builtin.module { %x = }\n")
    monkeypatch.chdir(tmp_path)
    commands = (["explain", "missing.py"], ["compile", "kernel.py:kernel", "-s", "*fp64", "-o", "out"])
    for command in commands:
        assert main(command) == 2
        check(capsys.readouterr().err, is_coloured=False, expected="error: ")
    set_environment(given, monkeypatch)
    for command in commands:
        assert main(command) == 2
        check(capsys.readouterr().err, is_coloured, "error: ")
    stream = io.StringIO()
    assert run_opt(["wrong.mlir"], stdout=io.StringIO(), stderr=stream) == 1
    check(stream.getvalue(), is_coloured, "wrong.mlir:1:")


@pytest.mark.costly
def test_programs(tmp_path: Path, compiler_children: Children) -> None:
    """The error of a program's kernel, behind the line that launched it."""
    (tmp_path / "kernel.py").write_text(PROGRAM)
    for more, is_coloured in CASES[:2]:
        done = compiler_children.run(["tilewright", "run", "kernel.py"], more, tmp_path, cwd=tmp_path)
        assert done.returncode == 1 and "kernel[(1,)](np.ones(1))" in done.stderr
        check(done.stderr, is_coloured, "kernel.py:8:17: error: ")


def check(said: str, is_coloured: bool, expected: str) -> None:
    assert bool(ESCAPES.search(said)) == is_coloured, said
    assert expected in ESCAPES.sub("", said)
