"""`tilewright run SCRIPT [ARGS]`, `tilewright run -m MODULE [ARGS]`: run a program with tilewright standing in for
`triton`."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from tilewright import compat
from tilewright.compat import real_name
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
    return _run(lambda: runpy.run_path(script, run_name="__main__"))


def run_module(name: str, arguments: Sequence[str]) -> int:
    """The same for a module, as `python -m` finds it: `pytest`, `triton.tools.compile`."""
    compat.install()
    sys.argv = [name, *arguments]
    sys.path.insert(0, os.getcwd())
    try:
        spec = find_spec(name)
    except ImportError:
        spec = None
    if spec is None:
        print(f"tilewright: error: no module named {name}", file=sys.stderr)
        return 2
    # A module of ours under Triton's name is run as itself: its alias has no code of its own.
    real = spec.name if spec.has_location else real_name(name)
    return _run(lambda: runpy.run_module(real, run_name="__main__", alter_sys=True))


def _run(program: Callable[[], object]) -> int:
    """Run it; the exit status."""
    try:
        program()
    except TilewrightError as error:
        if knobs.get("debug"):
            raise
        from tilewright.tools.colours import write_diagnostic

        sys.stderr.write(users_frames(error))
        write_diagnostic(str(error), sys.stderr)
        return 1
    except Exception as error:
        traceback.print_exception(error.with_traceback(_from_script(error.__traceback__)))
        if advice := _advice(error):
            print(f"hint: {advice}", file=sys.stderr)
        return 1
    return 0


def _advice(error: Exception) -> str:
    """Return what scripts for a GPU or for an older Triton should say instead; empty where nothing is known."""
    text = str(error)
    if "Torch not compiled with CUDA" in text or "Found no NVIDIA driver" in text:
        return 'there is no GPU for PyTorch here: write device="cpu", and kernels run where their tensors are'
    is_about_triton = isinstance(error, ModuleNotFoundError | AttributeError) and "'triton" in text
    if is_about_triton and text.endswith(("'triton.ops'", "'ops'")):
        from tilewright.frontend.advice import OF_OTHER_LIBRARIES

        return OF_OTHER_LIBRARIES["ops"]
    return ""


def _from_script(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames that started the script."""
    starters = {__name__, "runpy"}
    while trace is not None and trace.tb_frame.f_globals.get("__name__") in starters:
        trace = trace.tb_next
    return trace
