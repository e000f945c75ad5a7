"""One generated kernel on all engines: the front end's output on the reference decides, the others must agree."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from tilewright.support.errors import TilewrightError
from tilewright.targets.base import Target
from tilewright.tools.fuzzing.replay import load_file, render, tolerance_of
from tilewright.tools.fuzzing.values import GeneratedKernel
from tilewright.tools.validation.compare import Tolerance, find_difference
from tilewright.tools.validation.engines import Outcome, run_native, run_reference, walk_stages
from tilewright.tools.validation.launches import Launch, record_launch

ENGINES = ("source", "ttir", "structured", "linalg", "loops", "cpu")


@dataclass(frozen=True)
class Failure:
    """Two engines disagree, or one failed."""

    engine: str
    kind: str
    """`difference`, `error` (diagnosed) or `crash` (anything else)."""
    message: str

    def __str__(self) -> str:
        return f"{self.engine}: {self.kind}: {self.message}"


def launch_of_file(path: Path) -> Launch:
    """The launch that a replay file describes."""
    module = load_file(path)
    kernel, grid, keywords = module.tilewright_inputs()
    return record_launch(kernel, grid, (), dict(keywords))


def check_kernel(kernel: GeneratedKernel, target: Target, engines: tuple[str, ...] = ENGINES) -> Failure | None:
    """Run a kernel on all engines; the first failure, or None."""
    with tempfile.TemporaryDirectory(prefix="tilewright-fuzz-") as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(render(kernel))
        try:
            launch = launch_of_file(path)
            return check_launch(launch, target, tolerance_of(kernel), engines)
        except TilewrightError as error:
            return Failure("frontend", "error", str(error))
        except Exception as error:
            return Failure("frontend", "crash", f"{type(error).__name__}: {error}")


def check_launch(
    launch: Launch, target: Target, tolerance: Tolerance, engines: tuple[str, ...] = ENGINES
) -> Failure | None:
    """Run a launch on all engines; the first failure, or None."""
    expected: Outcome | None = None
    engine = "source"
    try:
        for point, module in walk_stages(launch, target):
            engine = point.stage
            if engine not in engines:
                continue
            outcome = run_reference(launch, module, engine)
            failure = _judge(launch, expected, outcome, tolerance)
            if failure is not None:
                return failure
            expected = expected or outcome
        engine = target.name
        if engine in engines:
            return _judge(launch, expected, run_native(launch, target), tolerance)
    except TilewrightError as error:
        return Failure(engine, "error", f"after stage '{engine}': {error}")
    except Exception as error:
        return Failure(engine, "crash", f"after stage '{engine}': {type(error).__name__}: {error}")
    return None


def _judge(launch: Launch, expected: Outcome | None, outcome: Outcome, tolerance: Tolerance) -> Failure | None:
    if outcome.error is not None:
        return Failure(outcome.engine, "error", str(outcome.error))
    if expected is None:
        return None
    difference = find_difference(launch, expected.memory, outcome.memory, tolerance)
    return None if difference is None else Failure(outcome.engine, "difference", str(difference))
