"""The `tilewright` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tilewright.support import knobs
from tilewright.support.errors import TilewrightError
from tilewright.tools.aot.parser import add_compile_parser
from tilewright.tools.checking import add_parsers, run_command
from tilewright.tools.closed_pipes import is_about_output, leave_closed_pipe, leave_full_output, open_closed_streams
from tilewright.tools.command_parser import CommandParser
from tilewright.tools.completion import SHELLS, completion_script
from tilewright.tools.explain.parser import add_explain_parser
from tilewright.tools.explore.parser import add_explore_parser

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""


def make_parser() -> CommandParser:
    """The command line of `tilewright`."""
    parser = CommandParser(prog="tilewright", description="A compiler for Triton kernels.")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    run = commands.add_parser("run", help="run a script that imports triton, with tilewright in its place")
    run.add_argument("-m", dest="is_module", action="store_true", help="the script is the name of a module")
    run.add_argument("script", help="path of the Python script")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the script")

    add_compile_parser(commands)
    add_explore_parser(commands)
    add_explain_parser(commands)

    cache = commands.add_parser("cache", help="show, list or clear the cache of compiled kernels")
    cache.add_argument("action", choices=("show", "list", "clear"), nargs="?", default="show")

    layout = commands.add_parser("layout", help="draw who owns each element of a tensor, or its bank of shared memory")
    layout.add_argument("encoding", help="as in IR: '#ttg.blocked<{sizePerThread = [1, 4], ...}>'")
    layout.add_argument("shape", help="for example 128x64")
    layout.add_argument(
        "--bits", type=int, default=32, choices=(8, 16, 32, 64), help="bits of an element, for banks (default 32)"
    )
    layout.add_argument("--svg", metavar="FILE", help="write a picture instead of printing")

    add_parsers(commands)
    commands.add_parser("knobs", help="list every switch: environment variable, value, default, meaning")
    completion = commands.add_parser("completion", help="print a script by which a shell completes commands and flags")
    completion.add_argument("shell", choices=SHELLS)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status: 2 where a command cannot do what it was asked for, with the reason."""
    open_closed_streams()
    parser = make_parser()
    options = parser.parse_args(argv)
    try:
        status = _run(parser, options)
        sys.stdout.flush()
        return status
    except TilewrightError as error:
        if error.internal or knobs.get("tracebacks"):
            raise
        said = str(error)
        has_place = ": error: " in said.partition("\n")[0]
        _say(said if has_place else f"tilewright: error: {said}")
    except BrokenPipeError:
        return leave_closed_pipe()
    except OSError as error:
        if is_about_output(error):
            return leave_full_output("tilewright", error)
        if error.filename is None or knobs.get("tracebacks"):
            raise
        _say(f"tilewright: error: {error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        print("tilewright: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 2


def _say(diagnostic: str) -> None:
    from tilewright.tools.colours import write_diagnostic

    write_diagnostic(diagnostic, sys.stderr)


def _run(parser: CommandParser, options: argparse.Namespace) -> int:
    """Run the command that the options name; the exit status."""
    if options.version:
        from importlib.metadata import version

        print(f"tilewright {version('tilewright')}")
        return 0
    match options.command:
        case "run":
            from tilewright.tools.run import run_module, run_script

            return (run_module if options.is_module else run_script)(options.script, options.arguments)
        case "compile":
            from tilewright.tools.aot.command import run_compile

            return run_compile(options)
        case "explore":
            from tilewright.tools.explore.command import run_explore

            return run_explore(options)
        case "explain":
            from tilewright.tools.explain.command import run_explain

            return run_explain(options)
        case "cache":
            from tilewright.tools.cache import run_cache

            return run_cache(options.action)
        case "layout":
            from tilewright.tools.layout import show_layout

            return show_layout(options.encoding, options.shape, bits=options.bits, svg=options.svg)
        case "knobs":
            from tilewright.tools.switches import render_switches

            print(render_switches(), end="")
            return 0
        case "completion":
            print(completion_script(options.shell, parser), end="")
            return 0
        case "validate" | "fuzz" | "reduce" | "bisect":
            return run_command(options)
        case _:
            parser.print_help()
            return 2


if __name__ == "__main__":
    sys.exit(main())
