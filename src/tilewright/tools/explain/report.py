"""Compiles a kernel and places its remarks on the lines of its source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import tilewright
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import Source
from tilewright.compiler.stages import lower
from tilewright.ir.passes import Instrument, Pass, PassContext, Remark
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.support.errors import PassError
from tilewright.support.records import dataclass
from tilewright.support.spans import Span
from tilewright.targets.base import Target
from tilewright.targets.capabilities import HasBaseline, configured
from tilewright.tools.explain.advice import Advice, advice_on
from tilewright.tools.explain.machine import machine_facts
from tilewright.tools.explore.overview import Fact

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

PACKAGE = str(Path(tilewright.__file__).parent)
"""Functions of `tl` that are written in Triton lie there: what is said about them is said of the call."""


@dataclass(frozen=True)
class Finding:
    """One remark that the author of a kernel can act on. `place` is None where no line is known."""

    kind: RemarkKind
    place: Span | None
    reason: str
    advice: Advice
    pass_name: str


@dataclass(frozen=True)
class Report:
    """What is to be said about a kernel, in the order of its lines. `text` and `first_line` are the kernel's source,
    empty for IR."""

    kernel: str
    target: str
    file: str
    first_line: int
    text: str
    findings: Sequence[Finding]
    machine: Sequence[Fact] = ()
    """Facts of the machine code, where they were asked for."""


def explain(source: Source, options: CompileOptions, target: Target, *, with_machine: bool = False) -> Report:
    """Compile as far as there is IR, and to machine code where its facts are wanted. Where optimising passes refuse the
    kernel, the report says so.

    Raises what compiling the kernel raises otherwise.
    """
    target = configured(target, options)
    watch, done = _Watch(), set[str]()
    refusal: list[Remark] = []
    module: ModuleOp | None = None
    try:
        for stage, lowered in lower(source, options, target, lambda stage: [watch]):
            done.add(stage)
            module = lowered
    except PassError as error:
        if "linalg" not in done or not isinstance(target, HasBaseline):
            raise
        target = target.baseline()
        for _, lowered in lower(source, options, target):
            module = lowered
        refusal.append(Remark(error.pass_name, error.op_name, error.location, error.message, RemarkKind.BASELINE))
    fn = getattr(source, "fn", None)
    text, first = (fn.source.text, fn.source.start_line) if fn is not None else ("", 0)
    file = fn.source.filename if fn is not None else source.name
    family = "cpu" if target.name == "cpu" else "gpu"
    described = f"{target.name} ({target.facts.cpu})"
    findings = tuple(_findings([*refusal, *watch.remarks], family))
    machine = machine_facts(module, target, file) if with_machine and module is not None else ()
    return Report(source.name, described, file, first, text, findings, machine)


class _Watch(Instrument):
    """Keeps the remarks of a compilation, also of one that ends early."""

    def __init__(self) -> None:
        self._contexts: list[PassContext] = []

    def before_pipeline(self, passes: Sequence[Pass], module: ModuleOp, context: PassContext) -> None:
        if context not in self._contexts:
            self._contexts.append(context)

    @property
    def remarks(self) -> list[Remark]:
        return [remark for context in self._contexts for remark in context.remarks]


def _findings(remarks: Sequence[Remark], family: str) -> Iterable[Finding]:
    """One finding for each kind and place, by line."""
    found: dict[tuple[RemarkKind, Span | None], Finding] = {}
    for remark in remarks:
        advice = advice_on(remark.kind, family)
        if advice is None:
            continue
        place = place_of(remark)
        reason = remark.reason
        if remark.kind is RemarkKind.COMPUTED_INDEX:
            reason = "; ".join((reason, *dict.fromkeys(_causes(place, remarks))))
        found.setdefault((remark.kind, place), Finding(remark.kind, place, reason, advice, remark.pass_name))
    return sorted(found.values(), key=lambda one: (one.place.line, one.place.col) if one.place else (0, 0))


def _causes(place: Span | None, remarks: Sequence[Remark]) -> Iterable[str]:
    """Yield why pointer analysis gave up on the access at a place."""
    for remark in remarks:
        if remark.kind is RemarkKind.ADDRESS_WITHOUT_FORMULA and place is not None and place_of(remark) == place:
            yield remark.reason.removeprefix("no structure: ")


def place_of(remark: Remark) -> Span | None:
    """The innermost place that is the user's own."""
    own = remark.location if isinstance(remark.location, Span) else None
    places = [place for place in (own, *remark.callers) if place is not None]
    return next((place for place in places if not place.filename.startswith(PACKAGE)), next(iter(places), None))
