"""Imports of user files by commands: their errors are shown as Python would show them."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from tilewright.support.errors import TilewrightError


class UserFileError(TilewrightError):
    """A file that a command was given is of no use: it is missing, an exception left it, or it gives something else."""


def load_file(path: Path, *, as_main: bool = False) -> ModuleType:
    """Import a file with tilewright in place of Triton, under a name of its own or as `__main__`, so that what stands
    under `if __name__ == "__main__"` runs. Raises UserFileError."""
    from tilewright import compat

    name = "__main__" if as_main else f"tilewright_replay_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        reason = "is not a Python file" if path.is_file() else "is not a file"
        raise UserFileError(f"{path} {reason}")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        with users_errors(f"{path} cannot be {'run' if as_main else 'imported'}"), compat.standing_in(), _alone(path):
            try:
                spec.loader.exec_module(module)
            except SystemExit as end:
                if not as_main or end.code:
                    raise
    finally:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before
        if folder in sys.path:
            sys.path.remove(folder)
    return module


@contextmanager
def _alone(path: Path) -> Generator[None]:
    """A file is run as by `python FILE`: the arguments of the tool's own command line are not its own."""
    given, sys.argv = sys.argv, [str(path)]
    try:
        yield
    finally:
        sys.argv = given


@contextmanager
def users_errors(what: str) -> Generator[None]:
    """An exception that leaves code of the user's in here is a UserFileError: `what`, and where it was, as Python shows
    it. Errors of ours are none of these."""
    try:
        yield
    except TilewrightError:
        raise
    except (Exception, SystemExit) as error:
        said = "".join(traceback.format_exception_only(error)).rstrip()
        raise UserFileError(f"{what}\n{users_frames(error)}{said}") from error


def users_frames(error: BaseException) -> str:
    """The lines of the user's own files that led to an error, outermost first."""
    package = str(Path(__file__).resolve().parent.parent)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((package, "<")) and "runpy" not in frame.filename
    ]
    return "".join(f"{frame.filename}:{frame.lineno}: in {frame.name}\n    {frame.line}\n" for frame in frames)
