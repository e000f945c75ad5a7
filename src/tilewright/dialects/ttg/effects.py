"""Which memory an op touches: shared memory and tensor memory are apart from global memory."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation
from xdsl.traits import DefaultResource, EffectInstance, MemoryEffect, MemoryEffectKind, Resource

from tilewright.dialects.ttg.types import MemDescType
from tilewright.support.records import dataclass

READ, WRITE = MemoryEffectKind.READ, MemoryEffectKind.WRITE
ALLOC, FREE = MemoryEffectKind.ALLOC, MemoryEffectKind.FREE


@dataclass(frozen=True)
class SharedMemory(Resource):
    """The memory that the threads of a CTA share."""

    def name(self) -> str:
        return "SharedMemory"


@dataclass(frozen=True)
class TensorMemory(Resource):
    """The memory of Blackwell's tensor cores."""

    def name(self) -> str:
        return "TensorMemory"


OFFSET = "allocation.offset"
"""Where a buffer is, once memory is allocated."""

GLOBAL = DefaultResource()
SHARED = SharedMemory()
TENSOR = TensorMemory()


@dataclass(frozen=True)
class Touches(MemoryEffect):
    """A fixed set of (kind, memory) pairs: `Touches(((READ, GLOBAL), (WRITE, SHARED)))`."""

    effects: tuple[tuple[MemoryEffectKind, Resource], ...]

    def get_effects(self, op: Operation) -> set[EffectInstance]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return {EffectInstance(kind, resource=memory) for kind, memory in self.effects}


@dataclass(frozen=True)
class AllocatesBuffer(MemoryEffect):
    """A new buffer in shared memory. Writing its initial value affects only those who have the
    buffer, so an unused one may go; `touches_shared` does count that write.

    A buffer that keeps its initial value is a value like any other, of which one is enough, until it has its place in
    memory.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        keeps_value = bool(op.operands) and OFFSET not in op.attributes and not _is_mutable(op.results[0].type)
        return set() if keeps_value else {EffectInstance(ALLOC, resource=SHARED)}


def _is_mutable(type: Attribute) -> bool:
    return not isinstance(type, MemDescType) or type.is_mutable


def touches_shared(op: Operation, kind: MemoryEffectKind) -> bool:
    """Return whether an op itself does `kind` to shared memory, the write of a buffer's initial value included."""
    if kind == WRITE and op.get_traits_of_type(AllocatesBuffer):
        return bool(op.operands)
    return any(
        instance.kind == kind and instance.resource == SHARED
        for trait in op.get_traits_of_type(MemoryEffect)
        for instance in trait.get_effects(op) or ()
    )
