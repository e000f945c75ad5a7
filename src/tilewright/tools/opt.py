"""`tilewright-opt`: reads MLIR, runs passes, prints MLIR.

    tilewright-opt kernel.mlir --triton-to-structured --canonicalize
    tilewright-opt - -p 'triton-to-linalg,canonicalize' --mlir-print-ir-after-change < kernel.mlir

`run` is the same as a function, for tests and notebooks.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from tilewright.compiler.plugins import load_plugins
from tilewright.ir.options import options_of_callable, options_of_dataclass
from tilewright.ir.passes import (
    available_passes,
    available_pipelines,
    first_paragraph,
)
from tilewright.ir.stages import STAGES
from tilewright.support import knobs
from tilewright.support.errors import PipelineError, TilewrightError
from tilewright.tools.arguments import usage
from tilewright.tools.closed_pipes import is_about_output, leave_closed_pipe, leave_full_output, open_closed_streams
from tilewright.tools.command_line import Request, UsageError, parse_arguments
from tilewright.tools.opt_session import FileError, Session, base_context


def main() -> None:
    """Console script."""
    open_closed_streams()
    try:
        status = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        status = leave_closed_pipe()
    except OSError as error:
        if not is_about_output(error):
            raise
        status = leave_full_output("tilewright-opt", error)
    sys.exit(status)


def run(
    argv: Sequence[str], stdin: TextIO | None = None, stdout: TextIO | None = None, stderr: TextIO | None = None
) -> int:
    """One call of tilewright-opt; returns the exit code: 0, or 1 for an error, as mlir-opt does."""
    out, err = stdout or sys.stdout, stderr or sys.stderr
    try:
        load_plugins()  # their passes have flags, too
        request = _read_command_line(argv)
        for name, render in TEXTS.items():
            if request.has(name):
                out.write(render())
                return 0
        if request.has("show-op"):
            out.write(_op_card(request.value("show-op")))
            return 0
        text = _read_input(request.file, stdin or sys.stdin)
        return Session(request, err).run(text, out)
    except UsageError as error:
        err.write(error.rendered())
        return 1
    except FileError as error:
        err.write(f"{error}\n")
        return 1
    except TilewrightError as error:
        if knobs.get("tracebacks"):
            raise
        err.write(f"tilewright-opt: {str(error) if str(error).startswith('error') else f'error: {error}'}\n")
        return 1
    except Exception as error:
        if isinstance(error, OSError) and (isinstance(error, BrokenPipeError) or is_about_output(error)):
            raise
        if knobs.get("tracebacks"):
            raise
        reason = f"internal error: {type(error).__name__}: {error}"
        err.write(f"tilewright-opt: error: {reason} (TILEWRIGHT_TRACEBACKS=1 shows where)\n")
        return 1


def _read_command_line(argv: Sequence[str]) -> Request:
    """Return what is asked for; an unknown stage is a wrong command line like any other."""
    request = parse_arguments(argv)
    if (stage := request.value("check-stage", "tt")) not in STAGES:
        raise UsageError(f"unknown stage '{stage}'; there are {', '.join(STAGES)}")
    return request


def _read_input(file: str, stdin: TextIO) -> str:
    if file == "-":
        return stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot open input file '{file}': {error.strerror}") from None
    except UnicodeDecodeError:
        raise TilewrightError(f"cannot read {file}: it is not UTF-8 text") from None


def render_pass_list() -> str:
    """All passes and pipelines with their options, for ``--list-passes``."""
    lines = ["passes:"]
    for name, cls in available_passes().items():
        lines.append(f"  --{name}")
        lines.append(f"      {cls.summary()}")
        lines.extend(f"      {option.flag}: {option.describe()}" for option in options_of_dataclass(cls))
    lines.append("pipelines:")
    for name, builder in available_pipelines().items():
        lines.append(f"  --{name}")
        lines.append(f"      {first_paragraph(builder)}")
        lines.extend(f"      {option.flag}: {option.describe()}" for option in options_of_callable(builder))
    return "\n".join(lines) + "\n"


def render_dialects() -> str:
    """For ``--show-dialects``."""
    return f"Available Dialects: {','.join(sorted(base_context().registered_dialect_names))}\n"


def _op_card(name: str) -> str:
    """For ``--show-op``; what it imports, nothing else needs."""
    from tilewright.tools.op_card import render_op

    try:
        return render_op(name)
    except PipelineError as error:
        raise UsageError(str(error)) from error


def render_version() -> str:
    """For ``--version``."""
    return f"tilewright-opt {importlib.metadata.version('tilewright')}\n"


TEXTS: dict[str, Callable[[], str]] = {
    "help": usage,
    "version": render_version,
    "list-passes": render_pass_list,
    "show-dialects": render_dialects,
}
"""Flags that ask for a text and nothing else."""


if __name__ == "__main__":
    main()
