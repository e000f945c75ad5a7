"""The command line of `tilewright explore`; imports nothing of the compiler."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from tilewright.tools.aot.parser import add_compilation_arguments
from tilewright.tools.command_parser import CommandParser

DESCRIPTION = """\
Shows a kernel at every stage and after every pass, each line of IR with the source line that it comes from.

FILE is a Python file with a kernel, which --signature says the types of, as for `tilewright compile`; without it they
are those of the first launch that the file makes, or made up. Or FILE is IR whose suffix names its stage (kernel.ttir).

Without further options a table of passes is printed. --output writes a page for a browser that needs nothing else,
--serve shows it on an address of this machine, --watch compiles again whenever the file is saved: the page then
compares what was with what is. --compare "-t cuda:90 --num-warps 8" puts another version beside it, with these
arguments in place of the others."""


def add_explore_parser(commands: Any) -> None:
    """Add `explore` to the `tilewright` command line."""
    parser = commands.add_parser(
        "explore",
        help="look at a kernel after every pass, in the terminal or in a browser",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_source_arguments(parser)
    parser.free_flags = frozenset({"--compare"})
    parser.add_argument(
        "--watch", action="store_true", help="with --output or --serve: again whenever the file is saved"
    )
    parser.add_argument(
        "--compare", action="append", default=[], metavar="ARGS", help="a further version: its own arguments, in quotes"
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--output", "-o", metavar="PAGE.html", help="write the page")
    shown.add_argument(
        "--serve", nargs="?", const=0, type=int, metavar="PORT", help="show the page at http://127.0.0.1:PORT/"
    )
    shown.add_argument("--stage", metavar="NAME", help="print one stage: source, ttir, linalg, ... llir, asm, ptx")
    shown.add_argument("--pass", dest="pass_", metavar="NAME", help="print what a pass changed, each time it ran")
    shown.add_argument("--line", type=int, metavar="N", help="print what becomes of a source line in each stage")


def version_of(options: argparse.Namespace, text: str) -> argparse.Namespace:
    """The arguments of a version to compare with: those of the command line, but for what its own text says."""
    parser = CommandParser(prog="--compare", add_help=False)
    add_source_arguments(parser, nargs="?", default=argparse.SUPPRESS)
    return parser.parse_args(shlex.split(text), argparse.Namespace(**vars(options)))


def add_source_arguments(parser: argparse.ArgumentParser, **file: Any) -> None:
    """Add the arguments for what is compiled, and for which target: see `sources`."""
    parser.add_argument(
        "file", metavar="FILE[:KERNEL]", help="a Python file and a kernel in it, or a file of IR", **file
    )
    parser.add_argument("--signature", "-s", help="as '*fp32:16, *fp32:16, i32, 1024'")
    parser.add_argument("--main", action="store_true", help="run the file as a program to see what it launches")
    add_compilation_arguments(parser)
