"""Each pass, and random sequences of passes, on modules of every stage: a pass transforms a module, or refuses it with
an error of its own. It does not fail internally, and leaves nothing that does not verify.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.facts import TargetFacts
from tilewright.ir.passes import Pass, PassContext, PassPipeline, available_passes
from tilewright.ir.stage_guard import StageGuard
from tilewright.ir.verify import verify_module
from tilewright.support.errors import PassError, TilewrightError

LONGEST = 6
"""Passes of a random sequence."""


def every_pass() -> list[Pass]:
    """Each pass of ours with its default options; those that tests register are left out."""
    return [cls() for cls in available_passes().values() if cls.__module__.startswith("tilewright.")]


def random_sequences(random: Random, count: int) -> Iterator[list[Pass]]:
    """Sequences of two to `LONGEST` passes."""
    passes = every_pass()
    for _ in range(count):
        yield random.choices(passes, k=random.randint(2, LONGEST))


def find_failure(module: ModuleOp, passes: Sequence[Pass], facts: TargetFacts | None) -> str | None:
    """Run passes on a copy of a module; what went wrong, with the passes up to there, or None."""
    copy, context = module.clone(), PassContext(facts=facts)
    for index, pass_ in enumerate(passes):
        done = PassPipeline(passes[: index + 1]).spelling()
        try:
            PassPipeline([pass_]).run(copy, context, [StageGuard()])
        except PassError as error:
            return f"{done}: {error}" if error.internal else None
        except TilewrightError:
            return None
        if copy.is_structurally_equivalent(module):
            continue
        try:
            verify_module(copy)
        except TilewrightError as error:
            return f"{done}: the module does not verify: {error}"
    return None
