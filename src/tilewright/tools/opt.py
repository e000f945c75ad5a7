"""`tilewright-opt`: reads MLIR, runs passes, prints MLIR.

    tilewright-opt kernel.mlir --triton-to-structured --canonicalize
    tilewright-opt - -p 'triton-to-linalg,canonicalize' --mlir-print-ir-after-change < kernel.mlir

`run` is the same as a function, for tests and notebooks.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TextIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.facts import TargetFacts
from tilewright.ir.instruments import (
    CrashReproducer,
    DumpTree,
    PrintAfter,
    PrintRemarks,
    Timing,
    VerifyEach,
    instruments_from_knobs,
    read_reproducer_pipeline,
)
from tilewright.ir.options import options_of_callable, options_of_dataclass
from tilewright.ir.parsing import parse_part, split_input
from tilewright.ir.passes import (
    Instrument,
    PassContext,
    PassPipeline,
    available_passes,
    available_pipelines,
    first_paragraph,
    parse_pipeline,
)
from tilewright.ir.printing import print_op
from tilewright.ir.stage_guard import StageGuard
from tilewright.ir.stages import STAGES, check_stage
from tilewright.ir.verify import verify_module
from tilewright.support import knobs
from tilewright.support.errors import PassError, PipelineError, TilewrightError
from tilewright.tools.arguments import USAGE, Request, UsageError, parse_arguments
from tilewright.tools.closed_pipes import is_about_output, leave_closed_pipe, leave_full_output, open_closed_streams
from tilewright.tools.expectations import (
    Diagnostic,
    check_expectations,
    diagnostic_of_error,
    diagnostic_of_remark,
    find_expectations,
)


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
    """One call of tilewright-opt; returns the exit code: 0, 1 for a diagnosed error, 2 for a wrong command line."""
    out, err = stdout or sys.stdout, stderr or sys.stderr
    try:
        request = _read_command_line(argv)
        if request.has("help"):
            out.write(USAGE)
            return 0
        if request.has("list_passes"):
            out.write(render_pass_list())
            return 0
        text = _read_input(request.file, stdin or sys.stdin)
        return _Session(request, err).run(text, out)
    except UsageError as error:
        err.write(f"tilewright-opt: error: {error} (--help lists all flags)\n")
        return 2
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
    """What is asked for; an unknown pass, option, stage or target is a wrong command line like any other."""
    try:
        request = parse_arguments(list(argv))
        if request.check_stage and request.check_stage not in STAGES:
            raise UsageError(f"unknown stage '{request.check_stage}'; there are {', '.join(STAGES)}")
        for name in request.print_after.split(","):
            if name and name not in available_passes():
                raise UsageError(f"--mlir-print-ir-after: unknown pass '{name}'")
        return request
    except PipelineError as error:
        raise UsageError(str(error)) from error


def _read_input(file: str, stdin: TextIO) -> str:
    if file == "-":
        return stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise TilewrightError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TilewrightError(f"cannot read {file}: it is not UTF-8 text") from None


@cache
def _base_context() -> Context:
    from tilewright.dialects import make_context

    return make_context()


def _find_facts(target: str) -> TargetFacts:
    """The facts of `cpu`, `cpu:x86-64-v3`, `cuda:90` or another target by its name, of third parties too."""
    name, _, machine = target.partition(":")
    if name == "cpu":
        from tilewright.targets.cpu.facts import host_facts, named_facts

        return named_facts(machine) if machine else host_facts()
    from tilewright.compiler.options import CompileOptions
    from tilewright.targets.base import configured, find_target

    found = find_target(name)
    return (configured(found, CompileOptions(arch=machine)) if machine else found).facts


@dataclass
class _Session:
    """One input text on its way through the passes."""

    request: Request
    stderr: TextIO
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    facts: TargetFacts | None = None
    """Of the target, where passes run."""

    def run(self, text: str, stdout: TextIO) -> int:
        pipeline = self._pipeline(text)
        if pipeline.passes:
            self.facts = _find_facts(self.request.target)
        context = self._context()
        failed = False
        printed: list[str] = []
        parts = split_input(text) if self.request.has("split_input") else [(0, text)]
        for lines_before, part in parts:
            try:
                printed.append(self._run_part(lines_before, part, pipeline, context))
            except TilewrightError as error:
                if knobs.get("tracebacks"):
                    raise
                failed = True
                self._report(error)
        if self.request.has("verify_diagnostics"):
            return self._check_diagnostics(text)
        self._write("// -----\n".join(printed), stdout)
        return 1 if failed else 0

    def _pipeline(self, text: str) -> PassPipeline:
        passes = list(self.request.passes)
        if self.request.has("run_reproducer"):
            carried = read_reproducer_pipeline(text)
            if carried is None:
                raise UsageError("the file is no reproducer: its first line carries no '// configuration: '")
            passes = [*parse_pipeline(carried).passes, *passes]
        return PassPipeline(passes)

    def _context(self) -> Context:
        context = _base_context().clone()
        context.allow_unregistered = self.request.has("allow_unregistered")
        return context

    def _run_part(self, lines_before: int, part: str, pipeline: PassPipeline, context: Context) -> str:
        filename = "<stdin>" if self.request.file == "-" else self.request.file
        module = parse_part(lines_before, part, context, filename)
        verify = not self.request.has("no_verify")
        if verify:
            verify_module(module)
        if pipeline.passes:
            self._run_passes(module, pipeline)
            if verify:
                _verify_result(module, pipeline)
        if self.request.check_stage:
            self._check_stage(module)
        return print_op(
            module,
            locations=self.request.has("debuginfo"),
            generic=self.request.has("generic"),
            names_from_locations=self.request.has("names_from_locations"),
        )

    def _run_passes(self, module: ModuleOp, pipeline: PassPipeline) -> None:
        context = PassContext(facts=self.facts)
        try:
            pipeline.run(module, context, self._instruments())
        finally:
            self.diagnostics.extend(diagnostic_of_remark(remark) for remark in context.remarks)

    def _instruments(self) -> list[Instrument]:
        request = self.request
        instruments = [StageGuard(), *instruments_from_knobs(self.stderr)]
        if request.has("verify_each"):
            instruments.append(VerifyEach())
        if request.has("print_after_all") or request.print_after:
            only = [name for name in request.print_after.split(",") if name]
            instruments.append(PrintAfter(self.stderr, only=only, locations=request.has("debuginfo")))
        if request.has("print_after_change"):
            instruments.append(PrintAfter(self.stderr, only_changed=True, locations=request.has("debuginfo")))
        if request.tree_dir:
            instruments.append(DumpTree(Path(request.tree_dir)))
        if request.has("remarks") and not knobs.get("remarks"):
            instruments.append(PrintRemarks(self.stderr))
        if request.has("timing"):
            instruments.append(Timing(self.stderr))
        file = Path(request.reproducer) if request.reproducer else None
        return [*instruments, CrashReproducer(file, only_internal=file is None)]

    def _check_stage(self, module: ModuleOp) -> None:
        check_stage(module, STAGES[self.request.check_stage])

    def _report(self, error: TilewrightError) -> None:
        self.diagnostics.append(diagnostic_of_error(error))
        if not self.request.has("verify_diagnostics"):
            notes = "".join(f"note: {note}\n" for note in getattr(error, "__notes__", ()))
            self.stderr.write(f"{error}\n{notes}")

    def _check_diagnostics(self, text: str) -> int:
        complaints = check_expectations(find_expectations(text), self.diagnostics)
        self.stderr.writelines(f"{self.request.file}: {complaint}\n" for complaint in complaints)
        return 1 if complaints else 0

    def _write(self, text: str, stdout: TextIO) -> None:
        if self.request.output in ("", "-"):
            stdout.write(text)
            return
        try:
            Path(self.request.output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise TilewrightError(f"cannot write {self.request.output}: {error.strerror}") from None


def _verify_result(module: ModuleOp, pipeline: PassPipeline) -> None:
    try:
        verify_module(module)
    except TilewrightError as error:
        reason = f"the module does not verify after the passes (find the one with --verify-each): {error}"
        raise PassError(reason, pass_name=pipeline.passes[-1].name) from error


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


if __name__ == "__main__":
    main()
