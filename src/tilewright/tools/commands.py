"""Commands of the user's that a tool runs again and again to see whether they succeed."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence

from tilewright.support.errors import TilewrightError


class CommandError(TilewrightError):
    """A command that cannot be run."""


def split_command(text: str) -> list[str]:
    """The words of a command as a shell reads them. Raises CommandError."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise CommandError(f"the command {text!r} cannot be read: {error}") from None
    if not words:
        raise CommandError("the command is empty")
    return words


def succeeds(command: Sequence[str], environment: Mapping[str, str] | None = None) -> bool:
    """Return whether a command ends with status 0; what it prints is lost. Raises CommandError where it cannot be
    started.
    """
    try:
        done = subprocess.run(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
    except OSError as error:
        raise CommandError(f"the command {command[0]!r} cannot be run: {error.strerror}") from None
    return done.returncode == 0
