"""A recorded compilation: the module's text after every pass, with the source location of each line."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Mapping, Sequence
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


@dataclass(frozen=True)
class RecordedKernel:
    """What is compiled, and what for."""

    name: str
    target: str
    options: str
    parameters: Sequence[Parameter]
    grid: tuple[int, int, int] | None
    """That of the launch, where there is one."""
    capability: int | None
    """Of a GPU."""


@dataclass(frozen=True)
class Emission:
    """From the last stage to machine code."""

    milliseconds: float = 0.0
    texts: Mapping[str, Sequence[PrintedLine]] = field(default_factory=dict[str, Sequence[PrintedLine]])
    """`llir`, then `asm` or `ptx`."""
    facts: Sequence[Fact] = ()


@dataclass(frozen=True)
class Recording:
    """What became of a kernel."""

    kernel: RecordedKernel
    steps: Sequence[Step]
    emission: Emission
    drawings: Sequence[Drawing]
    banks: Sequence[BankAccess]
    work: Work | None
    """Of the whole grid, or of one program where no grid is known."""
    sources: Mapping[str, Sequence[str]]
    """The lines of the files that the kernel comes from, as they were."""
    failure: str = ""
    """Why the compilation ended early."""

    @property
    def stages(self) -> dict[str, Step]:
        """The last step of each stage, in order."""
        return {step.stage: step for step in self.steps}

    def before(self, index: int) -> Sequence[PrintedLine]:
        """The text before a step."""
        return self.steps[index - 1].lines if index else ()


def record(source: Source, options: CompileOptions, target: Target, launch: Launch | None = None) -> Recording:
    """Compile, and keep everything. An error of the compiler's ends the recording and is part of it. A launch says how
    large the grid and how long loops are.

    Raises errors about the kernel that come before there is IR, and OptionError.
    """
    target = configured(target, options)
    capability = target.facts.capability if isinstance(target.facts, GpuFacts) else None
    kernel = RecordedKernel(
        source.name,
        f"{target.name} ({target.facts.cpu})",
        _described(options),
        parameters_of(source),
        None if launch is None else launch.grid,
        capability,
    )
    recorder = _Recorder(launch)
    drawings: Sequence[Drawing] = ()
    banks: Sequence[BankAccess] = ()
    emission, failure = Emission(), ""
    try:
        for stage, module in lower(source, options, target, recorder.watching):
            recorder.reached(stage, module)
        module = recorder.module
        assert module is not None
        drawings = draw_layouts(module, recorder.names.of(module).values)
        banks = () if capability is None else count_bank_conflicts(module, capability)
        with knobs.scope(debug_symbols=True, disable_line_info=False):
            emission = _emit(module, target, recorder.steps[-1].lines)
    except TilewrightError as error:
        if not recorder.steps:
            raise
        failure = str(error)
    texts = (*(step.lines for step in recorder.steps), *emission.texts.values())
    return Recording(kernel, recorder.steps, emission, drawings, banks, recorder.work, _sources_of(texts), failure)


def _described(options: CompileOptions) -> str:
    """The options that differ from the defaults; the target says its architecture."""
    plain = CompileOptions()
    names = CompileOptions.__dataclass_fields__.keys() - {"arch"}
    return ", ".join(f"{n}={getattr(options, n)!r}" for n in sorted(names) if getattr(options, n) != getattr(plain, n))


def _emit(module: ModuleOp, target: Target, last: Sequence[PrintedLine]) -> Emission:
    """Emit the module whose text is `last`."""
    start = perf_counter()
    artefact = target.emit(module)
    milliseconds = (perf_counter() - start) * 1e3
    texts: dict[str, str] = {"llir": artefact.llir, **texts_of(artefact)}
    assembly = code_keys(target)[0]
    if assembly not in texts:
        texts[assembly] = _assembly(artefact.llir, target)
    chains = chains_of(last)
    lines = {name: read_machine_text(name, text, chains) for name, text in texts.items()}
    facts: Sequence[Fact] = ()
    if target.name == "cpu":
        facts = cpu_facts(target.facts, artefact.metadata, artefact.object, lines[assembly])
    elif isinstance(target.facts, GpuFacts):
        facts = gpu_facts(target.facts.capability, artefact.metadata, artefact.object)
    return Emission(milliseconds, lines, facts)


def _assembly(llir: str, target: Target) -> str:
    """Assembly with LLVM's comments, which say where registers are spilled, of our own target for CPUs."""
    if target.name != "cpu":
        return target.assembly(llir)
    from tilewright.codegen.llvm_backend import emit_assembly

    return emit_assembly(llir, target.facts, comments=True)


class _Recorder:
    """Notes a step after each pass."""

    def __init__(self, launch: Launch | None) -> None:
        self.steps: list[Step] = []
        self.work: Work | None = None
        self.module: ModuleOp | None = None
        self.names = LastingNames()
        self._launch = launch

    def watching(self, stage: str) -> Sequence[Instrument]:
        """The instrument for the passes that lead to a stage."""
        return [_StageRecorder(stage, self)]

    def reached(self, stage: str, module: ModuleOp) -> None:
        """Note the module that the source gave; the others come after passes."""
        self.module = module
        if not self.steps:
            self.add(stage, FRONT_END, module, 0.0)
        if stage == WORK_STAGE:
            from tilewright.analysis.work import count_work

            launch = self._launch
            scalars = {} if launch is None else {slot.name: slot.value for slot in launch.slots if slot.dtype is None}
            self.work = count_work(module, (1, 1, 1) if launch is None else launch.grid, scalars)

    def add(self, stage: str, name: str, module: ModuleOp, seconds: float, **more: Any) -> None:
        """Add the module as it is now, after a pass (or what stands for one)."""
        lines, steps = print_lines(module, self.names.of(module)), self.steps
        is_changed = not steps or [line.text for line in lines] != [line.text for line in steps[-1].lines]
        count = sum(1 for _ in ops_within(module))
        steps.append(Step(stage, name, seconds * 1e3, count, lines, is_changed, **more))


def _sources_of(texts: Iterable[Iterable[PrintedLine]]) -> dict[str, Sequence[str]]:
    """The files that lines come from, the kernel's own first."""
    sources: dict[str, Sequence[str]] = {}
    for lines in texts:
        for line in lines:
            for span in reversed(line.places):
                if span.filename not in sources:
                    sources[span.filename] = [text.rstrip("\n") for text in linecache.getlines(span.filename)]
    return sources


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
