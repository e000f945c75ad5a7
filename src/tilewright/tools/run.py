"""`tilewright run SCRIPT [ARGS]`: run a Python script with tilewright standing in for `triton`."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from tilewright import compat
from tilewright.support import knobs
from tilewright.support.errors import TilewrightError
from tilewright.tools.user_files import users_frames


def run_script(script: str, arguments: Sequence[str]) -> int:
    """Run `script` as `__main__` with `sys.argv` and `sys.path` as Python itself would set them; the exit status.

    An error about the user's kernel is shown as its message, after the line of the script that led to it; any other
    exception as Python shows it.
    """
    path = Path(script)
    if not path.exists():
        print(f"tilewright: error: no such file: {script}", file=sys.stderr)
        return 2
    if path.is_dir() and not (path / "__main__.py").exists():
        print(f"tilewright: error: {script} is a folder without a __main__.py", file=sys.stderr)
        return 2
    compat.install()
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)) if path.is_file() else script)
    try:
        runpy.run_path(script, run_name="__main__")
    except TilewrightError as error:
        if knobs.get("debug"):
            raise
        print(users_frames(error) + str(error), file=sys.stderr)
        return 1
    except Exception as error:
        traceback.print_exception(error.with_traceback(_from_script(error.__traceback__)))
        return 1
    return 0


def _from_script(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames that started the script."""
    starters = {__name__, "runpy"}
    while trace is not None and trace.tb_frame.f_globals.get("__name__") in starters:
        trace = trace.tb_next
    return trace
