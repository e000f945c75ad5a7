"""Standard streams that are closed, or that nothing more can be written to."""

from __future__ import annotations

import os
import sys
from errno import EBADF, EDQUOT, EFBIG, EIO, ENOSPC

STATUS = 141
"""The exit status of a program that SIGPIPE ended, as shells have it."""


def open_closed_streams() -> None:
    """A stream that was closed before the program began (`>&-`), which Python has None for, is empty from now on."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def is_about_output(error: OSError) -> bool:
    """Return whether a stream could not be written to: a full disk, say."""
    return error.filename is None and error.errno in (EBADF, EDQUOT, EFBIG, EIO, ENOSPC)


def leave_full_output(program: str, error: OSError) -> int:
    """Say so, and leave it; the exit status."""
    print(f"{program}: error: cannot write the output: {error.strerror}", file=sys.stderr)
    write_nowhere()
    return 1


def leave_closed_pipe() -> int:
    """Commands whose reader leaves early, as in `tilewright knobs | head`, end without a word; the exit status."""
    write_nowhere()
    return STATUS


def write_nowhere() -> None:
    """Discard what is still to be written, also when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
