"""`python -m triton.tools.link`: one entry point for kernels that `triton.tools.compile` wrote.

tilewright run -m triton.tools.link add.*.h -o add
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tilewright.support.errors import TilewrightError
from tilewright.tools.aot.linking import LinkerError, header_text, read_kernels, source_text

__all__ = ["LinkerError", "link", "main"]

desc = """\
Joins headers of triton.tools.compile: writes OUT.h and OUT.c, whose function runs the kernel whose promises the
arguments keep."""


def link(headers: list[Path], out: Path) -> list[Path]:
    """Write header and C file of the joined functions. Raises LinkerError."""
    kernels = read_kernels(headers)
    top, source = out.with_suffix(".h"), out.with_suffix(".c")
    top.write_text(header_text(kernels))
    source.write_text(source_text(kernels, top.name))
    return [top, source]


def main() -> int:
    """The exit status: 2, with the reason, where the headers cannot be joined."""
    parser = argparse.ArgumentParser(description=desc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="+", type=Path, help="headers that triton.tools.compile wrote")
    parser.add_argument("--out", "-o", type=Path, required=True, help="path of the files, without .h and .c")
    parser.add_argument("--prefix", default="", help="taken for Triton's sake, and without effect there, too")
    options = parser.parse_args()
    try:
        link(options.headers, options.out)
    except TilewrightError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
