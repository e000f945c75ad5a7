"""What the lowering of a function knows before it starts, and what it keeps of the tiles that it has lowered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import func
from tilewright.dialects.construction import Index
from tilewright.ir.passes import PassContext
from tilewright.lowering.linalg_to_loops.sources import Source, StridedView
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.loads import Disjointness
from tilewright.transforms.linalg.needed_bounds import take_needed_bounds


@dataclass(frozen=True, slots=True)
class Decisions:
    """Which decisions about nests are made; without one, its loops take the plain form."""

    vectorize: bool = True
    jam: bool = True
    prefetch: bool = True
    stream: bool = True


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """What is known of a function before it is lowered."""

    function: func.FuncOp
    context: PassContext
    target: TargetFacts
    apart: Disjointness
    needed: Mapping[SSAValue, tuple[Index, ...]]
    """How far tensors are read, where that is not all of them."""
    decisions: Decisions

    @classmethod
    def of(
        cls, function: func.FuncOp, context: PassContext, target: TargetFacts, decisions: Decisions
    ) -> FunctionFacts:
        """Find out what can be known."""
        return cls(function, context, target, Disjointness(function), take_needed_bounds(function), decisions)


@dataclass(slots=True)
class TileValues:
    """How tensors are read, and the ops that go away once nothing refers to them."""

    sources: dict[SSAValue, Source] = field(default_factory=dict[SSAValue, Source])
    panels: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The addresses of packed operands."""
    vectors: dict[SSAValue, list[SSAValue]] = field(default_factory=dict[SSAValue, list[SSAValue]])
    """The tiles that are in registers, and nowhere else."""
    dead: list[Operation] = field(default_factory=list[Operation])
    filled: list[tuple[SSAValue, Source]] = field(default_factory=list[tuple[SSAValue, Source]])
    """Values that were copied to buffers, in order, with how they were read before."""

    deferred: set[Operation] = field(default_factory=set[Operation])
    """Generics that are computed where they are stored."""
    written: set[Operation] = field(default_factory=set[Operation])
    """Stores whose elements are there already (`stored_results.py`)."""

    def fill(self, value: SSAValue, buffer: StridedView) -> None:
        """Read a value from a buffer from now on."""
        self.filled.append((value, self.sources[value]))
        self.sources[value] = buffer

    def leave_block(self, block: Block, mark: int) -> None:
        """Forget the buffers that a block filled, but for values of its own: the block may not run. `mark` is how many
        were filled before it."""
        for value, source in reversed(self.filled[mark:]):
            owner = value.owner
            if (owner if isinstance(owner, Block) else owner.parent_block()) is not block:
                self.sources[value] = source
        del self.filled[mark:]
