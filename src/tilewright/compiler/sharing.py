"""Pointer arguments that share memory, and what is promised of a kernel for them.

Loads may be reordered among themselves, so that a kernel is for memory apart (`tilewright.noalias`) if what it stores
to is no other pointer's. A pointer that is passed twice, as in `add[grid](x, y, x, n)`, is one argument:

    tt.func @add(%x, %y, %out) { tt.load %x; ...  ->  tt.func @add(%x, %y, %out) { tt.load %out; ...
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, NamedTuple

from tilewright.support import knobs

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

Groups = tuple[tuple[int, ...], ...]
"""Launch slots, in order."""


class Sharing(NamedTuple):
    """The launch slots of pointers that may share memory with others, in groups."""

    same: Groups = ()
    """Of the members of such a group it is known that they are one pointer."""
    overlapping: Groups = ()
    """Of these no more is known than that each may share memory with another of the group."""

    def merged(self, written: Set[int]) -> Groups | None:
        """The groups that are one argument each of a kernel that stores through these slots, and shares no other
        memory that it stores to; None if it may."""
        if any(not written.isdisjoint(group) for group in self.overlapping):
            return None
        return tuple(group for group in self.same if not written.isdisjoint(group))


NOTHING_SHARED = Sharing()


def promise_apart(module: ModuleOp, sharing: Sharing) -> None:
    """Say on the kernel that it stores to memory of no other argument, and make one argument of pointers that are the
    same, unless `sharing` forbids it, or a pointer may come from elsewhere: behind an address that is an integer or
    lies in memory may be the storage of any argument.

    Functions that the kernel calls get no such promise: two of their arguments may be one of the kernel's."""
    from xdsl.dialects.builtin import UnitAttr

    from tilewright.analysis.written_arguments import find_kernel, find_written_arguments, pointers_by_slot
    from tilewright.dialects import tt
    from tilewright.dialects.attributes import NOALIAS
    from tilewright.dialects.types import element_type
    from tilewright.ir.walking import find_ops

    makers = (tt.IntToPtrOp, tt.LoadOp, tt.ElementwiseInlineAsmOp, tt.ExternElementwiseOp)
    for op in find_ops(module, *makers):
        if any(isinstance(element_type(type), tt.PointerType) for type in op.result_types):
            return
    kernel = find_kernel(module)
    if kernel is None:
        return
    written = find_written_arguments(module) if any(sharing) else frozenset[int]()
    merged = sharing.merged(written)
    if merged is None or (merged and knobs.get("sanitize")):  # reports name the argument of an access
        return
    pointers = pointers_by_slot(kernel)
    for group in merged:
        kind = pointers[group[0]].type
        is_one_type = isinstance(kind, tt.PointerType) and all(pointers[slot].type == kind for slot in group)
        # Of two outputs that are the same, one would no longer count as written.
        if not is_one_type or len(written.intersection(group)) > 1:
            return
    for group in merged:
        (output,) = written.intersection(group)
        for slot in group:
            pointers[slot].replace_all_uses_with(pointers[output])
    kernel.attributes[NOALIAS] = UnitAttr()
