"""A recorded compilation: the module's text after every pass, with the source location of each line."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import Source
from tilewright.compiler.stages import lower
from tilewright.ir.line_places import LastingNames, PrintedLine, print_lines
from tilewright.ir.passes import Instrument, Pass, PassContext
from tilewright.ir.walking import ops_within
from tilewright.support import knobs
from tilewright.support.errors import TilewrightError
from tilewright.support.facts import GpuFacts
from tilewright.support.records import dataclass
from tilewright.targets.base import Target
from tilewright.targets.capabilities import code_keys, configured, texts_of
from tilewright.tools.explore.banks import BankAccess, count_bank_conflicts
from tilewright.tools.explore.drawing import Drawing, draw_layouts
from tilewright.tools.explore.machine_text import chains_of, read_machine_text
from tilewright.tools.explore.overview import Fact, Parameter, cpu_facts, gpu_facts, parameters_of
from tilewright.tools.validation.launches import Launch

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.analysis.work import Work

FRONT_END = "front end"
"""Stands for a pass where a recording begins with the module of a kernel."""

WORK_STAGE = "ttir"
"""Where operations and bytes are counted: nothing of a target's is decided yet."""


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
    machine: dict[str, Sequence[PrintedLine]] = field(default_factory=dict[str, Sequence[PrintedLine]])
    """Texts after the last stage: `llir`, then `asm` or `ptx`."""
    failure: str = ""
    """Why the compilation ended early."""
    parameters: Sequence[Parameter] = ()
    grid: tuple[int, int, int] | None = None
    """That of the launch, where there was one."""
    emission_milliseconds: float = 0.0
    """From the last stage to machine code."""
    facts: Sequence[Fact] = ()
    work: Work | None = None
    """Of the whole grid, or of one program where no grid is known."""
    banks: Sequence[BankAccess] = ()
    capability: int | None = None
    """Of a GPU."""
    sources: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The lines of the files that the kernel comes from, as they were."""

    @property
    def stages(self) -> dict[str, Step]:
        """The last step of each stage, in order."""
        return {step.stage: step for step in self.steps}

    def before(self, number: int) -> Sequence[PrintedLine]:
        """The text before a step."""
        return self.steps[number - 1].lines if number else ()


def record(source: Source, options: CompileOptions, target: Target, launch: Launch | None = None) -> Recording:
    """Compile, and keep everything. An error of the compiler's ends the recording and is part of it. A launch says how
    large the grid and how long loops are.

    Raises errors about the kernel that come before there is IR, and OptionError.
    """
    target = configured(target, options)
    recording = Recording(source.name, f"{target.name} ({target.facts.cpu})", _described(options))
    recording.parameters = parameters_of(source)
    recording.capability = target.facts.capability if isinstance(target.facts, GpuFacts) else None
    if launch is not None:
        recording.grid = launch.grid
    recorder = _Recorder(recording, launch)
    try:
        for stage, module in lower(source, options, target, recorder.watching):
            recorder.reached(stage, module)
        assert recorder.module is not None
        recorder.draw()
        with knobs.scope(debug_symbols=True, disable_line_info=False):
            _emit(recording, recorder.module, target)
    except TilewrightError as error:
        if not recording.steps:
            raise
        recording.failure = str(error)
    recorder.keep_sources()
    return recording


def _described(options: CompileOptions) -> str:
    """The options that differ from the defaults; the target says its architecture."""
    plain = CompileOptions()
    names = CompileOptions.__dataclass_fields__.keys() - {"arch"}
    return ", ".join(f"{n}={getattr(options, n)!r}" for n in sorted(names) if getattr(options, n) != getattr(plain, n))


def _emit(recording: Recording, module: ModuleOp, target: Target) -> None:
    start = perf_counter()
    artefact = target.emit(module)
    recording.emission_milliseconds = (perf_counter() - start) * 1e3
    chains = chains_of(recording.steps[-1].lines)
    texts: dict[str, str] = {"llir": artefact.llir, **texts_of(artefact)}
    assembly = code_keys(target)[0]
    if assembly not in texts:
        texts[assembly] = _assembly(artefact.llir, target)
    recording.machine = {name: read_machine_text(name, text, chains) for name, text in texts.items()}
    if target.name == "cpu":
        lines = recording.machine[assembly]
        recording.facts = cpu_facts(target.facts, artefact.metadata, artefact.object, lines)
    elif recording.capability is not None:
        recording.facts = gpu_facts(recording.capability, artefact.metadata, artefact.object)


def _assembly(llir: str, target: Target) -> str:
    """Assembly with LLVM's comments, which say where registers are spilled, of our own target for CPUs."""
    if target.name != "cpu":
        return target.assembly(llir)
    from tilewright.codegen.llvm_backend import emit_assembly

    return emit_assembly(llir, target.facts, comments=True)


class _Recorder:
    """Adds a step to a recording after each pass."""

    def __init__(self, recording: Recording, launch: Launch | None) -> None:
        self.recording = recording
        self.module: ModuleOp | None = None
        self._launch = launch
        self._names = LastingNames()

    def watching(self, stage: str) -> Sequence[Instrument]:
        """The instrument for the passes that lead to a stage."""
        return [_StageRecorder(stage, self)]

    def reached(self, stage: str, module: ModuleOp) -> None:
        """Note the module that the source gave; the others come after passes."""
        self.module = module
        if not self.recording.steps:
            self.add(stage, FRONT_END, module, 0.0)
        if stage == WORK_STAGE:
            from tilewright.analysis.work import count_work

            launch = self._launch
            scalars = {} if launch is None else {slot.name: slot.value for slot in launch.slots if slot.dtype is None}
            self.recording.work = count_work(module, (1, 1, 1) if launch is None else launch.grid, scalars)

    def add(self, stage: str, name: str, module: ModuleOp, seconds: float, **more: Any) -> None:
        """Add the module as it is now, after a pass (or what stands for one)."""
        lines = print_lines(module, self._names.of(module))
        steps = self.recording.steps
        is_changed = not steps or [line.text for line in lines] != [line.text for line in steps[-1].lines]
        count = sum(1 for _ in ops_within(module))
        steps.append(Step(stage, name, seconds * 1e3, count, lines, is_changed, **more))

    def draw(self) -> None:
        """Layouts, and what accesses to shared memory cost in them."""
        assert self.module is not None
        self.recording.drawings = draw_layouts(self.module, self._names.of(self.module).values)
        if self.recording.capability is not None:
            self.recording.banks = count_bank_conflicts(self.module, self.recording.capability)

    def keep_sources(self) -> None:
        """The files that lines of IR come from, the kernel's own first."""
        for lines in (*(step.lines for step in self.recording.steps), *self.recording.machine.values()):
            for line in lines:
                for span in reversed(line.places):
                    if span.filename not in self.recording.sources:
                        lines = linecache.getlines(span.filename)
                        self.recording.sources[span.filename] = [text.rstrip("\n") for text in lines]


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
