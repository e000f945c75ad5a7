"""Files of the user's that a command imports: what goes wrong in them is shown as Python shows it."""

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


def load_file(path: Path) -> ModuleType:
    """Import a file under a name of its own, with tilewright in the place of Triton. Raises UserFileError."""
    from tilewright import compat

    name = f"tilewright_replay_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        reason = "is not a Python file" if path.is_file() else "is not a file"
        raise UserFileError(f"{path} {reason}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with users_errors(f"{path} cannot be imported"), compat.standing_in():
            spec.loader.exec_module(module)
    finally:
        sys.modules.pop(name, None)
    return module


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
