"""Commands whose reader leaves early, as in `tilewright knobs | head`, end without a word."""

from __future__ import annotations

import os
import sys

STATUS = 141
"""The exit status of a program that SIGPIPE ended, as shells have it."""


def leave_closed_pipe() -> int:
    """What is still to be written goes nowhere, also when Python ends; the exit status."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return STATUS
