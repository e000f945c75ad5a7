"""A loop nest: one generic with everything resolved to memory and scalars, and its schedule once it is planned.

linalg.generic ins(%x at (d0, d1)) outs(%y at (d0)) { addf }
  ->  body { addf };  inputs: view of %x at (d0, d1);  outputs: view of %y at (d0), which reduces
      order (d0, d1), lanes along d1, 16 of them, 4 vectors at a time
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Protocol

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.analysis.combination import Combination
from tilewright.analysis.combiners import Combiner
from tilewright.dialects.linalg_ext import WORD_BYTES
from tilewright.lowering.linalg_to_loops.access_log import AccessLog
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.lane_steps import LaneSteps
from tilewright.lowering.linalg_to_loops.predication import Predicate
from tilewright.lowering.linalg_to_loops.sources import Source, Splat, StridedView, Vectors, Words
from tilewright.lowering.linalg_to_loops.split_offsets import SplitOffsets
from tilewright.support.facts import DEFAULT_FACTS, TargetFacts
from tilewright.support.records import dataclass

ANY_EXTENT = 1 << 20
"""What a dynamic extent counts as for the choice of vectors."""

SEGMENT = -1
"""The loop over segments, as if it were a dimension (see `strip_segments.py`)."""

JAM = -2
"""The loop over groups of iterations that share a reduction, as if it were a dimension (see `unroll_and_jam`)."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An input of a nest: a source and the element of it that one iteration reads."""

    source: Source | Vectors
    access: tuple[AffineExpr, ...]
    location: LocationAttr = UNKNOWN_LOC
    """Of what loads the elements."""

    def dims(self) -> frozenset[int]:
        """Dimensions of the iteration space that the element depends on."""
        if isinstance(self.source, Splat):
            return frozenset()
        return frozenset(dim for expr in self.access for dim in expr.used_dims())


@dataclass(frozen=True, slots=True)
class Output:
    """A result of a nest: where it goes (None: one scalar, kept in a register), and what it starts from."""

    dest: StridedView | None
    access: tuple[AffineExpr, ...]
    init: Operand
    bounds: tuple[Index, ...]
    """How far the nest's dimensions must run for this output's readers."""
    reduces: bool = False
    combiner: Combiner | None = None
    may_overrun: bool = False
    """Whether nothing is lost if the destination is written past the bounds."""
    is_cut: bool = False
    """Whether the destination must not be touched past the bounds, where the nest may run further."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """Elements to prefetch, with the locality of the prefetch (3: to the first-level cache)."""

    view: StridedView
    access: tuple[AffineExpr, ...]
    locality: int


class Surroundings(Protocol):
    """What a nest needs to know of the function around it."""

    accesses: AccessLog

    def source(self, value: SSAValue) -> Source:
        """Return how to read a tensor."""
        ...

    def view(self, value: SSAValue) -> StridedView | None:
        """The memory that a memref stands for."""
        ...

    def flat(self, value: SSAValue) -> SSAValue:
        """All memory from a pointer on."""
        ...

    def are_apart(self, left: SSAValue, right: SSAValue) -> bool:
        """Return whether two pointer arguments or buffers have no memory in common."""
        ...


@dataclass(frozen=True, slots=True)
class BodyFacts:
    """What is known of the values of a nest's body."""

    predicates: Mapping[Operation, Predicate] = field(default_factory=dict[Operation, Predicate])
    depends: Mapping[SSAValue, frozenset[int]] = field(default_factory=dict[SSAValue, frozenset[int]])
    steps: LaneSteps = field(default_factory=LaneSteps)
    """Which integers grow by how much from lane to lane; with segments, along one of them."""
    offsets: SplitOffsets = field(default_factory=SplitOffsets)
    """Which offsets are 32-bit distances from one that all lanes share."""
    cost: int = 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """In what order the loops of a nest stand, and how much one step does."""

    order: tuple[int, ...] = ()
    vector_dim: int | None = None
    lanes: int = 1
    registers: int = 1
    """How many registers the lanes of a vector take."""
    unroll: int = 1
    jammed: int = 1
    """How many iterations of the last loop, which is written out, share the loops around it (see `unroll_and_jam`)."""


@dataclass(frozen=True, slots=True)
class Nest:
    """One generic with everything resolved to memory and scalars, and, once it is planned, with its schedule."""

    around: Surroundings
    body: Block
    inputs: Sequence[Operand]
    outputs: Sequence[Output]
    iterators: tuple[bool, ...]
    """True where a dimension is reduced."""
    extents: tuple[int, ...]
    bounds: tuple[Index, ...]
    """How far each dimension has to run: at most the extent."""
    has_tiles: bool = False
    """Whether the extents are those of the tiles that the operands are, so that whole vectors stay inside of them."""
    combination: Combination | None = None
    """How all results are combined together, where one of them has no combiner of its own."""
    target: TargetFacts = DEFAULT_FACTS
    facts: BodyFacts = field(default_factory=BodyFacts)
    schedule: Schedule = field(default_factory=Schedule)
    fetches: tuple[Fetch, ...] = ()
    """What each full step prefetches."""

    def is_version_of(self, other: Nest) -> bool:
        """Return whether both are one generic with the same loops, whatever is known of its values."""
        return self.body is other.body and self.schedule.order == other.schedule.order

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The operands of the body's `linalg.yield`: the new element of each output."""
        terminator = self.body.last_op
        assert terminator is not None
        return tuple(terminator.operands)

    def accumulator(self, index: int) -> SSAValue:
        """Return the argument of the body that holds output `index` before the step."""
        return self.body.args[len(self.inputs) + index]

    @property
    def has_reduction(self) -> bool:
        return any(output.reduces for output in self.outputs)

    def vector_reduces(self) -> bool:
        """Return whether the lanes of a vector belong to one accumulator."""
        dim = self.schedule.vector_dim
        return dim is not None and self.iterators[dim] and self.has_reduction

    def folds(self) -> bool:
        """Return whether accumulators start as the first elements, and lanes are combined by the body itself."""
        return self.combination is not None and self.vector_reduces()

    def starts_at_first(self) -> bool:
        """Return whether accumulators start as the first elements, in whatever order the loops stand."""
        return self.combination is not None and self.combination.starts_at_first


def stride_along(source: Source | Vectors, access: Sequence[AffineExpr], dim: int) -> Index:
    """Distance in memory between the elements of neighbouring iterations of `dim` (0: the same element)."""
    if isinstance(source, Splat):
        return 0
    if isinstance(source, Words):
        apart = stride_along(source.first_bytes, access, dim)
        return apart // WORD_BYTES if isinstance(apart, int) and apart % WORD_BYTES == 0 else apart
    if isinstance(source, Vectors):
        return 1
    view = source if isinstance(source, StridedView) else source.inner
    if isinstance(view, Splat):
        return 1
    for expr, stride in zip(access, view.strides, strict=True):
        if isinstance(expr, AffineDimExpr) and expr.position == dim:
            return stride
    return 0
