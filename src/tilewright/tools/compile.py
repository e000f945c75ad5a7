"""`python -m triton.tools.compile`: a kernel ahead of time, with Triton's options and names of files.

    tilewright run -m triton.tools.compile kernels.py -n add -s "*fp32:16, *fp32:16, i32, 1024" -g "n / 1024, 1, 1"

`triton.tools.link` joins the kernels for several signatures. `tilewright compile` does both in one step.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tilewright.compiler.options import CompileOptions
from tilewright.support.errors import TilewrightError
from tilewright.support.records import dataclass
from tilewright.targets.base import Target, find_target
from tilewright.tools.aot.command import find_kernel, find_machine
from tilewright.tools.aot.grid import read_grid
from tilewright.tools.aot.signature import entries_of, read_signature
from tilewright.tools.aot.triton_files import Names, without_ones, write_triton_files
from tilewright.tools.aot.variants import compile_variant

desc = """\
Compiles a kernel for programs without Python, for one signature: types of the parameters in order, `:16` for multiples
of 16 and `:1` for the value 1, and constants. Writes OUT.HASH_SUFFIX.h and .c, whose function OUT_HASH_SUFFIX launches
the kernel; several of these are joined by triton.tools.link."""


@dataclass
class CompileArgs:
    """The command line."""

    path: str = ""
    kernel_name: str = ""
    signature: str = ""
    grid: str = ""
    target: str | None = None
    num_warps: int = 1
    num_stages: int = 3
    out_name: str | None = None
    out_path: Path | None = None


def compile_kernel(args: CompileArgs) -> tuple[str, list[Path]]:
    """Compile and write; the name of the C function, and the files. Raises SignatureError, TargetError, and
    compilation's errors."""
    function = find_kernel(f"{args.path}:{args.kernel_name}")
    signature = read_signature(args.signature, function)
    target, arch = _machine(args.target)
    settings = {"num_warps": args.num_warps, "num_stages": args.num_stages}
    options = CompileOptions.from_keywords(settings | ({"arch": arch} if arch else {}))
    base = args.out_name or args.kernel_name
    words = f"warps{args.num_warps}xstages{args.num_stages}"
    names = Names(base, tuple(entries_of(args.signature)), signature, words)
    passed = without_ones(signature)
    grid = read_grid(args.grid, [passed])
    variant = compile_variant(function, names.function, passed, options, target)
    return names.function, write_triton_files(names, variant, grid, target, args.out_path or Path(base))


def _machine(text: str | None) -> tuple[Target, str | None]:
    """The target of `cuda:80:32` or `cpu`, and its architecture; by default the one that launches go to."""
    if text is not None:
        return find_machine(text)
    from tilewright.runtime.driver import driver

    name = driver.active.name
    return find_target(name), None


def make_parser() -> argparse.ArgumentParser:
    """Triton's options."""
    parser = argparse.ArgumentParser(description=desc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", help="a Python file, which is run")
    parser.add_argument("--kernel-name", "-n", default="", required=True, help="a kernel in it")
    parser.add_argument("--target", "-t", help="cuda:80:32, cpu, ...; by default this machine's")
    parser.add_argument("--num-warps", "-w", type=int, default=1, help="warps of a program (default 1)")
    parser.add_argument("--num-stages", "-ns", type=int, default=3, help="stages of pipelined loops (default 3)")
    parser.add_argument("--out-name", "-on", help="start of the C function's name (default: the kernel's)")
    parser.add_argument("--out-path", "-o", type=Path, help="path of the files, without suffix")
    parser.add_argument("--signature", "-s", required=True, help="as '*fp32:16, i32, 1024'")
    parser.add_argument("--grid", "-g", required=True, help="as 'n / 1024, 1, 1', over integer parameters")
    return parser


def main() -> int:
    """The exit status: 2, with the reason, where there is nothing to write."""
    options = make_parser().parse_args()
    try:
        compile_kernel(CompileArgs(**vars(options)))
    except TilewrightError as error:
        if error.internal:
            raise
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is None:
            raise
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
