"""Each pass, and random sequences of passes, on modules of every stage: a pass transforms a module, or refuses it with
an error of its own. It does not fail internally, and leaves nothing that does not verify.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.passes import Pass, PassContext, PassPipeline, available_passes, parse_pipeline
from tilewright.ir.printing import print_op
from tilewright.ir.stage_guard import StageGuard
from tilewright.ir.verify import verify_module
from tilewright.support.errors import PassError, TilewrightError
from tilewright.support.facts import TargetFacts
from tilewright.targets.cpu.facts import host_facts
from tilewright.tools.fuzzing.differential import Failure
from tilewright.tools.fuzzing.mutation import TimeOut, time_limit

LONGEST = 6
"""Passes of a random sequence."""

SEQUENCES = 4
"""Random sequences on each module, in a run of the fuzzer."""

TIME_LIMIT = 60
"""Seconds that a sequence may take on one module; the slowest ones take one."""

HEAD = "// passes: "
"""How the first line of a saved failure begins."""


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


def check_passes(module: ModuleOp, passes: Sequence[Pass]) -> Failure | None:
    """`find_failure` for the processor of this machine, as a failure of the fuzzer; a hang is one, too."""
    try:
        with time_limit(TIME_LIMIT):
            found = find_failure(module, passes, host_facts())
    except TimeOut:
        return Failure("passes", "hang", f"{PassPipeline(passes).spelling()}: more than {TIME_LIMIT} seconds")
    return None if found is None else Failure("passes", "failure", found)


def text_with_passes(module: ModuleOp, passes: Sequence[Pass]) -> str:
    """A module with the passes that fail on it, as a file that can be run again."""
    return f"{HEAD}{PassPipeline(passes).spelling()}\n{print_op(module)}"


def passes_of_text(text: str) -> Sequence[Pass] | None:
    """The passes that a saved failure names; None for one of another kind."""
    first = text.partition("\n")[0]
    return parse_pipeline(first.removeprefix(HEAD)).passes if first.startswith(HEAD) else None
