"""Shadow memory of pointer arguments: one value for each element, addressed like the element itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from xdsl.ir import SSAValue

from tilewright.dialects import arith, tt
from tilewright.transforms.sanitize.accesses import Access
from tilewright.transforms.sanitize.emission import Emitter

Test = Callable[[Emitter, SSAValue], SSAValue]
"""From the shadow values of a tile to the lanes that are bad."""


def sizes_by_argument(accesses: Iterable[tuple[Access, int]]) -> dict[int, set[int]]:
    """The element sizes that each argument is accessed with."""
    sizes: dict[int, set[int]] = defaultdict(set)
    for access, argument in accesses:
        sizes[argument].add(access.element_bytes)
    return sizes


def shadow_base(e: Emitter, shadow: SSAValue, offset: SSAValue | None) -> SSAValue:
    """The shadow of an access's base, which lies `offset` elements after the argument's address."""
    return shadow if offset is None else e.insert(tt.AddPtrOp(shadow, offset))


def report_where(
    e: Emitter, access: Access, shadow: SSAValue, offset: SSAValue | None, other: int, test: Test, table: SSAValue,
    site: int,
) -> SSAValue:  # fmt: skip
    """Report the first lane whose shadow fails a test; returns the shadow values. The lanes are only numbered where
    some lane failed, from shadow values that are read again."""
    base = shadow_base(e, shadow, offset)
    values = access.load_from(e, base, other)
    suspect = e.when(e.reduce(test(e, values), arith.OrIOp))
    bad = test(suspect, access.load_from(suspect, base, other))
    places = access.offsets(suspect)
    key = suspect.first_key(bad, places if offset is None else suspect.add(places, suspect.wide(offset)))
    suspect.report_if(key, table, site)
    return values
