"""The command line of `tilewright compile`; imports nothing of the compiler."""

from __future__ import annotations

import argparse
from typing import Any

DESCRIPTION = """\
Compiles a kernel for programs without Python: machine code, a C header, and C functions that launch it.

Each --signature is one variant: types of the parameters in order, `:16` for multiples of 16 and `:1` for the value 1,
and constants, also by name (BLOCK=1024). Of several, the first whose promises the arguments keep is launched."""


def add_compile_parser(commands: Any) -> None:
    """Add `compile` to the `tilewright` command line."""
    parser = commands.add_parser(
        "compile",
        help="compile a kernel ahead of time, for C programs",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kernel", metavar="FILE:KERNEL", help="a Python file, which is run, and a kernel in it")
    parser.add_argument(
        "--signature", "-s", action="append", required=True, help="as '*fp32:16, *fp32:16, i32, 1024'; may be repeated"
    )
    parser.add_argument(
        "--grid", "-g", help="as 'cdiv(n, BLOCK), m / 32' over integer parameters; by default the caller gives it"
    )
    add_compilation_arguments(parser)
    parser.add_argument("--out-name", "-on", help="name of the C function (default: the kernel's)")
    parser.add_argument("--output", "-o", default=".", metavar="DIR", help="folder for the files (default: here)")
    parser.add_argument("--shared", action="store_true", help="link a shared library as well (needs a C compiler)")


def add_compilation_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for a kernel's signature, target and launch options."""
    parser.add_argument(
        "--target",
        "-t",
        default="cpu",
        help="cpu (this machine's), cpu:x86-64-v3, cpu:x86-64-v3:windows, cuda, cuda:90 ...",
    )
    parser.add_argument("--num-warps", "-w", type=int, help="warps of a program on a GPU (default 4)")
    parser.add_argument("--num-stages", "-ns", type=int, help="stages of pipelined loops (default 3)")
    parser.add_argument("--num-ctas", type=int, help="CTAs of a cluster (default 1)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="any other launch option")
