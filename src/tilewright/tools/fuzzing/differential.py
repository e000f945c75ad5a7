"""One generated kernel on all engines: the front end's output on the reference decides, the others must agree."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tilewright.ir.verify import verify_module
from tilewright.support.errors import TilewrightError
from tilewright.support.records import dataclass
from tilewright.targets.base import Target, find_target
from tilewright.targets.capabilities import baseline_of
from tilewright.tools.fuzzing.replay import render, tolerance_of
from tilewright.tools.fuzzing.values import GeneratedKernel
from tilewright.tools.user_files import UserFileError, load_file
from tilewright.tools.validation.compare import Tolerance, find_difference
from tilewright.tools.validation.engines import Outcome, run_native, run_reference, walk_passes, walk_stages
from tilewright.tools.validation.file_launches import given_launches
from tilewright.tools.validation.kept_source import KeptSource
from tilewright.tools.validation.launches import Launch


@dataclass(frozen=True)
class Route:
    """A way down the compiler, and the places on it where results are compared."""

    target: str = "cpu"
    arch: str | None = None
    stages: tuple[str, ...] = ("ttir", "structured", "linalg", "loops")
    """Stages at whose ends the reference runs the module."""
    is_fine: bool = False
    """Whether the reference runs the module after every pass of these stages."""
    has_machine_code: bool = True
    is_baseline: bool = False
    """Whether no pass optimises linalg."""

    @property
    def compares_stages(self) -> bool:
        """True if the reference runs more than the front end's output."""
        return bool(self.stages) or self.is_fine

    def named(self, engine: str) -> str:
        return f"{engine} {self.arch}" if self.arch else f"{engine} baseline" if self.is_baseline else engine

    def find_target(self) -> Target:
        target = find_target(self.target)
        return baseline_of(target) if self.is_baseline else target


CPU = Route()
CPU_ALONE = Route(stages=())
BASELINE = Route(stages=(), is_baseline=True)
"""Machine code alone, with optimising passes and without."""
GPU_STAGES = ("ttgir", "memory")
AMPERE, HOPPER = (Route("cuda_sim", arch, GPU_STAGES) for arch in ("sm80", "sm90"))
GPUS = (AMPERE, HOPPER)
"""Simulated ones."""
GPUS_ALONE = tuple(replace(gpu, stages=()) for gpu in GPUS)
"""Their machine code alone."""
GPU = Route("cuda", stages=())
"""The one that is there."""


@dataclass(frozen=True)
class Failure:
    """Two engines disagree, or one failed."""

    engine: str
    kind: str
    """`difference`, `error` (diagnosed) or `crash` (anything else)."""
    message: str

    def __str__(self) -> str:
        return f"{self.engine}: {self.kind}: {self.message}"

    def after(self, pass_name: str) -> Failure:
        """The failure, seen after a pass."""
        return Failure(self.engine, self.kind, f"after {pass_name}: {self.message}")


def launch_of_file(path: Path) -> Launch:
    """The launch that a replay file describes. Raises UserFileError where it is none."""
    launches = list(given_launches(path, load_file(path)))
    if len(launches) != 1:
        raise UserFileError(f"{path} is not a saved failure: it has {len(launches)} launches")
    return launches[0]


def check_kernel(kernel: GeneratedKernel, routes: Sequence[Route] = (CPU,)) -> Failure | None:
    """Run a kernel on all engines of some routes; the first failure, or None."""
    with tempfile.TemporaryDirectory(prefix="tilewright-fuzz-") as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(render(kernel))
        try:
            launch = launch_of_file(path)
            return check_launch(launch, tolerance_of(kernel), routes)
        except TilewrightError as error:
            return Failure("frontend", "error", str(error))
        except Exception as error:
            return Failure("frontend", "crash", f"{type(error).__name__}: {error}")


def check_launch(launch: Launch, tolerance: Tolerance, routes: Sequence[Route] = (CPU,)) -> Failure | None:
    """Run a launch on all engines of some routes; the first failure, or None. What the front end's output means on the
    first route is what is right. Ways down the CPU have the module at the linalg stage in common."""
    expected: Outcome | None = None
    on_cpu, at_linalg = launch, launch
    if sum(route.target == CPU.target for route in routes) > 1:
        on_cpu = replace(launch, source=KeptSource(launch.source, launch.source.first_stage))
        at_linalg = replace(launch, source=KeptSource(on_cpu.source, "linalg"))
    for route in routes:
        is_on_cpu = route.target == CPU.target
        modules = on_cpu if is_on_cpu else launch.for_architecture(route.arch)
        found = _check_route(modules, at_linalg if is_on_cpu else modules, tolerance, route, expected)
        if isinstance(found, Failure):
            return found
        expected = expected or found
    return None


def _check_route(
    launch: Launch, native: Launch, tolerance: Tolerance, route: Route, expected: Outcome | None
) -> Failure | Outcome | None:
    """A failure, or what is right. `native` is the same launch, from where machine code is compiled from."""
    target, engine = route.find_target(), "source"
    walk = walk_passes if route.is_fine else walk_stages
    try:
        points = walk(launch, target) if expected is None or route.compares_stages else ()
        for point, module in points:
            engine = route.named(point.stage)
            if point.number and point.stage not in route.stages:
                continue
            verify_module(module)
            outcome = run_reference(launch, module, engine)
            failure = _judge(launch, expected, outcome, tolerance)
            if failure is not None:
                return failure if not point.pass_name else failure.after(point.pass_name)
            expected = expected or outcome
            if not route.compares_stages:
                break
        engine = route.named(target.name)
        if route.has_machine_code:
            return _judge(launch, expected, run_native(native, target, engine), tolerance) or expected
    except TilewrightError as error:
        return Failure(engine, "error", f"after stage '{engine}': {error}")
    except Exception as error:
        return Failure(engine, "crash", f"after stage '{engine}': {type(error).__name__}: {error}")
    return expected


def _judge(launch: Launch, expected: Outcome | None, outcome: Outcome, tolerance: Tolerance) -> Failure | None:
    if outcome.error is not None:
        return Failure(outcome.engine, "error", str(outcome.error))
    if expected is None:
        return None
    difference = find_difference(launch, expected.memory, outcome.memory, tolerance)
    return None if difference is None else Failure(outcome.engine, "difference", str(difference))
