"""Finds chains of generics that exchange elements whose indices differ in one bit, and names the bits of all indices.

    %p = tensor.expand_shape %x : tensor<1024xf32> into tensor<256x2x2xf32>
    %r = linalg.generic ins(%p) { xori } -> tensor<256x2xi32>                    reduces bit 1 of the index
    %y = linalg.generic ins(%p, %r) { xori, cmpf, select } -> tensor<256x2x2xf32>
    ... the same for bit 0, then for other shapes: a sort, a sum over pairs, a butterfly

Extents are powers of two, so an index is a sequence of bits; a reshape leaves them where they are. What is element by
element keeps its bits, a reduction drops one, a broadcast adds some. Bits of different tensors that go together are
one bit, so a chain has about as many as its largest tensor has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from math import prod

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from tilewright.analysis.combiners import Combiner, find_combiner
from tilewright.dialects import arith, linalg, tensor
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.types import is_tensor
from tilewright.support.cpu_costs import LEAST_EXCHANGES
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.effects import may_write
from tilewright.transforms.linalg.structured import access_of, is_elementwise, loop_extents, shape_or_scalar

RESHAPES = tensor.ExpandShapeOp | tensor.CollapseShapeOp
_GENERICS = linalg.GenericOp | linalg.ReduceOp | linalg.BroadcastOp | linalg.MapOp


@dataclass(eq=False, slots=True)
class Step:
    """One generic of a chain, with the bits of its loops and operands."""

    op: linalg.StructuredOp
    dims: list[list[int]]
    """Bits of each loop's index, the lowest first."""
    inputs: list[tuple[SSAValue, list[int]] | None]
    """Tensors, as they are before reshapes, and the bits of their row major index; None for scalars."""
    inits: list[tuple[SSAValue, list[int]] | None]
    results: list[list[int]]
    reduced: list[int]
    """Reduced bits, the lowest first."""
    combiner: Combiner | None = None

    @property
    def bits(self) -> list[int]:
        return [bit for dim in self.dims for bit in dim]


@dataclass(slots=True)
class Network:
    """A chain of steps, which runs where its last op stands."""

    steps: list[Step] = field(default_factory=list[Step])
    ops: list[Operation] = field(default_factory=list[Operation])
    """The generics and the reshapes between them."""

    @property
    def exchanges(self) -> int:
        """The length of the longest chain of reductions of pairs, each of which reads the result of the one before."""
        after: dict[SSAValue, int] = {}
        for step in self.steps:
            before = max((after.get(source[0], 0) for source in (*step.inputs, *step.inits) if source), default=0)
            after.update(dict.fromkeys(step.op.results, before + bool(step.reduced)))
        return max(after.values(), default=0)


def find_networks(block: Block) -> list[Network]:
    """The networks of a block, in order."""
    found: list[Network] = []
    chain = _Chain()
    for op in block.ops:
        if chain.takes(op):
            continue
        found.extend(chain.finished())
        chain = _Chain()
        chain.takes(op)
    found.extend(chain.finished())
    return found


def base_of(value: SSAValue) -> SSAValue:
    """The tensor that reshapes were made of."""
    while isinstance(value.owner, RESHAPES):
        value = value.owner.operands[0]
    return value


def extent_bits(shape: Sequence[int]) -> int | None:
    """Return how many bits a row major index has; None where an extent is no power of two."""
    if any(extent < 1 or extent & (extent - 1) for extent in shape):
        return None
    return sum(extent.bit_length() - 1 for extent in shape)


class _Chain:
    """The chain that ends with the op that was looked at last."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.ops: list[Operation] = []
        self.made: set[SSAValue] = set()
        self.bits: dict[SSAValue, list[int]] = {}
        self.dropped: dict[SSAValue | None, int] = {}
        """For results of reductions the bit that they lack."""
        self.joined: list[int] = []
        """For each bit a bit that it is the same as, itself at the end."""

    def takes(self, op: Operation) -> bool:
        """Return whether the chain goes on after an op: it is a step, has nothing to do with it, or reshapes a
        result.
        """
        if isinstance(op, RESHAPES):
            if op.operands[0] in self.made:
                if extent_bits(shape_or_scalar(op.results[0].type)) is None:
                    return False
                self.made.add(op.results[0])
                self.ops.append(op)
            return True
        if isinstance(op, _GENERICS) and op.results and self._take_step(op):
            return True
        if not self.steps or (isinstance(op, linalg.FillOp) and op.results):
            return True
        return not op.regions and not may_write(op) and not any(operand in self.made for operand in op.operands)

    def finished(self) -> Iterator[Network]:
        """The chain, without what follows the last step that reads an exchange."""
        exchanged: set[SSAValue] = set()
        last = 0
        for index, step in enumerate(self.steps):
            if any(source is not None and source[0] in exchanged for source in step.inputs):
                last = index + 1
            if step.reduced:
                exchanged.update(step.op.results)
                last = index + 1
        steps = self.steps[:last]
        for step in steps:
            self._name_roots(step)
        network = Network(steps, [])
        if network.exchanges >= LEAST_EXCHANGES:
            end = steps[-1].op
            for op in self.ops:
                network.ops.append(op)
                if op is end:
                    break
            yield network

    def _take_step(self, op: linalg.StructuredOp) -> bool:
        is_reduction = not is_elementwise(op)
        if (not is_reduction and not self.steps) or not is_plain(op):
            return False
        saved = list(self.joined), dict(self.bits)
        step = self._step_of(op)
        if step is None:
            self.joined, self.bits = saved
            return False
        self.steps.append(step)
        self.ops.append(op)
        self.made.update(op.results)
        return True

    # -- bits -------------------------------------------------------------------------------------------------------

    def _new_bit(self) -> int:
        self.joined.append(len(self.joined))
        return len(self.joined) - 1

    def _join(self, bit: int, other: int) -> None:
        """Have the name of one bit, and what is called so, be that of another from here on."""
        old, new = self.joined[bit], self.joined[other]
        self.joined = [new if name == old else name for name in self.joined]

    def _step_of(self, op: linalg.StructuredOp) -> Step | None:
        extents = loop_extents(op)
        reduced_extents = [extent for extent, kind in zip(extents, op.iterators, strict=True) if kind == "reduction"]
        if extent_bits(extents) is None or prod(reduced_extents) > 2:
            return None
        count = len(op.inputs)
        tensors: list[SSAValue | None] = []
        for index, value in enumerate(op.operands):
            is_read = bool(op.body.block.args[index].uses.get_length())
            is_fill = isinstance(value.owner, linalg.FillOp | tensor.EmptyOp)
            tensors.append(base_of(value) if is_tensor(value.type) and is_read and not is_fill else None)
        dims = self._loop_bits(op, tensors, extents)
        if dims is None:
            return None
        index_bits = [_index_bits(map_.results, dims) for map_ in op.maps]
        for value, bits in zip(tensors, index_bits, strict=True):
            if value is not None:
                self.bits.setdefault(value, bits)
        self.bits.update(zip(op.results, index_bits[count:], strict=True))
        operands = [value and (value, bits) for value, bits in zip(tensors, index_bits, strict=True)]
        kinds = zip(dims, op.iterators, strict=True)
        reduced = [bit for dim, kind in kinds if kind == "reduction" for bit in dim]
        if any(bit in reduced for bits in index_bits[count:] for bit in bits):
            return None  # something elementwise was merged with the reduction
        step = Step(op, dims, operands[:count], operands[count:], index_bits[count:], reduced)
        self.dropped.update((result, bit) for bit in reduced for result in op.results)
        if reduced and len(op.results) == 1:
            block = op.body.block
            last = block.last_op
            assert last is not None
            step.combiner = find_combiner(block, block.args[-1], last.operands[0])
        return step

    def _loop_bits(
        self, op: linalg.StructuredOp, tensors: Sequence[SSAValue | None], extents: Sequence[int]
    ) -> list[list[int]] | None:
        """The bits of the loops' indices: those of what is read, new ones where that is new; None where two bits of
        one index would be the same."""
        named: list[list[int | None]] = [[None] * (extent.bit_length() - 1) for extent in extents]
        joins = False
        for value, map_ in zip(tensors, op.maps, strict=True):
            if value is None or (bits := self.bits.get(value)) is None:
                continue
            order = [(expr.position, position) for expr in reversed(map_.results) if isinstance(expr, AffineDimExpr)
                     for position in range(len(named[expr.position]))]  # fmt: skip
            for bit, (dim, position) in zip(bits, order, strict=True):
                known, root = named[dim][position], self.joined[bit]
                if known is None:
                    named[dim][position] = root
                elif self.joined[known] != root:
                    self._join(root, known)
                    joins = True
        freed = self._freed_bit(tensors, named)
        dims = [
            [(self._new_bit() if freed is None else freed) if bit is None else self.joined[bit] for bit in dim]
            for dim in named
        ]
        checked = [[bit for dim in dims for bit in dim], *([step.bits for step in self.steps] if joins else ())]
        for bits in checked:
            if len({self.joined[bit] for bit in bits}) != len(bits):
                return None
        return dims

    def _freed_bit(self, tensors: Sequence[SSAValue | None], named: Sequence[Sequence[int | None]]) -> int | None:
        """The bit that the only new one may be called: the one that a reduction has just dropped, as in butterflies,
        which put sums and differences of a pair in its place."""
        bits = [bit for dim in named for bit in dim]
        if bits.count(None) != 1:
            return None
        freed = {self.joined[self.dropped[value]] for value in tensors if value in self.dropped}
        taken = {self.joined[bit] for bit in bits if bit is not None}
        return freed.pop() if len(freed) == 1 and not freed & taken else None

    def _name_roots(self, step: Step) -> None:
        """From here on each bit has one name."""
        root = self.joined.__getitem__
        step.dims = [[root(bit) for bit in dim] for dim in step.dims]
        step.inputs = [source and (source[0], [root(bit) for bit in source[1]]) for source in step.inputs]
        step.inits = [source and (source[0], [root(bit) for bit in source[1]]) for source in step.inits]
        step.results = [[root(bit) for bit in bits] for bits in step.results]
        step.reduced = [root(bit) for bit in step.reduced]


def _index_bits(access: Sequence[object], dims: Sequence[list[int]]) -> list[int]:
    """The bits of a row major index of a tensor, the lowest first."""
    return [bit for expr in reversed(access) if isinstance(expr, AffineDimExpr) for bit in dims[expr.position]]


def is_plain(op: linalg.StructuredOp) -> bool:
    """Return whether a body is arithmetic on elements and indices alone, and each element is read at an index of its
    own.
    """
    for map_ in op.maps:
        positions = [expr.position for expr in access_of(map_) if isinstance(expr, AffineDimExpr)]
        if len(set(positions)) != len(positions):
            return False
        if any(not isinstance(expr, AffineDimExpr | AffineConstantExpr) for expr in map_.results):
            return False
    for inner in op.body.block.ops:
        if isinstance(inner, linalg.YieldOp | linalg.IndexOp):
            continue
        if not is_arithmetic(inner) or len(inner.results) != 1:
            return False
        if isinstance(inner.results[0].type, IndexType) and not isinstance(inner, arith.IndexCastOp | arith.ConstantOp):
            return False
    return True
