"""The command line of `tilewright explain`; imports nothing of the compiler."""

from __future__ import annotations

import argparse
from typing import Any

from tilewright.tools.explore.parser import add_source_arguments

DESCRIPTION = """\
Compiles a kernel and shows, in the margin of its source, what costs time in its machine code and what to change: loads
that became gathers, loops over single elements, copies, tiles that outgrow the cache; for GPUs narrow accesses, loops
that are not pipelined, accesses without TMA, products without tensor cores. At the end stand
registers, spills with their lines, tiles in memory, shared memory and occupancy, as the machine code has them.
Nothing is run but the file's own code.

FILE and --signature are those of `tilewright explore`."""


def add_explain_parser(commands: Any) -> None:
    """Add `explain` to the `tilewright` command line."""
    parser = commands.add_parser(
        "explain",
        help="say what costs time in a kernel, line by line, and what to change",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_source_arguments(parser)
    parser.add_argument("--overlap", action="store_true", help="with --signature: the launch's arrays may overlap")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
