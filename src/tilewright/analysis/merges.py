"""States of values that control flow merges: loop-carried values, results of conditionals.

A merged value has the shape of its first source; the parts in which its sources differ become *slots*, scalars that
control flow has to carry along. A pointer that a loop bumps by a constant thus becomes an invariant pointer and one
carried offset. Whether a slot is really carried is decided when code is emitted for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from xdsl.ir import Operation, SSAValue

from tilewright.analysis.index_algebra import Expr, IndexAlgebra, Phi
from tilewright.analysis.lanes import Base, BlockPointer, Lanes, Unknown
from tilewright.support.records import dataclass

State = Lanes | BlockPointer
PartKey = tuple[str, int]
"""Which number of a state: its kind and its dimension."""


@dataclass(eq=False, slots=True)
class Slot:
    """One number (or base pointer) that the merge at `op` carries for its value number `index`.

    `incoming` has the sources: (initial, next) of loops, (then, else) of conditionals, (passed on,) of a while loop's
    condition. `group` tells the two merges of a while loop apart: "before" and "after".
    """

    op: Operation
    group: str
    key: PartKey
    incoming: tuple[Expr | SSAValue, ...] = ()
    carried: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    """The values that stand for the slot once it is carried, by place; filled in by the emitter."""

    @property
    def is_pointer(self) -> bool:
        """True if the slot holds a base pointer, False for an offset or a stride."""
        return self.key[0] == "base"

    @property
    def is_invariant(self) -> bool:
        """True if a loop carries the slot unchanged."""
        match self.incoming:
            case (_, Phi(slot=slot)):
                return slot is self
            case _:
                return False


def parts_of(state: State) -> dict[PartKey, Expr | SSAValue]:
    """All numbers of a state, and its base."""
    parts: dict[PartKey, Expr | SSAValue] = {("uniform", 0): state.uniform}
    if isinstance(state, BlockPointer):
        for index, dim in enumerate(state.dims):
            parts["start", index], parts["stride", index], parts["extent", index] = dim.start, dim.stride, dim.extent
    else:
        for index, dim in enumerate(state.dims):
            parts["offset", index], parts["stride", index] = dim.offset, dim.stride
            if dim.wrap is not None:
                parts["wrap", index] = dim.wrap
    if state.base is not None:
        parts["base", 0] = state.base.root
    return parts


def with_parts(state: State, parts: Mapping[PartKey, Expr]) -> State:
    """A state with some of its numbers replaced."""
    if not parts:
        return state
    base = state.base
    if base is not None and ("base", 0) in parts:
        root = parts["base", 0]
        assert isinstance(root, Phi)
        base = Base(root, base.pointee)
    changed: dict[int, dict[str, Expr | None]] = {}
    for (kind, index), part in parts.items():
        if kind not in ("uniform", "base"):
            changed.setdefault(index, {"computed": None} if isinstance(state, Lanes) else {})[kind] = part
    dims = tuple(replace(dim, **changed.get(index, {})) for index, dim in enumerate(state.dims))
    return replace(state, dims=dims, uniform=parts.get(("uniform", 0), state.uniform), base=base)


def without_computed(state: State) -> State:
    """A state without the tensors that hold its remainders: those of one branch are nowhere else."""
    if isinstance(state, BlockPointer):
        return state
    return replace(state, dims=tuple(replace(dim, computed=None) for dim in state.dims))


def find_mismatch(lhs: State, rhs: State) -> str | None:
    """Return why two states can not be merged by carrying numbers; None if they can."""
    if type(lhs) is not type(rhs):
        return "a block pointer and something else"
    if (lhs.base is None) != (rhs.base is None):
        return "a pointer and an integer"
    if lhs.base is not None and rhs.base is not None and lhs.base.pointee != rhs.base.pointee:
        return "pointers to different types"
    if [dim.size for dim in lhs.dims] != [dim.size for dim in rhs.dims]:
        return "different shapes"
    if isinstance(lhs, BlockPointer) and isinstance(rhs, BlockPointer):
        return None if lhs.order == rhs.order else "block pointers of different order"
    assert isinstance(lhs, Lanes) and isinstance(rhs, Lanes)
    if [dim.wrap is None for dim in lhs.dims] != [dim.wrap is None for dim in rhs.dims]:
        return "a remainder on one side only"
    if lhs.gathers != rhs.gathers:
        return "different parts without formula"
    return None


def likely_carried(state: State, algebra: IndexAlgebra) -> set[PartKey]:
    """The numbers of a state that a loop most likely changes."""
    if isinstance(state, BlockPointer):
        return {("start", index) for index in range(len(state.dims))}
    several = [index for index, dim in enumerate(state.dims) if dim.size > 1]
    if len(several) == 1 and state.dims[several[0]].wrap is None and not state.is_gathered(several[0]):
        return {("offset", several[0])}
    return {("uniform", 0)}


def changed_parts(assumed: State, found: State) -> set[PartKey]:
    """Return where two states of equal shape differ."""
    other = parts_of(found)
    return {key for key, part in parts_of(assumed).items() if part is not other[key]}


__all__ = [
    "PartKey",
    "Slot",
    "State",
    "Unknown",
    "changed_parts",
    "find_mismatch",
    "likely_carried",
    "parts_of",
    "with_parts",
]
