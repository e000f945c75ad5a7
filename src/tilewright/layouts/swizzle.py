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

from collections.abc import Iterator, Sequence
from itertools import takewhile

from tilewright.layouts import gf2
from tilewright.layouts.access import (
    LANE_BITS,
    MAX_VECTOR_BITS,
    ROW_BITS,
    WORD_BITS,
    SharedAccess,
    plan_access,
)
from tilewright.layouts.distributed import BLOCK, LANE, REGISTER, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.support.records import dataclass

OFFSET = "offset"
REPEAT = "repeat"
BANK_LINE_BITS = 1024
"""Bits of one line over all banks."""


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
    repeat is i. They leave out registers that repeat elements. `store_access` and `load_access` are the instructions,
    over all registers.
    """

    element_bits: int
    scratch: LinearLayout
    store: LinearLayout
    load: LinearLayout
    store_access: SharedAccess
    load_access: SharedAccess
    stays_in_warp: bool

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
        """The number of rounds."""
        return self.scratch.in_dims[REPEAT]

    @property
    def store_vector(self) -> int:
        """Elements that one store moves per thread."""
        return self.store_access.vector

    @property
    def load_vector(self) -> int:
        """Elements that one load moves per thread."""
        return self.load_access.vector

    @property
    def num_instructions(self) -> int:
        """Stores and loads that one thread executes."""
        return len(self.store_access.steps) + len(self.load_access.steps)

    @property
    def passes(self) -> int:
        """Passes over the banks of all stores and loads of a warp."""
        return self.store_access.passes + self.load_access.passes


def plan_shared_memory(
    source: LinearLayout,
    target: LinearLayout,
    element_bits: int,
    matrices: MatrixMoves = MATRIX_FREE,
    *,
    in_rounds: bool = True,
) -> SharedMemoryConversion:
    """The scratch layout for bringing a tensor from `source` to `target`: of those for several choices of a vector, the
    one whose accesses take the fewest passes, then the fewest instructions.

    Registers that both sides hold alike may take turns in a smaller buffer, unless `in_rounds` is False.
    """
    width = max(element_bits, 8)
    sides = (_flat(source), _flat(target))
    allowed = (matrices.store, matrices.load)
    plans = [
        _plan_with(source, target, sides, candidate, element_bits, allowed, in_rounds=in_rounds)
        for candidate in dict.fromkeys(_candidates(sides, width, allowed))
    ]
    return min(plans, key=lambda plan: (plan.passes, plan.num_instructions))


Sides = tuple[LinearLayout, LinearLayout]


@dataclass(frozen=True)
class _Candidate:
    """The elements of neighbouring offsets, and per side the lanes that must not meet in a bank (with the elements that
    one lane moves).
    """

    vector: tuple[int, ...]
    spans: tuple[tuple[int, ...], tuple[int, ...]]


def _plan_with(
    source: LinearLayout,
    target: LinearLayout,
    sides: Sides,
    candidate: _Candidate,
    element_bits: int,
    matrices: tuple[bool, bool],
    *,
    in_rounds: bool,
) -> SharedMemoryConversion:
    """The scratch layout for one choice of vector."""
    width = max(element_bits, 8)
    total_bits = source.out_bits
    vector = candidate.vector
    blocks = gf2.extend(vector, sides[0].packed_bases[BLOCK])
    spans = [(*span, *blocks) for span in candidate.spans]
    bank_bits = max(0, min(_log2(BANK_LINE_BITS // width) - len(vector), total_bits - len(vector) - len(blocks)))
    num_segments = total_bits - len(vector) - len(blocks) - bank_bits
    segments = _segment_bases((*vector, *blocks), spans, num_segments, total_bits)
    banks = gf2.extend((*vector, *blocks, *segments), (*spans[0], *spans[1], *gf2.identity(total_bits)))
    repeats = _rounds((*vector, *banks), segments, blocks, sides) if in_rounds else ()
    kept = tuple(base for base in segments if base not in repeats)
    scratch = LinearLayout(
        [(OFFSET, (*vector, *banks, *kept)), (REPEAT, repeats), (BLOCK, blocks)], [("x", total_bits)]
    )
    to_scratch = scratch.invert()
    accesses = [
        plan_access(layout.flatten_outs("x").compose(to_scratch), width, matrices=allowed)
        for layout, allowed in zip((source, target), matrices, strict=True)
    ]
    return SharedMemoryConversion(
        element_bits,
        scratch.reshape_outs(list(source.out_dims.items())),
        sides[0].compose(to_scratch),
        sides[1].compose(to_scratch),
        accesses[0],
        accesses[1],
        stays_in_warp=_stays_in_warp(*sides),
    )


def _rounds(line: Sequence[int], segments: Sequence[int], blocks: Sequence[int], sides: Sides) -> tuple[int, ...]:
    """The segment bases that may be counted by rounds: registers of both sides, of which no lane, warp or CTA has a
    part, so that all threads take part in every round.
    """
    both = [base for base in segments if all(base in side.packed_bases[REGISTER] for side in sides)]
    if not both:
        return ()
    rest = [base for base in segments if base not in both]
    to_scratch = LinearLayout([("rest", (*both, *line, *rest, *blocks))], [("x", sides[0].out_bits)]).invert()
    threads = [base for side in sides for name in (LANE, WARP, BLOCK) for base in side.packed_bases[name]]
    taken = 0
    for base in threads:
        taken |= gf2.multiply(to_scratch.columns, base)
    return tuple(base for bit, base in enumerate(both) if not taken >> bit & 1)


def _flat(layout: LinearLayout) -> LinearLayout:
    """One out-dim `x`, and no register bases that repeat elements of the same thread."""
    registers = gf2.image(layout.packed_bases[REGISTER])
    columns = [(name, registers if name == REGISTER else layout.packed_bases[name]) for name in layout.in_dims]
    return LinearLayout(columns, [("x", layout.out_bits)])


def _log2(value: int) -> int:
    return max(value, 1).bit_length() - 1


def _candidates(sides: Sides, width: int, matrices: tuple[bool, bool]) -> Iterator[_Candidate]:
    """Vectors of registers that both sides have, or one of them; rows of matrices of one side or both."""
    for vector in _register_vectors(sides, width):
        yield _Candidate(vector, (_vector_span(sides[0], vector, width), _vector_span(sides[1], vector, width)))
    for index in (0, 1):
        side, other = sides[index], sides[1 - index]
        if not matrices[index] or width > WORD_BITS or len(side.packed_bases[LANE]) != LANE_BITS:
            continue
        for vector in _matrix_rows(side, other, width):
            span = _matrix_span(side, vector, width)
            facing = _matrix_span(other, vector, width) if matrices[1 - index] else None
            spans = (span or (), facing or _vector_span(other, vector, width))
            yield _Candidate(vector, spans if index == 0 else (spans[1], spans[0]))


def _register_vectors(sides: Sides, width: int) -> Iterator[tuple[int, ...]]:
    """Registers of both sides first, up to 128 bits, then maybe of one side; below 32 bits also registers of one side
    that are warps of the other, then warps.
    """
    source, target = (side.packed_bases for side in sides)
    limit = _log2(MAX_VECTOR_BITS // width)
    common = [base for base in source[REGISTER] if base in target[REGISTER]][:limit]
    wanted = _log2(WORD_BITS // width) if width < WORD_BITS else 0
    mixed = [[base for base in a[REGISTER] if base in b[WARP]] for a, b in ((source, target), (target, source))]
    mixed.sort(key=lambda bases: (-len(bases), min(bases, default=0)))
    in_warps = [base for base in source[WARP] if base in target[WARP]]
    fillers = (base for base in (*mixed[0], *in_warps, *source[WARP], *target[WARP]) if base)
    yield (*common, *gf2.extend(common, fillers)[: max(0, wanted - len(common))])
    for registers in (source[REGISTER], target[REGISTER]):
        yield (*common, *gf2.extend(common, registers)[: limit - len(common)])


def _matrix_rows(side: LinearLayout, other: LinearLayout, width: int) -> Iterator[tuple[int, ...]]:
    """Rows of 16 bytes as the matrix instructions of `side` hold them."""
    lanes, registers = side.packed_bases[LANE], side.packed_bases[REGISTER]
    shared = [base for base in registers if base in other.packed_bases[REGISTER]]
    in_word = list(dict.fromkeys([*shared, *registers]))[: _log2(WORD_BITS // width)]
    straight = (*in_word, *lanes[:2])
    if len(straight) == _log2(ROW_BITS // width) and gf2.rank(straight) == len(straight):
        yield straight
    if width == WORD_BITS // 2 and gf2.rank(lanes[2:]) == LANE_BITS - 2 and registers:
        yield tuple(lanes[2:])


def _matrix_span(side: LinearLayout, vector: Sequence[int], width: int) -> tuple[int, ...] | None:
    """The elements of one matrix, where `vector` is a row of one that `side` can hold."""
    lanes, registers = side.packed_bases[LANE], side.packed_bases[REGISTER]
    in_word = _log2(WORD_BITS // width)
    if tuple(vector[in_word:]) == tuple(lanes[:2]) and all(base in registers for base in vector[:in_word]):
        return (*vector, *lanes[2:])
    if width == WORD_BITS // 2 and tuple(vector) == tuple(lanes[2:]) and registers:
        return (*vector, registers[0], *lanes[:2])
    return None


def _vector_span(side: LinearLayout, vector: Sequence[int], width: int) -> tuple[int, ...]:
    """Return what the lanes of one phase of an access move, and what is in their words: 32 lanes of 32 bits, 16 of 64,
    8 of 128.
    """
    own = list(takewhile(lambda base: base in side.packed_bases[REGISTER], vector))
    in_word = vector[: max(0, _log2(WORD_BITS) - _log2(width))]
    lanes = side.packed_bases[LANE]
    phases = max(0, _log2(width << len(own)) - _log2(WORD_BITS))
    return gf2.image((*own, *in_word, *lanes[: max(0, len(lanes) - phases)]))


def _segment_bases(
    fixed: Sequence[int], spans: Sequence[Sequence[int]], count: int, total_bits: int
) -> tuple[int, ...]:
    """`count` vectors that meet neither span, as far as there are such; what is short conflicts for one side."""
    outside = gf2.extend((*fixed, *spans[0], *spans[1]), gf2.identity(total_bits))
    shared = gf2.intersection(*spans)
    mine, theirs = (gf2.extend(shared, span) for span in spans)
    smaller, larger = sorted((mine, theirs), key=len)
    sums = tuple(left ^ right for left, right in zip(smaller, larger, strict=False))
    segments = gf2.extend(fixed, (*outside, *sums))[:count]
    leftovers = (*larger[len(smaller) :], *larger, *smaller, *gf2.identity(total_bits))
    return (*segments, *gf2.extend((*fixed, *segments), leftovers)[: count - len(segments)])


def _stays_in_warp(source: LinearLayout, target: LinearLayout) -> bool:
    """Return whether each warp reads only what it wrote, so that a barrier of the warp is enough."""
    for name in (WARP, BLOCK):
        bases = source.packed_bases[name]
        if bases != target.packed_bases[name] or gf2.rank(bases) != len(bases):
            return False
    inside = [(*side.packed_bases[REGISTER], *side.packed_bases[LANE]) for side in (source, target)]
    return all(base in gf2.Echelon(inside[0]) for base in inside[1])
