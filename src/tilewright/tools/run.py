"""`tilewright run SCRIPT [ARGS]`: run a Python script with tilewright standing in for `triton`."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from tilewright import compat
from tilewright.support import knobs
from tilewright.support.errors import TilewrightError


def run_script(script: str, arguments: Sequence[str]) -> int:
    """Run `script` as `__main__` with `sys.argv` and `sys.path` as Python itself would set them; the exit status.

    An error about the user's kernel is shown as its message, after the line of the script that led to it.
    """
    path = Path(script)
    if not path.exists():
        print(f"tilewright: error: no such file: {script}", file=sys.stderr)
        return 2
    compat.install()
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)) if path.is_file() else script)
    try:
        runpy.run_path(script, run_name="__main__")
    except TilewrightError as error:
        if knobs.get("debug"):
            raise
        print(_user_frames(error) + str(error), file=sys.stderr)
        return 1
    return 0


def _user_frames(error: BaseException) -> str:
    """The lines of the user's own files that led to an error, outermost first."""
    package = str(Path(__file__).resolve().parent.parent)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((package, "<")) and "runpy" not in frame.filename
    ]
    return "".join(f"{frame.filename}:{frame.lineno}: in {frame.name}\n    {frame.line}\n" for frame in frames)
