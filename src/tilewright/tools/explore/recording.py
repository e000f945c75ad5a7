"""A compilation that is kept: the module's text after every pass, line by line with its places in source files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tilewright.compiler.compile import lower
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import Source
from tilewright.ir.line_places import LastingNames, PrintedLine, print_lines
from tilewright.ir.passes import Instrument, Pass, PassContext
from tilewright.ir.walking import ops_within
from tilewright.support.errors import TilewrightError
from tilewright.targets.base import Target, configured
from tilewright.tools.explore.drawing import Drawing, draw_layouts

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

FRONT_END = "front end"
"""Stands for a pass where a recording begins with the module of a kernel."""

MACHINE_TEXTS = ("llir", "ptx")


@dataclass(frozen=True)
class Step:
    """The module after one pass (or after what made it)."""

    stage: str
    name: str
    """The pass with its options, as a pipeline writes it."""
    milliseconds: float
    num_ops: int
    lines: Sequence[PrintedLine]
    is_changed: bool
    remarks: Sequence[str] = ()
    summary: str = ""


@dataclass
class Recording:
    """What became of a kernel."""

    name: str
    target: str
    options: str
    steps: list[Step] = field(default_factory=list[Step])
    drawings: list[Drawing] = field(default_factory=list[Drawing])
    machine: dict[str, str] = field(default_factory=dict[str, str])
    """Texts after the last stage: `llir`, then `asm` or `ptx`."""
    failure: str = ""
    """Why the compilation ended early."""

    @property
    def stages(self) -> dict[str, Step]:
        """The last step of each stage, in order."""
        return {step.stage: step for step in self.steps}

    def before(self, number: int) -> Sequence[PrintedLine]:
        """The text before a step."""
        return self.steps[number - 1].lines if number else ()


def record(source: Source, options: CompileOptions, target: Target) -> Recording:
    """Compile, and keep everything. An error of the compiler's ends the recording and is part of it.

    Raises errors about the kernel that come before there is IR, and OptionError.
    """
    target = configured(target, options)
    recording = Recording(source.name, f"{target.name} ({target.facts.cpu})", _described(options))
    recorder = _Recorder(recording)
    try:
        for stage, module in lower(source, options, target, recorder.watching):
            recorder.reached(stage, module)
        assert recorder.module is not None
        recording.drawings = draw_layouts(recorder.module)
        _emit(recording, recorder.module, target)
    except TilewrightError as error:
        if not recording.steps:
            raise
        recording.failure = str(error)
    return recording


def _described(options: CompileOptions) -> str:
    """The options that differ from the defaults."""
    plain = CompileOptions()
    names = CompileOptions.__dataclass_fields__
    return ", ".join(f"{n}={getattr(options, n)!r}" for n in names if getattr(options, n) != getattr(plain, n))


def _emit(recording: Recording, module: ModuleOp, target: Target) -> None:
    artefact = target.emit(module)
    texts: dict[str, str] = {"llir": artefact.llir, **getattr(artefact, "texts", {})}
    assembly = getattr(target, "assembly_key", "asm")
    if assembly not in texts:
        texts[assembly] = target.assembly(artefact.llir)
    recording.machine = texts


class _Recorder:
    """Adds a step to a recording after each pass."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.module: ModuleOp | None = None
        self._names = LastingNames()

    def watching(self, stage: str) -> Sequence[Instrument]:
        """The instrument for the passes that lead to a stage."""
        return [_StageRecorder(stage, self)]

    def reached(self, stage: str, module: ModuleOp) -> None:
        """Note the module that the source gave; the others come after passes."""
        self.module = module
        if not self.recording.steps:
            self.add(stage, FRONT_END, module, 0.0)

    def add(self, stage: str, name: str, module: ModuleOp, seconds: float, **more: Any) -> None:
        lines = print_lines(module, self._names.of(module))
        steps = self.recording.steps
        is_changed = not steps or [line.text for line in lines] != [line.text for line in steps[-1].lines]
        count = sum(1 for _ in ops_within(module))
        steps.append(Step(stage, name, seconds * 1e3, count, lines, is_changed, **more))


class _StageRecorder(Instrument):
    def __init__(self, stage: str, recorder: _Recorder) -> None:
        self._stage = stage
        self._recorder = recorder
        self._start = 0.0
        self._context: PassContext | None = None
        self._told = 0

    def before_pipeline(self, passes: Sequence[Pass], module: ModuleOp, context: PassContext) -> None:
        self._context, self._told = context, len(context.remarks)

    def before_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        self._start = perf_counter()

    def after_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        seconds = perf_counter() - self._start
        assert self._context is not None
        remarks = [str(remark) for remark in self._context.remarks[self._told :]]
        self._told = len(self._context.remarks)
        summary = type(pass_).summary()
        self._recorder.add(self._stage, pass_.spelling(), module, seconds, remarks=remarks, summary=summary)
