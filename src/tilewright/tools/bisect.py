"""`tilewright bisect -- CMD`: which pass, and which rewrite, makes a command fail.

The command is run again and again with fewer of the passes that a kernel can do without, until it is known which one
makes the difference; then with fewer rewrites in that pass. It must fail (a status other than 0) as it is and succeed
without those passes.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tilewright.tools.commands import CommandError, succeeds


def run_bisect(options: argparse.Namespace) -> int:
    """The command; the exit status is 0 where a culprit was found. Raises CommandError."""
    first, *rest = options.arguments or [""]
    command = rest if first == "--" else options.arguments
    if not command:
        raise CommandError("bisect needs a command: tilewright bisect -- CMD ARGS")
    with tempfile.TemporaryDirectory(prefix="tilewright-bisect-") as folder:
        return _search(command, Path(folder) / "log")


def _search(command: Sequence[str], log: Path) -> int:
    def fails(passes: int | None, rewrites: int | None = None) -> bool:
        return not _run(command, passes, rewrites, log)

    if not fails(None):
        print("the command succeeds: there is nothing to find")
        return 1
    total = len(_read(log))
    if not total:
        print("the command compiles no kernel (is the cache in the way? it is turned off for you)")
        return 1
    if fails(0):
        print(f"the command fails without any of the {total} passes that can be left out: a lowering is to blame")
        return 1
    number = smallest(1, total, lambda count: fails(count))
    fails(number)
    name, count = _read(log)[number - 1][1:3]
    print(f"pass {number} of {total} makes the command fail: {name}")
    if not int(count) or fails(number, 0):
        print(f"not by a rule ({count} rewrites in this pass)")
        return 0
    rewrite = smallest(1, int(count), lambda limit: fails(number, limit))
    fails(number, rewrite)
    print(f"rewrite {rewrite} of {count}: {_read(log)[number - 1][3]}")
    return 0


def smallest(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The smallest number in [low, high] for which something holds that holds for `high` and all after the first."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _run(command: Sequence[str], passes: int | None, rewrites: int | None, log: Path) -> bool:
    """Return whether the command succeeds under limits."""
    log.unlink(missing_ok=True)
    words = ["" if number is None else str(number) for number in (passes, rewrites)]
    environment = os.environ | {"TILEWRIGHT_BISECT": ":".join([*words, str(log)]), "TILEWRIGHT_ALWAYS_COMPILE": "1"}
    return succeeds(command, environment)


def _read(log: Path) -> list[list[str]]:
    """Number, name, count of rewrites and last rewrite of each pass that ran."""
    return [line.split("\t") for line in log.read_text().splitlines()] if log.exists() else []
