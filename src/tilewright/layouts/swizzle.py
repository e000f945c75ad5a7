"""Conversions through shared memory: a layout of the scratch buffer without bank conflicts and with the widest vectors.

An offset has, from its low bits up, a *vector* part (elements that one instruction moves), a *bank* part (which of
the 32 four-byte banks) and a *segment* part (which line of 128 bytes). Lanes of one access conflict when they differ
in the segment but not in the bank, that is, when a sum of their bases lies in the span of vector and segment bases.
So the segment bases are chosen as a subspace that meets neither the span of the writing lanes nor that of the reading
lanes: a common complement, which exists for any two subspaces of one dimension. Where U and V are the two spans, it
is made of unit vectors outside U + V and of sums of one basis vector of U and one of V, each outside the
intersection. (Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2, 2025, section on
optimal swizzling.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.layouts import gf2
from tilewright.layouts.distributed import BLOCK, LANE, REGISTER, WARP
from tilewright.layouts.linear import LinearLayout

OFFSET = "offset"
REPEAT = "repeat"
BANK_LINE_BITS = 1024
"""Bits of one line over all banks."""
MAX_VECTOR_BITS = 128


@dataclass(frozen=True)
class MatrixMoves:
    """Which instructions the machine has that move 8x8 matrices between shared memory and the registers of a warp."""

    load: bool = False
    store: bool = False


MATRIX_FREE = MatrixMoves()


@dataclass(frozen=True)
class SharedMemoryConversion:
    """Through a scratch buffer of `num_elements` elements, in `repeats` rounds of write, barrier, read, barrier.

    `scratch` maps (offset, repeat, block) to the tensor's dims, with those blocks only that hold different elements.
    `store` and `load` map (register, lane, warp, block) to (offset, repeat, block); round i takes the registers whose
    repeat is i. They leave out registers that repeat elements. One instruction moves `store_vector` or `load_vector`
    elements at neighbouring offsets.
    """

    element_bits: int
    scratch: LinearLayout
    store: LinearLayout
    load: LinearLayout
    store_vector: int
    load_vector: int
    store_conflicts: int
    load_conflicts: int
    stays_in_warp: bool
    crosses_blocks: bool

    @property
    def num_elements(self) -> int:
        """Elements of the scratch buffer of one CTA."""
        return self.scratch.in_dims[OFFSET]

    @property
    def num_bytes(self) -> int:
        """Bytes of the scratch buffer; elements of less than a byte take one each."""
        return self.num_elements * max(self.element_bits, 8) // 8

    @property
    def repeats(self) -> int:
        """How many rounds there are."""
        return self.scratch.in_dims[REPEAT]

    @property
    def num_instructions(self) -> int:
        """Stores and loads that one thread executes."""
        stored, loaded = (2 ** gf2.rank(side.packed_bases[REGISTER]) for side in (self.store, self.load))
        return stored // self.store_vector + loaded // self.load_vector


def plan_shared_memory(
    source: LinearLayout,
    target: LinearLayout,
    element_bits: int,
    matrices: MatrixMoves = MATRIX_FREE,
    *,
    in_rounds: bool = True,
) -> SharedMemoryConversion:
    """The scratch layout for bringing a tensor from `source` to `target`.

    Registers that both sides hold alike may take turns in a smaller buffer, unless `in_rounds` is False.
    """
    del matrices
    width = max(element_bits, 8)
    shape = source.out_dims
    sides = [_flat(source), _flat(target)]
    total_bits = source.out_bits
    vector = _vector_bases(sides[0], sides[1], width)
    tiles = [_lane_tile(side, len(vector), width) for side in sides]
    blocks = gf2.extend(vector, sides[0].packed_bases[BLOCK])
    bank_bits = max(0, min(_log2(BANK_LINE_BITS // width) - len(vector), total_bits - len(vector) - len(blocks)))
    num_segments = total_bits - len(vector) - len(blocks) - bank_bits
    segments = _segment_bases(vector, blocks, tiles, num_segments, total_bits)
    banks = _bank_bases((*vector, *blocks, *segments), tiles, total_bits)
    repeats = tuple(base for base in segments if all(base in side.packed_bases[REGISTER] for side in sides))
    repeats = repeats if in_rounds else ()
    kept = tuple(base for base in segments if base not in repeats)
    scratch = LinearLayout(
        [(OFFSET, (*vector, *banks, *kept)), (REPEAT, repeats), (BLOCK, blocks)], [("x", total_bits)]
    )
    store, load = (side.compose(scratch.invert()) for side in sides)
    limit = MAX_VECTOR_BITS // width
    conflicts = [_conflicts(tile, vector, segments) for tile in tiles]
    return SharedMemoryConversion(
        element_bits,
        scratch.reshape_outs(list(shape.items())),
        store,
        load,
        vector_length(store, limit),
        vector_length(load, limit),
        conflicts[0],
        conflicts[1],
        stays_in_warp=_stays_in_warp(sides[0], sides[1]),
        crosses_blocks=target.invert_and_compose(source).quotient([BLOCK]) is None,
    )


def vector_length(access: LinearLayout, limit: int) -> int:
    """How many elements of a thread, at most `limit`, lie at neighbouring, aligned offsets, whichever registers hold
    them.

    `access` maps (register, ...) to (offset, ...), the offset being the lowest out-dim.
    """
    registers = gf2.image(access.packed_bases[REGISTER])
    others = [column for name, columns in access.packed_bases.items() if name != REGISTER for column in columns]
    bits = 0
    while 1 << bits in registers and 2 << bits <= limit:
        bits += 1
    rest = [column for column in registers if column not in {1 << bit for bit in range(bits)}]
    low = (1 << bits) - 1
    while any(column & low for column in (*rest, *others)):
        low >>= 1
    return low + 1


def _flat(layout: LinearLayout) -> LinearLayout:
    """One out-dim `x`, and no register bases that repeat elements of the same thread."""
    registers = gf2.image(layout.packed_bases[REGISTER])
    columns = [(name, registers if name == REGISTER else layout.packed_bases[name]) for name in layout.in_dims]
    return LinearLayout(columns, [("x", layout.out_bits)])


def _log2(value: int) -> int:
    return max(value, 1).bit_length() - 1


def _vector_bases(source: LinearLayout, target: LinearLayout, width: int) -> tuple[int, ...]:
    """Register bases of both sides, up to 128 bits; below 32 bits also registers of one side that are warps of the
    other.
    """
    mine, theirs = source.packed_bases, target.packed_bases
    common = [base for base in mine[REGISTER] if base in theirs[REGISTER]]
    vector = common[: _log2(MAX_VECTOR_BITS // width)]
    wanted = _log2(32 // width) if width < 32 else 0
    if len(vector) < wanted:
        mixed = [[base for base in a[REGISTER] if base in b[WARP]] for a, b in ((mine, theirs), (theirs, mine))]
        mixed.sort(key=lambda bases: (-len(bases), min(bases, default=0)))
        in_warps = [base for base in mine[WARP] if base in theirs[WARP]]
        candidates = [*mixed[0], *in_warps, *mine[WARP], *theirs[WARP]]
        vector += gf2.extend(vector, (base for base in candidates if base))[: wanted - len(vector)]
    return tuple(vector)


def _lane_tile(side: LinearLayout, vector_bits: int, width: int) -> tuple[int, ...]:
    """The lanes whose accesses run together: 32 of 32 bits, 16 of 64, 8 of 128."""
    lanes = side.packed_bases[LANE]
    phases = _log2((width << vector_bits) // 32)
    return gf2.image(lanes[: max(0, len(lanes) - phases)])


def _segment_bases(
    vector: Sequence[int], blocks: Sequence[int], tiles: Sequence[Sequence[int]], count: int, total_bits: int
) -> tuple[int, ...]:
    """`count` vectors that meet neither lane tile, as far as there are such; what is short conflicts for one side."""
    fixed = (*vector, *blocks)
    spans = [(*fixed, *tile) for tile in tiles]
    outside = gf2.extend((*spans[0], *spans[1]), gf2.identity(total_bits))
    shared = gf2.intersection(*spans)
    mine, theirs = (gf2.extend(shared, span) for span in spans)
    smaller, larger = sorted((mine, theirs), key=len)
    sums = tuple(left ^ right for left, right in zip(smaller, larger, strict=False))
    segments = [*outside, *sums][:count]
    leftovers = (*larger[len(smaller) :], *larger, *smaller, *gf2.identity(total_bits))
    segments += gf2.extend((*fixed, *segments), leftovers)[: count - len(segments)]
    return tuple(segments)


def _bank_bases(taken: Sequence[int], tiles: Sequence[Sequence[int]], total_bits: int) -> tuple[int, ...]:
    """What completes the other parts to a basis: lane bases first, so that lanes go to neighbouring banks."""
    return gf2.extend(taken, (*tiles[0], *tiles[1], *gf2.identity(total_bits)))


def _conflicts(tile: Sequence[int], vector: Sequence[int], segments: Sequence[int]) -> int:
    """Extra passes of one access: lanes that share a bank with others but not the word, beyond the first."""
    same_word = gf2.intersection(tile, vector)
    same_bank = gf2.intersection(tile, (*vector, *segments))
    return (1 << (len(same_bank) - len(same_word))) - 1


def _stays_in_warp(source: LinearLayout, target: LinearLayout) -> bool:
    """Whether each warp reads only what it wrote, so that a barrier of the warp is enough."""
    for name in (WARP, BLOCK):
        bases = source.packed_bases[name]
        if bases != target.packed_bases[name] or gf2.rank(bases) != len(bases):
            return False
    inside = [(*side.packed_bases[REGISTER], *side.packed_bases[LANE]) for side in (source, target)]
    return all(base in gf2.Echelon(inside[0]) for base in inside[1])
