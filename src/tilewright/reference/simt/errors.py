"""What the simulated GPU says about PTX that it cannot run, and about programs that do something without a meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.support.errors import BarrierError, LocatedError, Note
from tilewright.support.ptx.errors import PTX_FILE
from tilewright.support.spans import Span

if TYPE_CHECKING:
    from tilewright.support.ptx.syntax import Instruction


class SimulationError(LocatedError):
    """Base of the errors below. `line` is that of the kernel's source where PTX says so, else of the PTX."""


class UnknownInstruction(SimulationError):
    """An instruction, or a form of one, that the simulated GPU does not have."""


class MemoryAccessError(SimulationError):
    """An access out of bounds, misaligned, or to shared memory that nothing wrote."""


class RaceError(SimulationError):
    """Two threads access the same bytes of shared or global memory, one of them writing, and nothing orders them."""


class DeadlockError(SimulationError):
    """Threads wait at a barrier that cannot complete, or a loop does not end."""


class BarrierMisuseError(SimulationError, BarrierError):
    """An arrival at an mbarrier that expects none, or at one that is not initialised."""


class BarrierDeadlockError(DeadlockError, BarrierError):
    """Threads wait at mbarriers for a phase that never ends."""


class DivergenceError(SimulationError):
    """An instruction that a whole warp executes together was executed by a part of it."""


class DeviceTrap(SimulationError):
    """The kernel executed `trap`."""


class DeviceAssertionFailed(DeviceTrap):
    """The kernel called `__assertfail`."""


def error_at(instruction: Instruction, reason: str, kind: type[SimulationError]) -> SimulationError:
    """An error at an instruction: in the kernel's source where that is known, with the PTX line as a note."""
    ptx = Span(PTX_FILE, instruction.line)
    if instruction.place is None:
        return kind(f"{reason} ('{instruction.text}')", span=ptx)
    return kind(reason, span=instruction.place, notes=[Note(f"at '{instruction.text}'", ptx)])


class Fault(Exception):
    """What went wrong in an instruction; whoever executes it adds where. `position` counts the active threads."""

    def __init__(self, kind: type[SimulationError], reason: str, position: int | None = None) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.position = position
