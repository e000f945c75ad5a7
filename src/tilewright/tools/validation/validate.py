"""Validation of one launch: the same inputs through the module after every pass, and through machine code.

The front end's output on the reference says what is right. The first pass after which the result differs is at fault;
where that pass applies rules, it is run again with fewer and fewer of them until one rewrite is left to blame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace

from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation

from tilewright.dialects import tt, ttng
from tilewright.dialects.tt import InputPrecision
from tilewright.dialects.types import element_type
from tilewright.ir.diagnostics import op_place
from tilewright.ir.passes import PassContext, PassPipeline
from tilewright.ir.rewrite_watch import Rewrite, watch_rewrites
from tilewright.reference.errors import ReferenceError
from tilewright.support.errors import TilewrightError
from tilewright.support.facts import GpuFacts
from tilewright.support.records import dataclass
from tilewright.support.spans import Span, render_caret
from tilewright.targets.base import Target
from tilewright.targets.capabilities import configured
from tilewright.tools.validation.compare import EXACT, Difference, Tolerance, find_difference
from tilewright.tools.validation.contents import contents_of
from tilewright.tools.validation.engines import Outcome, Point, run_native, run_reference, stages_of
from tilewright.tools.validation.launches import Launch

TF32 = 2.0**-9
"""How far products of tf32 may be off, in parts of the largest result: of an operand ten bits are left."""

MIXED = ("no reference meaning", "a conversion between several values")
"""What the reference says about modules in the middle of a conversion, which are not meant to be run."""


@dataclass(frozen=True)
class Row:
    """What was found after one pass."""

    point: Point
    verdict: str
    """`same`, `different`, `error`, or `-` for a module in the middle of a conversion."""
    rewrites: int = 0
    note: str = ""
    """Why a module was not run."""


@dataclass
class Report:
    """All rows up to the first difference, and whom to blame for it."""

    launch: Launch
    rows: list[Row] = field(default_factory=list[Row])
    difference: Difference | None = None
    error: str = ""
    culprit: Point | None = None
    rewrite: Rewrite | None = None
    place: Span | str | None = None
    """Where the source stores what differs."""

    @property
    def is_valid(self) -> bool:
        return self.culprit is None

    def render(self) -> str:
        """The table, and below it what differs."""
        lines = [f"kernel '{self.launch.name}', grid {self.launch.grid}"]
        width = max((len(row.point.pass_name) for row in self.rows), default=0)
        for row in self.rows:
            name = row.point.pass_name or "(front end)"
            fired = f"{row.rewrites} rewrites" if row.rewrites else ""
            said = "  ".join(filter(None, (fired, row.note)))
            lines.append(f"  {row.point.stage:10} {name:{max(width, 11)}}  {row.verdict:9}  {said}".rstrip())
        if self.culprit is not None:
            lines.append(f"first difference: {self.culprit}")
            lines.append(f"  {self.difference or self.error}")
            if self.rewrite is not None:
                lines.append(f"  rule: {self.rewrite}")
            if self.place is not None:
                lines.append(f"  stored at: {self.place}")
            if isinstance(self.place, Span) and (text := self.place.source_line()):
                lines.append(render_caret(text, self.place.col, self.place.end_col))
        return "\n".join(lines)


def validate_launch(
    launch: Launch,
    target: Target,
    tolerance: Tolerance = EXACT,
    *,
    native: bool = True,
    reached: Callable[[Point], None] = lambda point: None,
) -> Report:
    """Run a launch after every pass of a target, and on the target, up to the first difference; `reached` is told of
    each pass."""
    target = configured(target, launch.options)
    report = Report(launch)
    expected: Outcome | None = None
    context = PassContext(facts=target.facts)
    module = launch.source.module(target, launch.options)
    places = _places_of_stores(module)
    rounds = isinstance(target.facts, GpuFacts) and any(map(_rounds_to_tf32, module.walk()))
    point, contents = Point(launch.source.first_stage, 0, ""), list[object]()
    outcome: Outcome | str = "not run"
    for point, rewrites, is_end in _steps(launch, target, module, context):
        reached(point)
        before, contents = contents, contents_of(module)
        if contents != before:
            outcome = _try(launch, module, point)
        if isinstance(outcome, str) or (_is_mixed(outcome) and not is_end):
            report.rows.append(Row(point, "-", rewrites, outcome if isinstance(outcome, str) else "mixed forms"))
            continue
        if expected is None and outcome.error is None:
            expected = outcome
        if _judge(report, point, rewrites, expected, outcome, tolerance):
            report.rewrite = _find_rewrite(launch, target, point, expected, tolerance) if expected else None
            return _placed(report, places)
    if native and expected is not None:
        point = Point(target.name, point.number + 1, "machine code")
        if rounds:
            tolerance = replace(tolerance, of_largest=TF32)
        _judge(report, point, 0, expected, run_native(launch, target), tolerance)
    return _placed(report, places)


def _rounds_to_tf32(op: Operation) -> bool:
    """Return whether tensor cores take the operands of a dot with fewer bits than they have."""
    match op:
        case tt.DotOp() | ttng.WarpGroupDotOp():
            is_allowed = InputPrecision.of(op.input_precision) is InputPrecision.TF32
            return is_allowed and element_type(op.a.type) == f32
        case _:
            return False


def _steps(launch: Launch, target: Target, module: ModuleOp, context: PassContext) -> Iterator[tuple[Point, int, bool]]:
    """Run the passes one by one: where it got to, how many rewrites happened, and whether a stage ends there."""
    yield Point(launch.source.first_stage, 0, ""), 0, True
    number = 0
    for stage, passes in stages_of(launch, target):
        for position, pass_ in enumerate(passes):
            number += 1
            with watch_rewrites() as watch:
                PassPipeline([pass_]).run(module, context)
            yield Point(stage, number, pass_.name), len(watch.rewrites), position == len(passes) - 1


def _try(launch: Launch, module: ModuleOp, point: Point) -> Outcome | str:
    """Return what the reference makes of a module; where it stumbles, as on mixed forms, what it stumbled over."""
    try:
        return run_reference(launch, module, str(point))
    except (TypeError, KeyError, AttributeError, ValueError, AssertionError) as error:
        first = str(error).partition("\n")[0]
        return f"not run: {type(error).__name__}: {first}"


def _is_mixed(outcome: Outcome) -> bool:
    return isinstance(outcome.error, ReferenceError) and any(text in str(outcome.error) for text in MIXED)


def _judge(
    report: Report, point: Point, rewrites: int, expected: Outcome | None, outcome: Outcome, tolerance: Tolerance
) -> bool:
    """Add a row; whether it is the first one that differs."""
    if outcome.error is not None:
        report.rows.append(Row(point, "error", rewrites))
        report.culprit, report.error = point, str(outcome.error)
        return True
    assert expected is not None
    difference = find_difference(report.launch, expected.memory, outcome.memory, tolerance)
    report.rows.append(Row(point, "same" if difference is None else "different", rewrites))
    if difference is None:
        return False
    report.culprit, report.difference = point, difference
    return True


def _find_rewrite(
    launch: Launch, target: Target, culprit: Point, expected: Outcome, tolerance: Tolerance
) -> Rewrite | None:
    """The first rewrite of the culprit without which the result is right; None if no rule is to blame."""

    def is_wrong(limit: int | None) -> tuple[bool, list[Rewrite]]:
        module = launch.source.module(target, launch.options)
        context = PassContext(facts=target.facts)
        number = 0
        rewrites: list[Rewrite] = []
        for _, passes in stages_of(launch, target):
            for pass_ in passes:
                number += 1
                if number > culprit.number:
                    break
                with watch_rewrites(limit if number == culprit.number else None) as watch:
                    PassPipeline([pass_]).run(module, context)
                rewrites = watch.rewrites
        outcome = _try(launch, module, culprit)
        if isinstance(outcome, str):
            return True, rewrites
        wrong = outcome.error is not None or bool(find_difference(launch, expected.memory, outcome.memory, tolerance))
        return wrong, rewrites

    try:
        always_wrong, _ = is_wrong(0)
        _, rewrites = is_wrong(None)
        if always_wrong or not rewrites:
            return None
        right, wrong = 0, len(rewrites)
        while wrong - right > 1:
            middle = (right + wrong) // 2
            if is_wrong(middle)[0]:
                wrong = middle
            else:
                right = middle
    except TilewrightError:
        return None  # an incomplete canonicalisation may leave forms that later passes do not take
    return rewrites[wrong - 1]


def _places_of_stores(module: ModuleOp) -> dict[str, Span | str]:
    """Return where each pointer argument is stored to, by the name that the signature has for it."""
    places: dict[str, Span | str] = {}
    writers = (tt.StoreOp, tt.AtomicRMWOp, tt.AtomicCASOp, tt.AtomicStoreOp, tt.DescriptorStoreOp)
    for op in module.walk():
        if not isinstance(op, writers):
            continue
        pending, seen = [op.operands[0]], set[int]()
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            place = op_place(op)
            if value.name_hint and place is not None:
                places.setdefault(value.name_hint, place)
            owner = value.owner
            if hasattr(owner, "operands"):
                pending.extend(owner.operands)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue, reportUnknownArgumentType]
    return places


def _placed(report: Report, places: dict[str, Span | str]) -> Report:
    if report.difference is not None:
        report.place = places.get(report.difference.argument.partition("[")[0])
    return report
