"""What watches a pipeline without being part of it: print, dump, time, count, verify, and replay after a crash."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path
from time import perf_counter
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from tilewright.ir.nesting import NestedPass
from tilewright.ir.passes import Instrument, Pass, PassContext, PassPipeline, available_passes
from tilewright.ir.printing import print_op
from tilewright.ir.verify import verify_module, verify_users
from tilewright.ir.walking import ops_within
from tilewright.support import knobs
from tilewright.support.errors import KnobError, PassError, TilewrightError
from tilewright.support.records import dataclass
from tilewright.support.timing import TimeSpan, render_times

REPRODUCER_PREFIX = "// configuration: "
"""First words of a reproducer; the rest of that line are the flags that replay it."""


@dataclass
class PrintIR(Instrument):
    """Print the module around passes, under headings as upstream's: ``// -----// IR Dump After CSE (cse) //----- //``.

    `before` and `after` are names of passes, or EVERY_PASS. What is printed after passes can be kept to those that
    changed it (`only_changed`) or failed (`only_failed`). Of a pass that runs on some functions, these are printed, or
    with `module_scope` the module around them.
    """

    stream: TextIO | None = None
    before: Collection[str] = ()
    after: Collection[str] = ()
    only_changed: bool = False
    only_failed: bool = False
    module_scope: bool = False
    locations: bool = False
    _last: str = field(default="", init=False)

    def before_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        if _names(self.before, pass_):
            self._print("Before", pass_, module)
        if self.only_changed:
            self._last = self._text(module)

    def after_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        if self.only_failed or not _names(self.after, pass_):
            return
        if not self.only_changed or self._text(module) != self._last:
            self._print("After", pass_, module)

    def after_failure(self, index: int, pass_: Pass, module: ModuleOp, error: TilewrightError) -> None:
        if _names(self.after, pass_):
            self._print("After", pass_, module, " Failed")

    def _print(self, when: str, pass_: Pass, module: ModuleOp, ending: str = "") -> None:
        title = pass_title(pass_)
        out = self.stream or sys.stderr
        for op in self._targets(pass_, module):
            scope = f" ('{op.name}' operation{_symbol(op)})" if self.module_scope else ""
            out.write(f"// -----// IR Dump {when} {title}{ending} ({pass_.name}){scope} //----- //\n")
            shown = module if self.module_scope else op
            out.write(self._text(shown) + ("\n\n" if shown is module else "\n"))

    @staticmethod
    def _targets(pass_: Pass, module: ModuleOp) -> Sequence[Operation]:
        return pass_.targets(module) if isinstance(pass_, NestedPass) else (module,)

    def _text(self, op: Operation) -> str:
        return print_op(op, locations=self.locations)


EVERY_PASS = ("*",)
"""For `PrintIR`: not some passes by name, but all."""


def pass_title(pass_: Pass) -> str:
    """The name of a pass in headings and reports, which for upstream's passes is upstream's."""
    inner = pass_.inner if isinstance(pass_, NestedPass) else pass_
    return inner.title or type(inner).__name__.removesuffix("Pass")


def _names(wanted: Collection[str], pass_: Pass) -> bool:
    return wanted is EVERY_PASS or pass_.name in wanted


def _symbol(op: Operation) -> str:
    name = op.get_attr_or_prop("sym_name")
    return f": @{name.data}" if isinstance(name, StringAttr) else ""


@dataclass
class DumpTree(Instrument):
    """Write the module to a folder: ``00-input.mlir``, then one file per pass, ``01-canonicalize.mlir`` and so on."""

    folder: Path
    locations: bool = True

    def before_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        if index == 0:
            self._write("00-input", module)

    def after_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        self._write(f"{index + 1:02d}-{pass_.name}", module)

    def _write(self, stem: str, module: ModuleOp) -> None:
        text = print_op(module, locations=self.locations)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / f"{stem}.mlir").write_text(text, encoding="utf-8")
        except OSError as error:
            raise TilewrightError(f"error: cannot write {error.filename or self.folder}: {error.strerror}") from None


@dataclass
class Timing(Instrument):
    """Measure each pass; the table goes to `stream` when the pipeline is done."""

    stream: TextIO | None = None
    title: str = "pass timing"
    root: TimeSpan = field(default_factory=lambda: TimeSpan("total"))
    _start: float = field(default=0.0, init=False)

    def before_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        self._start = perf_counter()

    def after_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        seconds = perf_counter() - self._start
        self.root.child(pass_.name).add(seconds)
        self.root.seconds += seconds
        self.root.calls = 1

    def after_pipeline(self, module: ModuleOp) -> None:
        (self.stream or sys.stderr).write(f"===- {self.title} -===\n{render_times(self.root)}")


@dataclass
class Statistics(Instrument):
    """Count what passes add, erase, and leave as it was with a remark; a table goes to `stream` at the end."""

    stream: TextIO | None = None
    _context: PassContext | None = field(default=None, init=False)
    _lines: list[str] = field(default_factory=list[str], init=False)
    _ops: set[Operation] = field(default_factory=set[Operation], init=False)
    _remarks: int = field(default=0, init=False)

    def before_pipeline(self, passes: Sequence[Pass], module: ModuleOp, context: PassContext) -> None:
        self._context = context

    def before_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        assert self._context is not None
        self._ops, self._remarks = set(ops_within(module)), len(self._context.remarks)

    def after_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        assert self._context is not None
        ops = set(ops_within(module))
        counts = (
            (len(ops - self._ops), "num-added", "Number of operations added"),
            (len(self._ops - ops), "num-erased", "Number of operations erased"),
            (len(self._context.remarks) - self._remarks, "num-remarks", "Number of remarks"),
        )
        self._lines.append(f"{pass_title(pass_)}\n")
        self._lines += (f"  (S) {count:6d} {name:<11} - {meaning}\n" for count, name, meaning in counts)

    def after_pipeline(self, module: ModuleOp) -> None:
        rule = f"==={'-' * 73}===\n"
        out = self.stream or sys.stderr
        out.write(f"{rule}{'... Pass statistics report ...':^80}".rstrip() + f"\n{rule}{''.join(self._lines)}")


@dataclass
class PrintRemarks(Instrument):
    """Print what each pass had to leave as it was, and why."""

    stream: TextIO | None = None
    _context: PassContext | None = field(default=None, init=False)
    _printed: int = field(default=0, init=False)

    def before_pipeline(self, passes: Sequence[Pass], module: ModuleOp, context: PassContext) -> None:
        self._context, self._printed = context, len(context.remarks)

    def after_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        self._print()

    def after_failure(self, index: int, pass_: Pass, module: ModuleOp, error: TilewrightError) -> None:
        self._print()

    def _print(self) -> None:
        assert self._context is not None
        remarks = self._context.remarks[self._printed :]
        (self.stream or sys.stderr).writelines(f"{remark}\n" for remark in remarks)
        self._printed += len(remarks)


@dataclass
class VerifyEach(Instrument):
    """Verify the module after every pass, and that passes leave no users in no block; name the pass that broke it."""

    def after_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        self._verify(pass_, module, verify_module, verify_users)

    def _verify(self, pass_: Pass, module: ModuleOp, *rules: Callable[[ModuleOp], None]) -> None:
        try:
            for rule in rules:
                rule(module)
        except TilewrightError as error:
            message = f"the module does not verify after this pass: {error}"
            raise PassError(message, pass_name=pass_.name, internal=True) from error


@dataclass
class VerifyResult(VerifyEach):
    """Verify the module that a pipeline makes: what emission is given is valid, whatever passes did."""

    _last: int = field(default=-1, init=False)

    def before_pipeline(self, passes: Sequence[Pass], module: ModuleOp, context: PassContext) -> None:
        self._last = len(passes) - 1

    def after_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        if index == self._last:
            self._verify(pass_, module, verify_module)


@dataclass
class CrashReproducer(Instrument):
    """When a pass fails, write the module as it was before that pass, with the flags that replay the failure.

    ```
    // configuration: --pass-pipeline='triton-to-structured{fallback=true}'
    module { ... }
    ```

    The module is cloned once, before the first pass; after a failure the passes up to the failing one run again on the
    clone. If that fails too, or gives no failure, the file holds the original module and the whole pipeline so far.
    `path` fixes the file; otherwise a new one is made below `folder`, the `reproducer_dir` switch, or the system's
    temporary directory. With `only_internal`, a pass that gave up with a proper error of its own leaves no file.
    """

    path: Path | None = None
    folder: Path | None = None
    only_internal: bool = False
    _original: ModuleOp | None = field(default=None, init=False)
    _passes: Sequence[Pass] = field(default=(), init=False)
    _context: PassContext | None = field(default=None, init=False)

    def before_pipeline(self, passes: Sequence[Pass], module: ModuleOp, context: PassContext) -> None:
        self._original, self._passes, self._context = module.clone(), passes, context

    def after_failure(self, index: int, pass_: Pass, module: ModuleOp, error: TilewrightError) -> None:
        if self._original is None or getattr(error, "reproducer", None) is not None:
            return
        if self.only_internal and not (isinstance(error, PassError) and error.internal):
            return
        before = self._module_before(index)
        if before is not None:
            text = reproducer_text(before, PassPipeline([pass_]))
        else:
            text = reproducer_text(self._original, PassPipeline(self._passes[: index + 1]))
        path = self.path or fresh_path(pass_.name, "mlir", self.folder)
        path.write_text(text, encoding="utf-8")
        if isinstance(error, PassError):
            error.reproducer = str(path)
        else:
            error.add_note(f"replay with: tilewright-opt --run-reproducer {path}")

    def _module_before(self, index: int) -> ModuleOp | None:
        """The module as pass `index` found it, or None if the passes before it cannot be repeated."""
        assert self._original is not None and self._context is not None
        module = self._original.clone()
        context = PassContext(facts=self._context.facts, options=dict(self._context.options))
        try:
            PassPipeline(self._passes[:index]).run(module, context)
        except TilewrightError:
            return None
        return module


def fresh_path(what: str, suffix: str, folder: Path | None = None) -> Path:
    """Make a new file for a reproducer: below `folder`, the `reproducer_dir` switch, or the system's temporary one."""
    folder = folder or Path(knobs.get("reproducer_dir") or tempfile.gettempdir())
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        prefix=f"tilewright-{what}-", suffix=f".{suffix}", dir=folder, delete=False
    ) as stream:
        return Path(stream.name)


def reproducer_text(module: ModuleOp, pipeline: PassPipeline) -> str:
    """A file that replays a pipeline on a module."""
    return f"{REPRODUCER_PREFIX}--pass-pipeline='{pipeline.spelling()}'\n{print_op(module, locations=True)}"


def read_reproducer_pipeline(text: str) -> str | None:
    """The pipeline that a reproducer carries, or None if the text is not one."""
    first = text.partition("\n")[0]
    flag = f"{REPRODUCER_PREFIX}--pass-pipeline="
    return first[len(flag) :].strip().strip("'") if first.startswith(flag) else None


def instruments_from_knobs(stream: TextIO | None = None, *, what: str = "") -> list[Instrument]:
    """The instruments that the switches ask for; empty in an ordinary run, so that nothing is paid for.

    `what` says which pipeline of several this is, `add_kernel-1f0c3a52/ttir`: a folder of its own for its dumps, and
    the title of its times.
    """
    instruments: list[Instrument] = []
    if knobs.get("verify_each"):
        instruments.append(VerifyEach())
    if folder := knobs.get("dump_ir"):
        instruments.append(DumpTree(Path(folder, what)))
    if words := knobs.get("print_after"):
        instruments.append(_print_after_from(words, stream))
    if knobs.get("remarks"):
        instruments.append(PrintRemarks(stream))
    if knobs.get("timing"):
        instruments.append(Timing(stream, f"pass timing: {what}" if what else "pass timing"))
    return instruments


def _print_after_from(words: Sequence[str], stream: TextIO | None) -> PrintIR:
    names = tuple(word for word in words if word not in ("all", "changed"))
    for name in names:
        if name not in (known := available_passes()):
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else "; `tilewright-opt --help` lists them"
            raise KnobError(f"print_after: there is no pass '{name}'{hint}")
    return PrintIR(stream, after=names or EVERY_PASS, only_changed="changed" in words)
