"""Passes of other packages in our pipelines.

A package puts a pass into a pipeline by an entry point of the group `tilewright.passes`, whose value is a `Placement`:

```toml
[project.entry-points."tilewright.passes"]
count-loads = "my_package.passes:PLACEMENT"
```
```python
PLACEMENT = Placement(CountLoads, pipeline="cpu/ttir", after="triton-combine")
```

A pipeline is named by target and stage: `cpu/ttir`, `cpu/linalg`, `cuda/ttgir` (the simulated GPU's is the same one).
Plug-ins of one place run in the order of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from tilewright.compiler.toolchain import PASSES
from tilewright.support.entry_points import find_entry_points
from tilewright.support.errors import PipelineError
from tilewright.support.records import dataclass
from tilewright.targets.base import BUILT_IN, ENTRY_POINT_GROUP
from tilewright.targets.capabilities import HasBaseline

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from tilewright.ir.passes import Pass
    from tilewright.targets.base import Target

SAME_PIPELINES = {"cuda_sim": "cuda"}

Stages = Sequence[tuple[str, "Sequence[Pass]"]]


@dataclass(frozen=True)
class Placement:
    """Where a pass goes: before or after another of a pipeline, else to its end."""

    make: Callable[[], object]
    """Makes the pass: its class, or a function that gives it options."""
    pipeline: str
    """Target and stage, as `cpu/linalg`."""
    before: str = ""
    """The name of the pass that it goes before."""
    after: str = ""
    """The name of the pass that it follows."""
    occurrence: int = 0
    """Which pass of that name, counted from 0, or from -1 backwards, where the pipeline has several."""


@cache
def load_plugins() -> tuple[tuple[str, Placement], ...]:
    """Every plug-in that is installed, with its name and package for messages. Raises PipelineError where one cannot
    be loaded, or names no position."""
    return tuple((_describe(point), _load(point)) for point in find_entry_points(PASSES))


def with_plugins(target: Target, stages: Stages) -> Stages:
    """The stages of a target, with the passes of plug-ins in them. Raises PipelineError where one names a place that
    there is not; the baseline leaves out those at passes that it has not."""
    plugins = load_plugins()
    if not plugins:
        return stages
    pipelines = {stage: list(passes) for stage, passes in stages}
    own = SAME_PIPELINES.get(target.name, target.name)
    for name, placement in plugins:
        owner, _, stage = placement.pipeline.partition("/")
        if owner != own:
            _check_target(name, owner)
        elif stage not in pipelines:
            known = ", ".join(f"{own}/{stage}" for stage in pipelines)
            raise PipelineError(f"{name} names the pipeline '{placement.pipeline}'; there are {known}")
        else:
            is_baseline = isinstance(target, HasBaseline) and target.is_baseline
            _insert(name, placement, pipelines[stage], is_optional=is_baseline)
    return list(pipelines.items())


def _describe(point: EntryPoint) -> str:
    package = "" if point.dist is None else f" of {point.dist.name} {point.dist.version}"
    return f"pass plug-in '{point.name}'{package}"


def _load(point: EntryPoint) -> Placement:
    try:
        placement = point.load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise PipelineError(f"{_describe(point)} cannot be loaded from {point.value}: {reason}") from error
    if not isinstance(placement, Placement):
        reason = f"{point.value} is {type(placement).__name__}, no tilewright.compiler.plugins.Placement"
        raise PipelineError(f"{_describe(point)} names no position: {reason}")
    if placement.before and placement.after:
        both = f"'{placement.before}' and after '{placement.after}'"
        raise PipelineError(f"{_describe(point)} names two positions, before {both}: name one")
    return placement


def _check_target(name: str, owner: str) -> None:
    """PipelineError where no target has that name."""
    known = {*BUILT_IN, *(point.name for point in find_entry_points(ENTRY_POINT_GROUP))} - set(SAME_PIPELINES)
    if owner not in known:
        raise PipelineError(f"{name} names a pipeline of '{owner}'; there are targets {', '.join(sorted(known))}")


def _insert(name: str, placement: Placement, passes: list[Pass], *, is_optional: bool) -> None:
    from tilewright.ir.passes import is_registered

    beside = placement.before or placement.after
    index = len(passes)
    if beside:
        found = [index for index, pass_ in enumerate(passes) if pass_.name == beside]
        if not found and is_optional and is_registered(beside):
            return
        if not -len(found) <= placement.occurrence < len(found):
            raise PipelineError(f"{name}: {_what_is_missing(placement, beside, passes, len(found))}")
        index = found[placement.occurrence] + bool(placement.after)
    passes.insert(index, _make(name, placement))


def _what_is_missing(placement: Placement, beside: str, passes: Sequence[Pass], count: int) -> str:
    if count:
        return f"'{placement.pipeline}' has '{beside}' {count} times: there is no occurrence {placement.occurrence}"
    names = list(dict.fromkeys(pass_.name for pass_ in passes))
    near = get_close_matches(beside, names, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(names)}"
    return f"'{placement.pipeline}' has no pass '{beside}'{hint}"


def _make(name: str, placement: Placement) -> Pass:
    from tilewright.ir.passes import Pass

    made = placement.make()
    if not isinstance(made, Pass):
        raise PipelineError(f"{name} makes {type(made).__name__}, no pass")
    return made
