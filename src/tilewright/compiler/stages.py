"""The stages that a source goes through on a target, and the modules at their ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tilewright.compiler.options import CompileOptions
from tilewright.compiler.plugins import with_plugins
from tilewright.compiler.source import Source
from tilewright.support import knobs
from tilewright.support.errors import (
    OptionError,
    StageContractError,
)
from tilewright.targets.base import Target
from tilewright.targets.capabilities import (
    HasGluon,
    HasSmallerPlans,
    configured,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.ir.passes import Instrument, Pass, PassPipeline, Remark


Watching = Callable[[str], "Sequence[Instrument]"]
"""From the name of a stage to the instruments that watch the passes which lead there."""


def stages_of(source: Source, target: Target) -> Sequence[tuple[str, Sequence[Pass]]]:
    """The stages after the front end: those of Gluon for a kernel written in it. Raises OptionError where the target
    has none, PipelineError where a plug-in's pass has no place in them."""
    return with_plugins(target, _own_stages(source, target))


def _own_stages(source: Source, target: Target) -> Sequence[tuple[str, Sequence[Pass]]]:
    if not source.is_gluon:
        return target.stages()
    if not isinstance(target, HasGluon):
        raise OptionError(f"kernel '{source.name}' is written in Gluon, which target {target.name} does not run")
    return target.gluon_stages()


def stages_from(source: Source, target: Target) -> list[str]:
    """The stages that a source goes through, its own first. Raises OptionError where the target has no such stage."""
    names = ["source", *(stage for stage, _ in stages_of(source, target))]
    if source.first_stage not in names:
        raise OptionError(f"no stage {source.first_stage!r}; target {target.name} has {', '.join(names)}")
    return names[names.index(source.first_stage) :]


def lower(
    source: Source, options: CompileOptions, target: Target, watching: Watching = lambda stage: ()
) -> Iterator[tuple[str, ModuleOp]]:
    """The module at the end of each stage, in order. It is one module, changed in place: print it before going on.

    `watching` gives the instruments for the passes that lead to a stage. The last one is verified. A kernel that takes
    too much memory there for what the target made of it goes all the way again, with smaller plans.
    """
    from tilewright.ir.instruments import VerifyResult
    from tilewright.ir.passes import PassContext
    from tilewright.ir.stages import STAGES, check_stage

    target = configured(target, options)
    remaining = stages_from(source, target)
    contracts = {contract.asm_key: contract for contract in STAGES.values()}
    module = source.module(target, options)
    yield source.first_stage, module
    context = PassContext(facts=target.facts)
    for stage, passes in stages_of(source, target):
        if stage not in remaining[1:]:
            continue
        last = [VerifyResult()] if stage == remaining[-1] else []
        _pipeline(passes).run(module, context, [*watching(stage), *last])
        if stage in contracts:
            try:
                check_stage(module, contracts[stage])
            except StageContractError as error:
                raise _with_reason(error, context.remarks) from None
        if stage == remaining[-1] and (smaller := _with_more_room(source, target, module)) is not None:
            *_, (_, module) = lower(source, options, smaller, watching)
        yield stage, module


def _with_more_room(source: Source, target: Target, module: ModuleOp) -> Target | None:
    """Return the target that a kernel is to be lowered for in place of this one."""
    if source.is_gluon or not isinstance(target, HasSmallerPlans):
        return None
    return target.with_more_room(module)


def _pipeline(passes: Sequence[Pass]) -> PassPipeline:
    """The passes of a stage, less those that `tilewright bisect` leaves out."""
    from tilewright.ir.passes import PassPipeline

    text = knobs.get("bisect")
    if not text:
        return PassPipeline(passes)
    from tilewright.ir.bisection import Limits, limited

    limits = Limits.parse(text)
    return PassPipeline(limited(pass_, limits) for pass_ in passes)


def _with_reason(error: StageContractError, remarks: Sequence[Remark]) -> StageContractError:
    """Add what the passes said about the op that no pass could lower."""
    reasons = [r.reason for r in remarks if r.op_name == error.op_name and r.location == error.location]
    if not reasons:
        return error
    message = f"{error.message}: {'; '.join(dict.fromkeys(reasons))}"
    return StageContractError(message, pass_name=error.pass_name, op_name=error.op_name, location=error.location)
