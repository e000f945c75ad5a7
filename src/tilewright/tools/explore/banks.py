"""Bank conflicts of a module's accesses to shared memory, counted from its layouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tilewright.support.records import dataclass
from tilewright.support.spans import Span

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation

STORE_MATRIX_CAPABILITY = 90


@dataclass(frozen=True)
class BankAccess:
    """One access of a tensor to shared memory: how often an instruction's phase is repeated because lanes ask one bank
    for different words (0 without conflicts), and the passes over the banks that all instructions of a warp take."""

    op: str
    place: Span | None
    instruction: str
    conflicts: int
    passes: int


def count_bank_conflicts(module: ModuleOp, capability: int) -> list[BankAccess]:
    """Every access to shared memory whose layouts are known before code is emitted: loads, stores, conversions."""
    from tilewright.ir.walking import ops_within

    return [access for op in ops_within(module) for access in _accesses(op, capability)]


def _accesses(op: Operation, capability: int) -> Iterator[BankAccess]:
    from tilewright.analysis.scratch import conversion_plan
    from tilewright.dialects import ttg
    from tilewright.ir.locations import find_span
    from tilewright.layouts.swizzle import SharedMemoryConversion
    from tilewright.lowering.unsupported import UnsupportedError

    place = find_span(op.location)
    stores = capability >= STORE_MATRIX_CAPABILITY
    try:
        match op:
            case ttg.LocalLoadOp():
                yield _access("load", op, op.result.type, op.src.type, place, matrices=True)
            case ttg.LocalStoreOp():
                yield _access("store", op, op.src.type, op.dst.type, place, matrices=stores)
            case ttg.LocalAllocOp() if op.src is not None:
                yield _access("store", op, op.src.type, op.result.type, place, matrices=stores)
            case ttg.ConvertLayoutOp():
                plan = conversion_plan(op)
                if isinstance(plan, SharedMemoryConversion):
                    for what, access in (("store", plan.store_access), ("load", plan.load_access)):
                        kind = f"{what}, {access.kind.value}"
                        yield BankAccess(op.name, place, kind, access.conflicts, access.passes)
            case _:
                pass
    except UnsupportedError:
        return


def _access(
    what: str, op: Operation, tensor: Attribute, buffer: Attribute, place: Span | None, *, matrices: bool
) -> BankAccess:
    from tilewright.dialects.ttg import MemDescType
    from tilewright.lowering.ttg_to_llvm.buffers import plan_layout_access
    from tilewright.lowering.ttg_to_llvm.carried_values import layout_of_type

    assert isinstance(buffer, MemDescType)
    access, _ = plan_layout_access(layout_of_type(tensor), buffer, writes=False, matrices=matrices)
    return BankAccess(op.name, place, f"{what}, {access.kind.value}", access.conflicts, access.passes)
