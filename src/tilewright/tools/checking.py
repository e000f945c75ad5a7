"""The command lines of what looks for defects: validate, fuzz, reduce, bisect."""

from __future__ import annotations

import argparse
from typing import Any


def count(text: str) -> int:
    """A number that is not negative, for argparse."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is negative")
    return number


def positive(text: str) -> int:
    """A number of at least 1, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not at least 1")
    return number


def duration(text: str) -> float:
    """Minutes, more than none, for argparse."""
    minutes = float(text)
    if not minutes > 0:
        raise argparse.ArgumentTypeError(f"{text} minutes are no time")
    return minutes


def add_parsers(commands: Any) -> None:
    """Add the four commands to the `tilewright` command line."""
    validate = commands.add_parser("validate", help="run kernels after every pass and name the first that differs")
    validate.add_argument("file", help="a Python file, with :KERNEL for one kernel of it")
    validate.add_argument("--main", action="store_true", help="run the file as a program to see what it launches")
    validate.add_argument(
        "--target", default="cpu", metavar="NAME", help="cpu, cuda_sim:sm80, cuda_sim:sm90 or cuda (default cpu)"
    )

    fuzz = commands.add_parser("fuzz", help="random kernels on all engines, mutated IR through the parser and passes")
    fuzz.add_argument(
        "--minutes", type=duration, help="how long to run (default 1, or as long as the numbers below take)"
    )
    fuzz.add_argument("--kernels", type=count, default=0, help="stop after this many kernels")
    fuzz.add_argument("--addresses", type=count, default=0, help="stop after this many kernels of address algebra")
    fuzz.add_argument("--rows", type=count, default=0, help="stop after this many walks over rows")
    fuzz.add_argument("--gluon", type=count, default=0, help="stop after this many kernels in Gluon")
    fuzz.add_argument("--mutations", type=count, default=0, help="stop after this many mutated inputs")
    fuzz.add_argument("--passes", type=count, default=0, help="stop after this many kernels under random passes")
    fuzz.add_argument("--jobs", type=positive, default=1, help="processes that share the work (default 1)")
    fuzz.add_argument("--scheduler", metavar="ADDRESS", help="workers of a dask.distributed cluster share the work")
    fuzz.add_argument(
        "--gpu-every", type=count, default=2, metavar="N", help="one kernel in N on simulated GPUs (default 2; 0: none)"
    )
    fuzz.add_argument("--gpu", action="store_true", help="these kernels on the GPU that is there, too")
    fuzz.add_argument("--seed", type=int, default=None, help="first seed; by default taken from the clock")
    parts = ("kernels", "addresses", "rows", "gluon", "mutations", "passes")
    fuzz.add_argument("--only", choices=parts, help="run one of the five")
    fuzz.add_argument("--save", default="fuzz-failures", help="folder for failures (default fuzz-failures)")
    fuzz.add_argument("--replay", metavar="FILE", help="run a saved failure again")

    reduce = commands.add_parser("reduce", help="the smallest IR for which a command still succeeds")
    reduce.add_argument("file", help="IR text")
    reduce.add_argument("--keep", required=True, metavar="CMD", help="the command; {} stands for the candidate's name")
    reduce.add_argument("--output", "-o", metavar="FILE", help="where to write the result (default: standard output)")

    bisect = commands.add_parser("bisect", help="which pass, and which rewrite, makes a command fail")
    bisect.add_argument("arguments", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command")


def run_command(options: argparse.Namespace) -> int:
    """Run one of the four commands; returns the exit status."""
    match options.command:
        case "validate":
            from tilewright.tools.validate import run_validate

            return run_validate(options)
        case "fuzz":
            from tilewright.tools.fuzz import run_fuzz

            return run_fuzz(options)
        case "reduce":
            from tilewright.tools.reduce import run_reduce

            return run_reduce(options)
        case "bisect":
            from tilewright.tools.bisect import run_bisect

            return run_bisect(options)
        case _:
            raise ValueError(options.command)
