"""How the threads of a warp reach elements in shared memory: which instruction, which registers, which addresses.

`plan_access` takes the map from (register, lane, warp, ...) to (offset, ...) and finds the widest instructions for it:

- `VECTOR`: each lane moves elements at neighbouring offsets, up to 16 bytes;
- `MATRIX`: `ldmatrix` and `stmatrix`, where four neighbouring lanes share a row of 16 bytes: each lane gives the
  address of one row of one of up to four 8x8 matrices of 16 bits and holds one word of each matrix;
- `MATRIX_TRANSPOSED`: the same for elements of 16 bits whose rows lie across lanes.

Costs are counted in passes: one pass serves each of the 32 banks once.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from tilewright.layouts import gf2
from tilewright.layouts.distributed import LANE, REGISTER, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.support.records import dataclass

WORD_BITS = 32
ROW_BITS = 128
MAX_VECTOR_BITS = 128
NUM_BANK_BITS = 5
LANE_BITS = 5
MAX_MATRICES = 4


class AccessKind(Enum):
    """The instruction of an access."""

    VECTOR = "vector"
    MATRIX = "matrix"
    MATRIX_TRANSPOSED = "matrix transposed"


@dataclass(frozen=True)
class AccessStep:
    """One instruction: the thread's address is its own part XOR `offset`; the elements of `registers` in the order of
    memory, or for matrices the words of matrix 0, 1, ...

    `round` is the value of a second out-dim, where there is one.
    """

    offset: int
    round: int
    registers: tuple[int, ...]


@dataclass(frozen=True)
class SharedAccess:
    """All accesses of a thread. `lanes` and `warps` are the offsets, in elements, that the bits of the lane and warp
    number add to the address by XOR. `copies[r]` is the register whose element register r repeats.
    """

    kind: AccessKind
    element_bits: int
    lanes: tuple[int, ...]
    warps: tuple[int, ...]
    steps: tuple[AccessStep, ...]
    copies: tuple[int, ...]
    blocks: tuple[int, ...] = ()
    """What the bits of the CTA's number in its cluster add, where each CTA holds what several of them read."""

    @property
    def vector(self) -> int:
        """Elements that one instruction moves per thread."""
        return len(self.steps[0].registers)

    @property
    def passes(self) -> int:
        """Passes that all instructions of a warp take together."""
        return len(self.steps) * self.passes_per_step

    @property
    def passes_per_step(self) -> int:
        """Passes of one instruction: its phases, each as often as conflicts make it."""
        return self.phases * (1 + self.conflicts)

    @property
    def phases(self) -> int:
        """Parts of one instruction that run one after the other: no part moves more than 128 bytes."""
        return max(self.vector * self.element_bits // WORD_BITS, 1)

    @property
    def conflicts(self) -> int:
        """The number of times that a phase is repeated because lanes read different words of one bank."""
        in_row = self.vector if self.kind is AccessKind.VECTOR else ROW_BITS // self.element_bits
        inside = [1 << bit for bit in range(in_row.bit_length() - 1)]
        phase_bits = self.phases.bit_length() - 1 if self.kind is AccessKind.VECTOR else LANE_BITS - 3
        tile = self.lanes[: max(0, len(self.lanes) - phase_bits)]
        return _phase_passes([*inside, *tile], self.element_bits) - 1


def _phase_passes(columns: Sequence[int], element_bits: int) -> int:
    """Passes of lanes (and of the words inside their vectors) whose offsets are spanned by `columns`."""
    shift = (WORD_BITS // element_bits).bit_length() - 1 if element_bits < WORD_BITS else 0
    scale = max(element_bits // WORD_BITS, 1)
    words = [(column >> shift) * scale for column in columns]
    words += [1 << bit for bit in range(scale.bit_length() - 1)]
    banks = [word & ((1 << NUM_BANK_BITS) - 1) for word in words]
    return 1 << (gf2.rank(words) - gf2.rank(banks))


def plan_access(
    layout: LinearLayout, element_bits: int, *, matrices: bool, max_vector: int | None = None
) -> SharedAccess:
    """The widest accesses for `layout`, from (register, lane, warp, ...) to (offset[, round], ...).

    Elements of less than a byte take a byte. `matrices` allows the matrix instructions; `max_vector` bounds the
    elements at neighbouring offsets (a power of two), for buffers whose rows are not aligned to more.
    """
    bits = max(element_bits, 8)
    limit = min(MAX_VECTOR_BITS // bits, max_vector or MAX_VECTOR_BITS)
    shape = _Shape(layout, bits)
    vectors = shape.vectors(limit)
    if not matrices or limit * bits < ROW_BITS or vectors.vector * bits >= MAX_VECTOR_BITS:
        return vectors
    found = shape.matrices() or shape.transposed_matrices()
    return found if found is not None and found.passes <= vectors.passes else vectors


class _Shape:
    """The columns of an access, taken apart."""

    def __init__(self, layout: LinearLayout, bits: int) -> None:
        self.bits = bits
        names = list(layout.out_dims)[:2]
        widths = [layout.out_dims[name].bit_length() - 1 for name in names]
        self.offset_bits = widths[0]
        mask = (1 << sum(widths)) - 1
        columns = {name: [column & mask for column in packed] for name, packed in layout.packed_bases.items()}
        self.registers, self.lanes, self.warps = columns[REGISTER], columns[LANE], columns.get(WARP, [])
        self.first: dict[int, int] = {}
        """The first register at each (offset, round)."""
        self.copies = tuple(self.first.setdefault(value, index) for index, value in enumerate(span_of(self.registers)))

    def vectors(self, limit: int) -> SharedAccess:
        """A thread holds with each element all others of its vector, and all threads start at whole vectors."""
        held = gf2.Echelon(self.registers)
        bits = 0
        while 2 << bits <= limit and (1 << bits) in held:
            bits += 1
        while _any_below(1 << bits, [*self.lanes, *self.warps]):
            bits -= 1
        return self._access(AccessKind.VECTOR, self.lanes, range(1 << bits), aligned=(1 << bits) - 1)

    def matrices(self) -> SharedAccess | None:
        """Lane bits 0 and 1 choose a word of a row, lane bits 2 to 4 the row, registers the element in the word."""
        if self.bits > WORD_BITS or len(self.lanes) != LANE_BITS:
            return None
        in_word, row = WORD_BITS // self.bits, ROW_BITS // self.bits
        if self.lanes[:2] != [in_word, 2 * in_word]:
            return None
        held = gf2.Echelon(self.registers)
        if any((1 << bit) not in held for bit in range(in_word.bit_length() - 1)):
            return None
        words = [column & ~(in_word - 1) for column in self.registers]
        if _any_below(row, [*words, *self.lanes[2:], *self.warps]):
            return None
        more = self._matrix_columns(words)
        lanes = [*self.lanes[2:], *more, *(0,) * (2 - len(more))]
        inside = [start ^ low for start in span_of(more) for low in range(in_word)]
        return self._access(AccessKind.MATRIX, lanes, inside, aligned=in_word - 1)

    def transposed_matrices(self) -> SharedAccess | None:
        """Lane bits 2 to 4 choose the element of a row, a register bit and lane bits 0 and 1 the row."""
        if self.bits != WORD_BITS // 2 or len(self.lanes) != LANE_BITS or self.lanes[2:] != [1, 2, 4]:
            return None
        rows = list(gf2.extend((), (column for column in self.registers if 0 < column < 1 << self.offset_bits)))
        if not rows or _any_below(8, [*self.registers, *self.lanes[:2], *self.warps]):
            return None
        pair = min(rows, key=lambda column: _phase_passes([1, 2, 4, column, *self.lanes[:2]], self.bits))
        more = self._matrix_columns([column for column in rows if column != pair])
        lanes = [pair, *self.lanes[:2], *more, *(0,) * (2 - len(more))]
        inside = [start ^ low for start in span_of(more) for low in (0, pair)]
        return self._access(AccessKind.MATRIX_TRANSPOSED, lanes, inside, aligned=0)

    def _matrix_columns(self, columns: Sequence[int]) -> tuple[int, ...]:
        """Register columns that number the matrices of one instruction: two at most, of one round."""
        return gf2.extend((), (c for c in columns if 0 < c < 1 << self.offset_bits))[: MAX_MATRICES.bit_length() - 1]

    def _access(self, kind: AccessKind, lanes: Sequence[int], inside: Sequence[int], *, aligned: int) -> SharedAccess:
        """Steps that cover all elements: each takes those at its start XOR `inside`, the start having no bit of
        `aligned`.
        """
        seen: set[int] = set()
        steps: list[AccessStep] = []
        for value in self.first:
            if value in seen:
                continue
            start = value & ~aligned
            members = [start ^ low for low in inside]
            seen.update(members)
            offset = start & ((1 << self.offset_bits) - 1)
            registers = tuple(self.first[member] for member in members)
            steps.append(AccessStep(offset, start >> self.offset_bits, registers))
        return SharedAccess(kind, self.bits, tuple(lanes), tuple(self.warps), tuple(steps), self.copies)


def _any_below(limit: int, columns: Sequence[int]) -> bool:
    """Return whether a column moves offsets below `limit`."""
    return any(column & (limit - 1) for column in columns)


def span_of(columns: Sequence[int]) -> list[int]:
    """All sums, the i-th being that of the columns at the set bits of i."""
    values = [0]
    for column in columns:
        values += [value ^ column for value in values]
    return values
