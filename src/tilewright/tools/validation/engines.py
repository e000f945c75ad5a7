"""Engines: each takes a launch and gives what memory holds after it.

The reference runs the module as it is after any pass; a target runs machine code: the CPU, or a GPU. `cuda_sim` runs
the PTX of the architecture that the launch asks for, and finds races and accesses out of bounds on the way; `cuda` is
the GPU that is there, which gets copies of the data.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import field

from xdsl.dialects.builtin import ModuleOp

from tilewright.compiler.compilation import build_entry, load_entry
from tilewright.compiler.stages import stages_of as stages_after_front_end
from tilewright.dialects import func, tt
from tilewright.ir.passes import Pass, PassContext, PassPipeline
from tilewright.reference import run_grid
from tilewright.reference.machine import Machine
from tilewright.support import knobs
from tilewright.support.errors import TilewrightError
from tilewright.support.records import dataclass
from tilewright.targets.base import Target, find_target
from tilewright.targets.capabilities import BoundedKernel, DeviceKernel, HasLateStages, configured
from tilewright.targets.cuda.simulated import SimulatedKernel
from tilewright.tools.validation.device import run_on_device
from tilewright.tools.validation.external_functions import external_functions
from tilewright.tools.validation.launches import Array, Launch

DEFAULT_STEP_LIMIT = 3_000_000
"""Ops that the reference may execute per launch; kernels that need more are no material for validation."""


@dataclass
class Outcome:
    """What one engine made of a launch: memory after it, or the error that it ended with."""

    engine: str
    memory: list[Array] = field(default_factory=list[Array])
    error: TilewrightError | None = None
    printed: list[str] = field(default_factory=list[str])


def run_reference(launch: Launch, module: ModuleOp, engine: str) -> Outcome:
    """Run a module as it is now on the reference."""
    memory = launch.memory()
    try:
        machine: Machine = run_grid(
            module,
            kernel_name(module),
            launch.arguments(memory),
            launch.grid,
            external=external_functions(module),
            step_limit=DEFAULT_STEP_LIMIT,
        )
    except TilewrightError as error:
        return Outcome(engine, memory, error)
    return Outcome(engine, memory, printed=machine.output)


def run_native(launch: Launch, target: Target, engine: str = "") -> Outcome:
    """Compile for a target, without the disk cache, and run. The simulated GPU looks for races in shared memory alone:
    those in global memory are the program's own, and go in its order."""
    memory = launch.memory()
    engine = engine or target.name
    try:
        entry = build_entry(launch.source, launch.options, target)
        kernel = load_entry(entry, "", launch.source, launch.options, target)
        native = kernel.native
        if isinstance(native, SimulatedKernel):
            native.global_races = False
        slots = launch.launch_slots(memory)
        x, y, z = launch.grid
        if not x * y * z:
            pass
        elif isinstance(native, BoundedKernel):
            native.launch_within(slots, launch.extents(memory), launch.grid, kernel.parameters.names)
        elif isinstance(native, DeviceKernel):
            run_on_device(native.launch_on, launch, memory)
        else:
            packed = (ctypes.c_uint64 * (len(slots) + 3))(*(slot & (2**64 - 1) for slot in slots), x, y, z)
            native.launch(ctypes.addressof(packed), x * y * z)
    except TilewrightError as error:
        return Outcome(engine, memory, error)
    return Outcome(engine, memory)


def kernel_name(module: ModuleOp) -> str:
    """The kernel of a module: its first public function with a body."""
    for op in module.body.block.ops:
        if isinstance(op, func.FuncOp | tt.FuncOp) and op.regions[0].blocks:
            visibility = op.sym_visibility
            if visibility is None or visibility.data != "private":
                return op.sym_name.data
    raise TilewrightError("the module has no public function")


@dataclass(frozen=True)
class Point:
    """A place in the pipeline: the front end's output, or after a pass."""

    stage: str
    number: int
    pass_name: str

    def __str__(self) -> str:
        return f"{self.stage}: {self.pass_name}" if self.pass_name else self.stage


def stages_of(launch: Launch, target: Target) -> list[tuple[str, Sequence[Pass]]]:
    """The stages of a target for a kernel's language, and the passes by which it starts to emit machine code, where the
    reference can run what they give."""
    late = target.late_stages() if isinstance(target, HasLateStages) else ()
    with knobs.scope(tma_loads="never"):  # kernels keep the arguments that they are run with
        return [*stages_after_front_end(launch.source, target), *late]


def walk_passes(launch: Launch, target: Target) -> Iterator[tuple[Point, ModuleOp]]:
    """The module after the front end and after every pass of the target's pipeline. It is one module, changed in
    place. Raises PassError classes."""
    target = configured(target, launch.options)
    module = launch.source.module(target, launch.options)
    yield Point(launch.source.first_stage, 0, ""), module
    context = PassContext(facts=target.facts)
    number = 0
    for stage, passes in stages_of(launch, target):
        for pass_ in passes:
            number += 1
            PassPipeline([pass_]).run(module, context)
            yield Point(stage, number, pass_.name), module


def walk_stages(launch: Launch, target: Target) -> Iterator[tuple[Point, ModuleOp]]:
    """The module after the front end and at the end of each stage."""
    target = configured(target, launch.options)
    module = launch.source.module(target, launch.options)
    yield Point(launch.source.first_stage, 0, ""), module
    context = PassContext(facts=target.facts)
    for index, (stage, passes) in enumerate(stages_of(launch, target), 1):
        PassPipeline(passes).run(module, context)
        yield Point(stage, index, ""), module


def find_cpu() -> Target:
    """The CPU target of this host."""
    return find_target("cpu")


def find_engine(name: str) -> tuple[Target, str | None]:
    """The target and the architecture in `cpu`, `cuda` or `cuda_sim:sm80`. Raises TargetError."""
    target, _, arch = name.partition(":")
    return find_target(target), arch or None
