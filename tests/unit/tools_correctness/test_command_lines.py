"""What the commands say to unusable command lines and files: one message, an exit status, and no traceback of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.support import knobs
from tilewright.tools.cli import main
from tilewright.tools.closed_pipes import STATUS

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"

FILES = {
    "missing_module.py": "import there_is_no_such_module\n",
    "syntax.py": "def f(:\n",
    "leaves.py": "import sys\nsys.exit(3)\n",
    "divides.py": "x = 1 / 0\n",
    "empty.py": "x = 1\n",
    "text.txt": "no Python\n",
    "module.mlir": "tt.func public @k() {\n  tt.return\n}\n",
    "module.ttir": "tt.func public @k() {\n  tt.return\n}\n",
    "kernel.py": """\
import numpy as np
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, 1.0, mask=i < n)


def tilewright_inputs():
    return kernel, (1,), {"x_ptr": np.zeros(10, np.float32), "n": 10, "BLOCK": 100}
""",
    "gives_a_number.py": "def tilewright_inputs():\n    return 3\n",
    "gives_a_function.py": "def tilewright_inputs():\n    return [(print, (1,), {})]\n",
    "gives_nothing.py": "def tilewright_inputs():\n    return {}['x']\n",
}

CASES: list[tuple[str, list[str], str]] = [
    ("validate-no-file", ["validate", "nowhere.py"], "tilewright: error: no such file: nowhere.py"),
    ("validate-folder", ["validate", "."], "tilewright: error: no such file: ."),
    ("validate-empty", ["validate", "empty.py"], "empty.py: no launch of a kernel was found"),
    ("validate-text", ["validate", "text.txt"], "text.txt is not a Python file"),
    ("validate-import", ["validate", "missing_module.py"], "ModuleNotFoundError: No module named 'there_is_no_such"),
    ("validate-line", ["validate", "divides.py"], "divides.py:1: in <module>\n    x = 1 / 0\nZeroDivisionError"),
    ("validate-syntax", ["validate", "syntax.py"], "SyntaxError: invalid syntax"),
    ("validate-leaves", ["validate", "leaves.py"], "SystemExit: 3"),
    ("validate-kernel", ["validate", "kernel.py"], "kernel.py:8:9: error: arange's range must be a power of 2"),
    ("validate-target", ["validate", "kernel.py", "--target", "tpu"], "there is no target 'tpu'; known are: cpu, cuda"),
    (
        "validate-number",
        ["validate", "gives_a_number.py"],
        "(kernel, grid, keywords), or a list of these, not 3",
    ),
    ("validate-function", ["validate", "gives_a_function.py"], "or a list of these, not (<built-in function print>"),
    (
        "validate-inputs",
        ["validate", "gives_nothing.py"],
        "gives_nothing.py:2: in tilewright_inputs\n    return {}",
    ),
    ("validate-arch", ["validate", "kernel.py", "--target", "cuda_sim:sm12"], "no GPU architecture 'sm12'"),
    ("reduce-no-file", ["reduce", "nowhere.mlir", "--keep", "true"], "error: nowhere.mlir: No such file or directory"),
    ("reduce-binary", ["reduce", "bytes.mlir", "--keep", "true"], "bytes.mlir is not text"),
    ("reduce-command", ["reduce", "module.mlir", "--keep", "no-such-command"], "the command 'no-such-command' cannot"),
    ("reduce-quotes", ["reduce", "module.mlir", "--keep", "grep 'x"], "cannot be read: No closing quotation"),
    ("reduce-nothing", ["reduce", "module.mlir", "--keep", ""], "the command is empty"),
    ("reduce-fails", ["reduce", "module.mlir", "--keep", "false"], "does not succeed for the file as it is"),
    ("reduce-output", ["reduce", "module.mlir", "--keep", "true", "-o", "no/x"], "no/x: No such file or directory"),
    ("bisect-nothing", ["bisect"], "bisect needs a command"),
    ("bisect-dashes", ["bisect", "--"], "bisect needs a command"),
    ("bisect-command", ["bisect", "--", "no-such-command"], "the command 'no-such-command' cannot be run"),
    ("layout-shape", ["layout", BLOCKED, "3x4"], "every extent must be a power of two, got 3x4"),
    ("layout-rank", ["layout", BLOCKED, "32"], "layout of rank 2 on a tensor of rank 1"),
    ("layout-size", ["layout", BLOCKED, "65536x1024"], "a tensor of 67108864 elements is too large to draw"),
    ("layout-none", ["layout", "#ttg.nope<{}>", "4x4"], "'#ttg.nope<{}>' is not a layout encoding: 'ttg.nope' is not"),
    ("layout-type", ["layout", "i32", "4x4"], "'i32' is not a layout encoding"),
    ("layout-svg", ["layout", BLOCKED, "32x32", "--svg", "no/x.svg"], "no/x.svg: No such file or directory"),
    ("fuzz-replay", ["fuzz", "--replay", "nowhere.py"], "nowhere.py is not a file"),
    ("fuzz-no-inputs", ["fuzz", "--replay", "empty.py"], "empty.py has no tilewright_inputs()"),
    ("fuzz-inputs", ["fuzz", "--replay", "gives_nothing.py"], "tilewright_inputs() fails\n"),
    ("explore-binary", ["explore", "bytes.ttir"], "bytes.ttir:1:1: error: this is not UTF-8 text"),
    ("explore-inputs", ["explore", "gives_a_number.py"], "or a list of these, not 3"),
    ("explore-typed", ["explore", "module.ttir", "-s", "i32"], "module.ttir is IR, which has one kernel and its types"),
    ("explore-named", ["explore", "module.ttir:k"], "module.ttir is IR, which has one kernel and its types"),
    ("explore-line", ["explore", "module.ttir", "--line", "0"], "has no line 0"),
    ("explore-pass", ["explore", "module.ttir", "--pass", ""], "no pass '' ran; these did: "),
    ("explore-cpu", ["explore", "module.ttir", "-t", "cpu:z80"], "no processor 'z80'"),
    ("compile-import", ["compile", "missing_module.py:k", "-s", "i32"], "missing_module.py cannot be imported"),
    ("run-no-file", ["run", "nowhere.py"], "no such file: nowhere.py"),
    ("run-folder", ["run", "."], "is a folder without a __main__.py"),
]

UNUSABLE: list[tuple[list[str], str]] = [
    (["fuzz", "--jobs", "0"], "0 is not at least 1"),
    (["fuzz", "--kernels", "-1"], "-1 is negative"),
    (["fuzz", "--minutes", "0"], "0 minutes are no time"),
    (["layout", BLOCKED, "4x4", "--bits", "7"], "invalid choice: 7"),
    (["explore", "k.py", "--line", "3", "--stage", "llir"], "not allowed with argument"),
    (["no-such-command"], "invalid choice: 'no-such-command'"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the files above."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for name in ("bytes.mlir", "bytes.ttir"):
        (tmp_path / name).write_bytes(b"\xff\xfe")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("words", "message"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_messages(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert captured.err.count("error:") == 1 or "Error:" in captured.err


@pytest.mark.parametrize(("words", "message"), UNUSABLE, ids=[words[-1] for words, _ in UNUSABLE])
def test_unusable_words(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert message in capsys.readouterr().err


def test_exceptions_of_scripts_are_shown_from_the_script_on() -> None:
    # In a process of its own: `run` takes the name `triton` for the whole process.
    command = [sys.executable, "-m", "tilewright.tools.cli", "run", "divides.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("File ") == 1
    assert "x = 1 / 0" in done.stderr


def test_nothing_is_hidden_from_who_asks() -> None:
    with knobs.scope(tracebacks=True), pytest.raises(OSError, match=r"nowhere\.mlir"):
        main(["reduce", "nowhere.mlir", "--keep", "true"])


COMMANDS = ["tilewright.tools.cli knobs", "tilewright.tools.opt --list-passes"]


def entry_of(command: str) -> list[str]:
    """A process that runs it."""
    module, argument = command.split()
    entry = f"import sys; from {module} import main; sys.argv[1:] = ['{argument}']; sys.exit(main())"
    return [sys.executable, "-c", entry]


@pytest.mark.costly
@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_leaves_early_ends_the_command(command: str) -> None:
    """As `head` does: without a traceback, with the status that a shell gives for SIGPIPE."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(entry_of(command), stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (STATUS, b"")


@pytest.mark.costly
@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_that_nothing_can_be_written_to(command: str) -> None:
    """A full disk is said to be one; a stream that was closed before the command began is none."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("w") as output:
        done = subprocess.run(entry_of(command), stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("error: cannot write the output: No space left on device\n")
    assert done.stderr.count("\n") == 1
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&- >&-', "sh", *entry_of(command)], stderr=subprocess.PIPE, text=True, check=False
    )
    assert (closed.returncode, closed.stderr) == (0, "")
