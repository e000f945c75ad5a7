"""One call of `tilewright-opt`: a text is parsed, checked, put through passes and printed, part by part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import TextIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.instruments import (
    EVERY_PASS,
    CrashReproducer,
    DumpTree,
    PrintIR,
    PrintRemarks,
    Statistics,
    VerifyEach,
    instruments_from_knobs,
    read_reproducer_pipeline,
    reproducer_text,
)
from tilewright.ir.nesting import render_pipeline
from tilewright.ir.parsing import SPLIT_MARKER, parse_module, parse_part, split_input
from tilewright.ir.passes import (
    Instrument,
    PassContext,
    PassPipeline,
    Remark,
    parse_pipeline,
)
from tilewright.ir.printing import print_op
from tilewright.ir.stage_guard import StageGuard
from tilewright.ir.stages import STAGES, check_stage
from tilewright.ir.verify import verify_module
from tilewright.support import knobs
from tilewright.support.errors import PassError, TilewrightError
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass
from tilewright.tools.arguments import TRUE
from tilewright.tools.command_line import Request, UsageError
from tilewright.tools.diagnostics import DiagnosticStyle
from tilewright.tools.expectations import (
    Diagnostic,
    check_expectations,
    diagnostic_of_remark,
    diagnostics_of_error,
    find_expectations,
)
from tilewright.tools.opt_timing import PhaseWatch


class FileError(TilewrightError):
    """A file cannot be read or written."""


@cache
def base_context() -> Context:
    from tilewright.dialects import make_context

    return make_context()


def find_facts(target: str) -> TargetFacts:
    """The facts of `cpu`, `cpu:x86-64-v3`, `cuda:90` or another target by its name, of third parties too."""
    name, _, machine = target.partition(":")
    if name == "cpu":
        from tilewright.targets.cpu.facts import host_facts, named_facts

        return named_facts(machine) if machine else host_facts()
    from tilewright.compiler.options import CompileOptions
    from tilewright.targets.base import find_target
    from tilewright.targets.capabilities import configured

    found = find_target(name)
    return (configured(found, CompileOptions(arch=machine)) if machine else found).facts


@dataclass
class Session:
    """One input text on its way through the passes."""

    request: Request
    stderr: TextIO
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    facts: TargetFacts | None = None
    """Of the target, where passes run."""
    style: DiagnosticStyle = field(default_factory=lambda: DiagnosticStyle("", []))
    watch: PhaseWatch = field(default_factory=PhaseWatch)

    def run(self, text: str, stdout: TextIO) -> int:
        request = self.request
        self.style = DiagnosticStyle(
            self._filename(),
            text.split("\n"),
            with_op=request.value("print-op-on-diagnostic", "true") in TRUE,
            with_notes=not request.has("disable-diagnostic-notes"),
        )
        carried = self._carried(text)
        context = self._context()
        failed = False
        printed: list[str] = []
        for lines_before, part in self._parts(text):
            try:
                printed.append(self._run_part(lines_before, part, carried, context))
            except TilewrightError as error:
                if knobs.get("tracebacks"):
                    raise
                failed = True
                printed.append("")  # the marker between parts is printed all the same
                self._report(error)
        marker = request.value("output-split-marker", SPLIT_MARKER)
        with self.watch.phase("Output"):
            self._write(f"{marker}\n".join(printed), stdout)
        if request.has("timing"):
            self.stderr.write(self.watch.report(as_list=request.value("timing-display") == "list"))
        if request.has("verify-diagnostics"):
            return self._check_diagnostics(text)
        return 1 if failed else 0

    def _parts(self, text: str) -> Iterable[tuple[int, str]]:
        if not self.request.has("split-input-file"):
            return [(0, text)]
        return split_input(text, self.request.value("split-input-file") or SPLIT_MARKER)

    def _carried(self, text: str) -> str:
        """The pipeline that the text of a reproducer carries."""
        if not self.request.has("run-reproducer"):
            return ""
        carried = read_reproducer_pipeline(text)
        if carried is None:
            raise UsageError("the file is not a reproducer: its first line carries no '// configuration: '")
        return carried

    def _pipeline(self, carried: str) -> PassPipeline:
        """The passes to run: as upstream, mistakes in their text are told once the input is read."""
        pipeline = PassPipeline([*parse_pipeline(carried).passes, *self.request.build_passes()])
        if self.request.has("dump-pass-pipeline"):
            self.stderr.write(f"{render_pipeline(pipeline)}\n")
        if pipeline.passes and self.facts is None:
            self.facts = find_facts(self.request.value("target", "cpu"))
        return pipeline

    def _context(self) -> Context:
        context = base_context().clone()
        context.allow_unregistered = self.request.has("allow-unregistered-dialect")
        return context

    def _run_part(self, lines_before: int, part: str, carried: str, context: Context) -> str:
        request = self.request
        verify = not request.has("no-verify")
        with self.watch.phase("Parser"):
            module = self._read(lines_before, part, context, self._filename())
            if verify and not request.has("very-unsafe-disable-verifier-on-parsing"):
                verify_module(module)
        pipeline = self._pipeline(carried)
        if request.has("verify-roundtrip"):
            check_roundtrip(module, context)
        if request.has("generate-reproducer"):
            self._write_to(request.value("generate-reproducer"), reproducer_text(module, pipeline))
        if pipeline.passes:
            self._run_passes(module, pipeline)
            if verify:
                _verify_result(module, pipeline)
        if request.has("check-stage"):
            check_stage(module, STAGES[request.value("check-stage")])
        with self.watch.phase("Output"):
            text = print_op(
                module,
                locations=request.has("print-debuginfo"),
                generic=request.has("print-op-generic"),
                names_from_locations=request.has("use-nameloc-as-prefix"),
                local_scope=request.has("print-local-scope"),
                skip_regions=request.has("print-skip-regions"),
                most_elements=int(most) if (most := request.value("elide-elementsattrs-if-larger")) else None,
            )
        # Upstream ends a module with an empty line, but for this one flag.
        return text if request.has("print-local-scope") else f"{text}\n"

    def _read(self, lines_before: int, part: str, context: Context, filename: str) -> ModuleOp:
        """Parse one part; remarks about older spellings are printed unless they are compared."""
        remarks: list[Remark] = []
        only_module = self.request.has("no-implicit-module")
        module = parse_part(lines_before, part, context, filename, needs_module=only_module, remarks=remarks)
        self.diagnostics.extend(diagnostic_of_remark(remark) for remark in remarks)
        if not self.request.has("verify-diagnostics"):
            for remark in remarks:
                self._say(str(remark))
        return module

    def _run_passes(self, module: ModuleOp, pipeline: PassPipeline) -> None:
        context = PassContext(facts=self.facts)
        try:
            pipeline.run(module, context, self._instruments())
        finally:
            self.diagnostics.extend(diagnostic_of_remark(remark) for remark in context.remarks)

    def _instruments(self) -> list[Instrument]:
        request = self.request
        instruments = [StageGuard(), *instruments_from_knobs(self.stderr)]
        if request.has("verify-each"):
            instruments.append(VerifyEach())
        instruments.extend(self._printing())
        if request.has("print-ir-tree-dir"):
            instruments.append(DumpTree(Path(request.value("print-ir-tree-dir"))))
        if request.has("remarks") and not knobs.get("remarks"):
            instruments.append(PrintRemarks(self.stderr))
        if request.has("pass-statistics"):
            instruments.append(Statistics(self.stderr))
        instruments.append(self.watch)
        path = request.value("pass-pipeline-crash-reproducer")
        return [*instruments, CrashReproducer(Path(path) if path else None, only_internal=not path)]

    def _printing(self) -> list[Instrument]:
        """Return what prints around passes. As upstream's, `-after-change` and `-after-failure` alone print after no
        pass that was not asked for; here they ask for all.
        """
        request = self.request
        kept = request.has("print-ir-after-change"), request.has("print-ir-after-failure")
        before = EVERY_PASS if request.has("print-ir-before-all") else request.words("print-ir-before")
        after = EVERY_PASS if request.has("print-ir-after-all") else request.words("print-ir-after")
        after = after or (EVERY_PASS if any(kept) else ())
        if not before and not after:
            return []
        scope = request.has("print-ir-module-scope")
        return [
            PrintIR(self.stderr, before, after, *kept, module_scope=scope, locations=request.has("print-debuginfo"))
        ]

    def _report(self, error: TilewrightError) -> None:
        self.diagnostics.extend(diagnostics_of_error(error))
        if not self.request.has("verify-diagnostics"):
            self._say(self.style.render(error))

    def _say(self, diagnostic: str) -> None:
        from tilewright.tools.colours import write_diagnostic

        write_diagnostic(diagnostic, self.stderr)

    def _check_diagnostics(self, text: str) -> int:
        complaints = check_expectations(
            find_expectations(text), self.diagnostics, only_expected=self.request.value("verify-diagnostics") != "all"
        )
        lines = text.split("\n")
        self.stderr.writelines(f"{complaint.render(self._filename(), lines)}\n" for complaint in complaints)
        return 1 if complaints else 0

    def _filename(self) -> str:
        return "<stdin>" if self.request.file == "-" else self.request.file

    def _write(self, text: str, stdout: TextIO) -> None:
        output = self.request.value("o", "-")
        if output == "-":
            stdout.write(text)
        else:
            self._write_to(output, text)

    @staticmethod
    def _write_to(file: str, text: str) -> None:
        try:
            Path(file).write_text(text, encoding="utf-8")
        except OSError as error:
            raise FileError(f"cannot open output file '{file}': {error.strerror}") from None


def check_roundtrip(module: ModuleOp, context: Context) -> None:
    """Raise `TilewrightError` unless the text of a module, in both forms, reads back as the same module."""
    wanted = print_op(module, generic=True)
    for generic in (False, True):
        text = print_op(module, generic=generic)
        form = "generic" if generic else "custom"
        try:
            again = parse_module(text, context, f"<{form} form of the input>")
        except TilewrightError as error:
            raise TilewrightError(f"error: the module does not read back in {form} form: {error}") from error
        if print_op(again, generic=True) != wanted:
            raise TilewrightError(f"error: what is read back from the {form} form is another module")


def _verify_result(module: ModuleOp, pipeline: PassPipeline) -> None:
    try:
        verify_module(module)
    except TilewrightError as error:
        reason = f"the module does not verify after the passes (find the one with --verify-each): {error}"
        raise PassError(reason, pass_name=pipeline.passes[-1].name) from error
