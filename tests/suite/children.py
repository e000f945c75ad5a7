"""Programs as children of one process, which has imported for all of them what takes seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pytest

TESTS = Path(__file__).parents[1]
"""On the path of what is imported for all, not on that of the programs."""

PARENT = """
import importlib, json, os, runpy, sys, traceback

sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
sys.path.remove(sys.argv[1])

def run(module, *arguments):
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

for line in sys.stdin:
    job = json.loads(line)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for number, file in ((1, job["out"]), (2, job["err"])):
                os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            os.environ.update(job["environment"])
            sys.path[:0] = filter(None, job["environment"].get("PYTHONPATH", "").split(os.pathsep))
            os.chdir(job["cwd"])
            status = run(*job["command"])
            for stream in (sys.stdout, sys.stderr):
                if not stream.closed:
                    stream.flush()
        finally:
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def start_children(*modules: str) -> Iterator[Children]:
    """The body of a fixture that has `Children`."""
    if not hasattr(os, "fork"):
        pytest.skip("the programs are children of one process")
    with Children(*modules) as children:
        yield children


class Children:
    """`with Children("torch") as children`: what `children.run` runs need not import PyTorch again."""

    def __init__(self, *modules: str) -> None:
        command = [sys.executable, "-c", PARENT, str(TESTS), *modules]
        self._parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Children:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._parent.communicate()

    def run(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path, *, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run `python -m COMMAND` with more environment variables; its output is kept in a folder."""
        out, err = folder / "out.txt", folder / "err.txt"
        job = {
            "command": list(command),
            "environment": dict(environment),
            "cwd": str(cwd or Path.cwd()),
            "out": str(out),
            "err": str(err),
        }
        assert self._parent.stdin is not None and self._parent.stdout is not None
        self._parent.stdin.write(json.dumps(job) + "\n")
        self._parent.stdin.flush()
        status = self._parent.stdout.readline()
        assert status, "the parent of the programs has ended"
        return subprocess.CompletedProcess(list(command), int(status), out.read_text(), err.read_text())

    def run_text(self, text: str, environment: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Run a program, which is put into the folder of its output."""
        (folder / "program.py").write_text(text)
        return self.run(["program"], {"PYTHONPATH": str(folder), **environment}, folder)
