"""File tests: every ``*.mlir`` here with ``RUN:`` lines is a test, one item per line, run inside this process.

    // RUN: tilewright-opt %s --canonicalize | filecheck %s
    // RUN: not tilewright-opt %s --no-such-pass 2>&1 | filecheck %s --check-prefix=BAD
    // RUN: tilewright-opt %s --triton-to-linalg | mlir-opt
    // RUN: tilewright-opt %s --canonicalize | exact %s

`exact` compares with the comment block under ``// EXACT:`` at the end of the file (``--prefix=NAME`` for another
name); ``pytest --bless`` rewrites such blocks. `mlir-opt` and other LLVM tools run as processes, and the line is
skipped where they are not installed. ``%s`` is the file, ``%t`` a fresh path for a temporary file.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser

from tilewright.tools import opt

_RUN = re.compile(r"//\s*RUN:\s*(.*)")
_EXTERNAL_TOOLS = ("mlir-opt", "mlir-translate", "llc", "opt")
_LLVM_FOLDERS = ("/usr/lib/llvm-22/bin", "/usr/local/opt/llvm/bin", "/opt/homebrew/opt/llvm/bin")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the EXACT blocks of file tests")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".mlir":
        return None
    return MlirFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownMemberType]


class MlirFile(pytest.File):
    """One file; its RUN lines, continued by a backslash, are the items."""

    def collect(self) -> Iterator[pytest.Item]:
        lines = list(_run_lines(self.path.read_text(encoding="utf-8")))
        for index, line in enumerate(lines):
            name = f"run{index + 1}" if len(lines) > 1 else "run"
            yield RunLine.from_parent(self, name=name, line=line)  # pyright: ignore[reportUnknownMemberType]


def _run_lines(text: str) -> Iterator[str]:
    pending = ""
    for line in text.split("\n"):
        found = _RUN.search(line)
        if found is None:
            continue
        pending += found[1].rstrip()
        if pending.endswith("\\"):
            pending = pending[:-1] + " "
            continue
        yield pending
        pending = ""


class FileTestError(Exception):
    """A step of a RUN line did not do what the line asks for; the message is all that pytest shows."""


class RunLine(pytest.Item):
    """One RUN line: commands joined by pipes."""

    def __init__(self, *, line: str, **arguments: Any) -> None:
        super().__init__(**arguments)  # pyright: ignore[reportUnknownMemberType]
        self.line = line

    def runtest(self) -> None:
        text = ""
        with tempfile.TemporaryDirectory(prefix="tilewright-file-test-") as folder:
            for step in _parse_line(self.line, self.path, Path(folder) / "file.tmp"):
                text = _run_step(step, text, bless=bool(self.config.getoption("--bless")))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, FileTestError):
            return f"RUN: {self.line}\n\n{excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.name}: {self.line}"


@dataclass(frozen=True)
class Step:
    """One command of a pipe. `negate`: it has to fail. `merge_errors`: its error stream joins its output."""

    words: tuple[str, ...]
    negate: bool
    merge_errors: bool


def _parse_line(line: str, path: Path, temporary: Path) -> list[Step]:
    steps: list[Step] = []
    for command in _split_at_pipes(line):
        words = [word.replace("%s", str(path)).replace("%t", str(temporary)) for word in command]
        merge_errors = "2>&1" in words
        words = [word for word in words if word != "2>&1"]
        negate = words[0] == "not"
        steps.append(Step(tuple(words[1:] if negate else words), negate, merge_errors))
    return steps


def _split_at_pipes(line: str) -> list[list[str]]:
    commands: list[list[str]] = [[]]
    for word in shlex.split(line):
        if word == "|":
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


def _run_step(step: Step, text: str, *, bless: bool) -> str:
    name, *arguments = step.words
    match name:
        case "tilewright-opt":
            code, output, errors = _run_opt(arguments, text, merge_errors=step.merge_errors)
        case "filecheck" | "FileCheck":
            code, output, errors = _run_filecheck(arguments, text)
        case "exact":
            code, output, errors = _run_exact(arguments, text, bless=bless)
        case "cat":
            code, output, errors = 0, Path(arguments[0]).read_text(encoding="utf-8"), ""
        case _ if name in _EXTERNAL_TOOLS:
            code, output, errors = _run_external(name, arguments, text, merge_errors=step.merge_errors)
        case _:
            raise FileTestError(f"unknown command '{name}' in a RUN line")
    if (code != 0) != step.negate:
        wanted = "fail" if step.negate else "succeed"
        raise FileTestError(
            f"'{shlex.join(step.words)}' did not {wanted} (exit code {code})\n{errors}\n{_excerpt(text)}"
        )
    return output


def _excerpt(text: str) -> str:
    return f"--- its input ---\n{text}" if text else ""


def _run_opt(arguments: list[str], text: str, *, merge_errors: bool) -> tuple[int, str, str]:
    output = io.StringIO()
    errors = output if merge_errors else io.StringIO()
    code = opt.run(arguments, io.StringIO(text), output, errors)
    return code, output.getvalue(), "" if merge_errors else errors.getvalue()


def _run_filecheck(arguments: list[str], text: str) -> tuple[int, str, str]:
    options = parse_argv_options(["filecheck", *arguments])
    matcher = Matcher(options, FInput("-", text), Parser.from_opts(options))
    matcher.stderr = io.StringIO()
    return matcher.run(), "", matcher.stderr.getvalue()


def _find_tool(name: str) -> str | None:
    folders = [folder for folder in (os.environ.get("LLVM22", ""), *_LLVM_FOLDERS) if folder]
    return next((found for folder in folders if (found := shutil.which(name, path=folder))), None)


def _run_external(name: str, arguments: list[str], text: str, *, merge_errors: bool) -> tuple[int, str, str]:
    tool = _find_tool(name)
    if tool is None:
        pytest.skip(f"{name} of LLVM 22 is not installed")
    done = subprocess.run([tool, *arguments], input=text, capture_output=True, text=True, timeout=60, check=False)
    output = done.stdout + done.stderr if merge_errors else done.stdout
    return done.returncode, output, done.stderr


def _run_exact(arguments: list[str], text: str, *, bless: bool) -> tuple[int, str, str]:
    """Compare with the block ``// PREFIX:`` and the comment lines after it; with --bless write it."""
    prefix = next((word.partition("=")[2] for word in arguments if word.startswith("--prefix=")), "EXACT")
    path = Path(next(word for word in arguments if not word.startswith("--")))
    content = path.read_text(encoding="utf-8")
    block = re.compile(rf"^// {re.escape(prefix)}:\n((?:^//.*\n?)*)", re.MULTILINE)
    wanted = "".join(f"// {line}".rstrip() + "\n" for line in text.rstrip("\n").split("\n"))
    found = block.search(content)
    if found is not None and found[1] == wanted:
        return 0, "", ""
    if bless:
        replacement: Callable[[re.Match[str]], str] = lambda _: f"// {prefix}:\n{wanted}"  # noqa: E731
        new = block.sub(replacement, content) if found else f"{content.rstrip()}\n\n// {prefix}:\n{wanted}"
        path.write_text(new, encoding="utf-8")
        return 0, "", ""
    return (
        1,
        "",
        f"the output differs from the block '// {prefix}:' (pytest --bless rewrites it):\n{_diff(found, wanted)}",
    )


def _diff(found: re.Match[str] | None, wanted: str) -> str:
    import difflib

    old = found[1].splitlines(keepends=True) if found else []
    return "".join(difflib.unified_diff(old, wanted.splitlines(keepends=True), "in the file", "printed now"))
