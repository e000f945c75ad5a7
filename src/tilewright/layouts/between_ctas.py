"""Elements that move between the CTAs of a cluster, through their shared memory: conversions of tensors, and stores
into a buffer of which each CTA has a part.

In a conversion each CTA writes what it has to its own scratch buffer, at an offset that depends on lane and register
alone; then each reads every element where it lies, in its own memory or in another CTA's. A read takes the offset and
the number of the CTA, both linear in (register, lane, warp, block) of the reader.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.layouts import gf2
from tilewright.layouts.access import MAX_VECTOR_BITS, AccessKind, AccessStep, SharedAccess, plan_access, span_of
from tilewright.layouts.distributed import BLOCK, LANE, REGISTER, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.support.records import dataclass

OFFSET, RANK = "offset", "rank"
_PART = "part"


@dataclass(frozen=True)
class ClusterConversion:
    """Through a scratch buffer of `num_elements` in each CTA.

    `store` and `load` map (register, lane, warp, block) to the offset of an element and the CTA that it is in; the bits
    of `own` come from the reading CTA, as all CTAs that differ in them hold the same. `vector` elements lie together on
    both sides.
    """

    element_bits: int
    num_elements: int
    vector: int
    store: LinearLayout
    load: LinearLayout
    own: int

    @property
    def num_bytes(self) -> int:
        """Bytes of the scratch buffer; elements of less than a byte take one each."""
        return self.num_elements * max(self.element_bits, 8) // 8

    @property
    def is_local(self) -> bool:
        """True if each CTA reads from its own memory alone: all have everything that they want."""
        num_blocks = self.load.in_dims[BLOCK]
        return self.own == num_blocks - 1 and not any(self.load.sublayout(list(self.load.in_dims), [RANK]).columns)

    @property
    def store_access(self) -> SharedAccess:
        """The stores of a thread into the memory of its CTA."""
        columns = self.store.sublayout([REGISTER, LANE, WARP], [OFFSET]).packed_bases
        offsets = span_of(columns[REGISTER])
        steps: dict[int, AccessStep] = {}
        for offset in offsets:
            if offset % self.vector == 0 and offset not in steps:
                group = tuple(offsets.index(offset + element) for element in range(self.vector))
                steps[offset] = AccessStep(offset, 0, group)
        copies = tuple(offsets.index(offset) for offset in offsets)
        width = max(self.element_bits, 8)
        return SharedAccess(AccessKind.VECTOR, width, columns[LANE], columns[WARP], tuple(steps.values()), copies)


def plan_between_ctas(
    source: LinearLayout, target: LinearLayout, element_bits: int, *, from_first: bool = False
) -> ClusterConversion:
    """Plan how elements come from `source` to `target`; `from_first`, of CTAs that hold the same element it is read
    from the one whose other bits are 0."""
    have, want = source.flatten_outs("x"), target.flatten_outs("x")
    bases = have.packed_bases
    common = [base for base in bases[REGISTER] if base in want.packed_bases[REGISTER]]
    limit = (MAX_VECTOR_BITS // max(element_bits, 8)).bit_length() - 1
    vector = gf2.image(common)[:limit]
    inside = (*vector, *gf2.extend(vector, (*bases[REGISTER], *bases[LANE], *bases[WARP])))
    parts: list[int] = []
    ranks: list[int] = []
    own = 0
    for bit, base in enumerate(bases[BLOCK]):
        if not base:
            own |= 0 if from_first else 1 << bit
        elif gf2.rank((*inside, *parts, base)) > len(inside) + len(parts):
            parts.append(base)
            ranks.append(1 << bit)
    scratch = LinearLayout([(OFFSET, inside), (_PART, parts)], [("x", have.out_bits)])
    bits = len(bases[BLOCK])
    to_rank = LinearLayout.identity_1d(1 << len(inside), OFFSET, OFFSET) * LinearLayout(
        [(_PART, ranks)], [(RANK, bits)]
    )
    to_scratch = scratch.invert().compose(to_rank)
    store, load = have.compose(to_scratch), want.compose(to_scratch)
    return ClusterConversion(element_bits, 1 << len(inside), _width((store, load), len(vector)), store, load, own)


@dataclass(frozen=True)
class ClusterAccess:
    """Accesses of a tensor to a buffer. `layout` maps (register, lane, warp, block) to the offset of an element and the
    CTA whose part it is in; CTAs that differ in the bits of `own` have the same part each, and access their own. What a
    CTA stores goes to all copies along the bits of `spread`, which are among them, as it alone has it.
    The `round` of a step is what its registers add to the CTA's number.
    """

    layout: LinearLayout
    own: int
    spread: int
    access: SharedAccess


def plan_cluster_access(
    registers: LinearLayout,
    offsets: LinearLayout,
    cga: Sequence[Sequence[int]],
    element_bits: int,
    max_vector: int = MAX_VECTOR_BITS,
) -> ClusterAccess:
    """Plan how a tensor meets a buffer whose elements are at `offsets`: (offset, block) by coordinate."""
    own = sum(1 << bit for bit, basis in enumerate(cga) if not any(basis))
    spread = sum(1 << bit for bit, column in enumerate(registers.packed_bases[BLOCK]) if column and own >> bit & 1)
    layout = registers.compose(offsets)
    inside = layout.sublayout([REGISTER, LANE, WARP], [OFFSET, BLOCK])
    access = plan_access(inside, element_bits, matrices=False, max_vector=max_vector)
    return ClusterAccess(layout, own, spread, access)


def reaches_other_ctas(
    registers: LinearLayout, offsets: LinearLayout, cga: Sequence[Sequence[int]], *, writes: bool
) -> bool:
    """Return whether a CTA accesses the memory of another: what it reads is not all in its part of the buffer, or what
    it writes is not all of that part that is written."""
    if registers.in_dims.get(BLOCK, 1) == 1:
        return False
    layout = registers.compose(offsets)
    parts = layout.sublayout([REGISTER, LANE, WARP], [BLOCK]).columns if BLOCK in layout.out_dims else ()
    own = layout.sublayout([BLOCK], [BLOCK]).columns if BLOCK in layout.out_dims else (0,) * len(cga)
    inside = layout.sublayout([BLOCK], [OFFSET]).columns
    is_local = not any(parts)
    for bit, (part, offset) in enumerate(zip(own, inside, strict=True)):
        is_split = bit < len(cga) and any(cga[bit])
        is_local &= part == (1 << bit if is_split else 0) and (not offset or not (writes or is_split))
    return not is_local


def _width(sides: tuple[LinearLayout, LinearLayout], bits: int) -> int:
    """Return how many elements of the first 2^bits lie in registers alone, on both sides."""
    for side in sides:
        columns = side.sublayout([LANE, WARP, BLOCK], [OFFSET]).columns
        while any(column & ((1 << bits) - 1) for column in columns):
            bits -= 1
    return 1 << bits
