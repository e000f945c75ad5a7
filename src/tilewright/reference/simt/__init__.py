"""A simulated GPU: PTX executed for all threads of a grid at once, with every access to memory checked.

`run_ptx` reads PTX text (`parser`), decodes every instruction once into a function (`code`, `instructions/`), and
executes them for groups of threads that are at the same instruction (`scheduler`). Shared memory knows who wrote and
read what when, and reports accesses that nothing orders (`shared_memory`).
"""

from tilewright.reference.simt.errors import (
    DeadlockError,
    DeviceAssertionFailed,
    DeviceTrap,
    DivergenceError,
    MemoryAccessError,
    RaceError,
    SimulationError,
    UnknownInstruction,
)
from tilewright.reference.simt.run import Run, run_ptx
from tilewright.reference.simt.tensor_map import TensorMap
from tilewright.support.ptx.errors import PtxSyntaxError

__all__ = [
    "DeadlockError",
    "DeviceAssertionFailed",
    "DeviceTrap",
    "DivergenceError",
    "MemoryAccessError",
    "PtxSyntaxError",
    "RaceError",
    "Run",
    "SimulationError",
    "TensorMap",
    "UnknownInstruction",
    "run_ptx",
]
