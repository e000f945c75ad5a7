"""Which part of a tensor anybody reads: the rest need not be computed.

%e = exp(...) : tensor<1024xf32>;  store of %e[0][%n][1]      ->  the nest of %e runs to %n
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects import linalg, tensor
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.types import is_tensor
from tilewright.ir.effects import may_write
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.provable import is_same
from tilewright.transforms.linalg.sink_producers import find_store
from tilewright.transforms.linalg.structured import access_of, is_elementwise, shape_or_scalar


class Demand:
    """Upper bounds of the elements that are read of each tensor value."""

    def __init__(self, order: dict[Operation, int]):
        """`order` has the positions of ops in the program, as far as they are known."""
        self._order = order
        self._known: dict[SSAValue, tuple[Index, ...]] = {}

    def of(self, value: SSAValue) -> tuple[Index, ...]:
        """Return how far each dimension of a value is read; its extents where nothing less is known."""
        if (found := self._known.get(value)) is None:
            found = self._known[value] = self._find(value)
        return found

    def _find(self, value: SSAValue) -> tuple[Index, ...]:
        assert is_tensor(value.type)
        extents = shape_or_scalar(value.type)
        joined: tuple[Index, ...] | None = None
        for use in value.uses:
            bounds = self._of_use(use.operation, use.index, value, extents)
            if joined is None:
                joined = bounds
            else:
                joined = tuple(
                    a if is_same(a, b) else extent for a, b, extent in zip(joined, bounds, extents, strict=True)
                )
            if joined == extents:
                return extents
        return extents if joined is None else joined

    def _of_use(self, user: Operation, number: int, value: SSAValue, extents: tuple[int, ...]) -> tuple[Index, ...]:
        if isinstance(user, tensor.ExtractSliceOp) and find_store(user.result) is not None:
            if all(start == 0 for start in user.mixed_offsets) and all(step == 1 for step in user.mixed_strides):
                return tuple(user.mixed_sizes)
            return extents
        if not isinstance(user, linalg.StructuredOp) or not is_elementwise(user) or not user.results:
            return extents
        if number >= len(user.inputs) or user.parent_block() is not _block_of(value) or _writes_memory(user):
            return extents
        maps = user.maps
        by_dim: dict[int, Index] = {}
        for result, map_ in zip(user.results, maps[len(user.inputs) :], strict=True):
            for expr, bound in zip(access_of(map_), self.of(result), strict=True):
                if isinstance(expr, AffineDimExpr) and not is_same(by_dim.setdefault(expr.position, bound), bound):
                    return extents
        return tuple(
            by_dim.get(expr.position, extent) if isinstance(expr, AffineDimExpr) else extent
            for expr, extent in zip(access_of(maps[number]), extents, strict=True)
        )

    def loop_bounds(
        self, op: Operation, result: int, access: tuple[AffineExpr, ...], extents: tuple[int, ...]
    ) -> tuple[Index, ...]:
        """Return how far the loops of `op` must run for one of its results; the bounds are made available before `op`.
        Where the body writes to memory (atomics), all the way: nobody may read a result, and it happens nevertheless.
        """
        bounds: list[Index] = list(extents)
        if isinstance(op, linalg.StructuredOp) and _writes_memory(op):
            return tuple(bounds)
        for expr, bound in zip(access, self.of(op.results[result]), strict=True):
            if isinstance(expr, AffineDimExpr) and self.make_available(bound, op):
                bounds[expr.position] = bound
        return tuple(bounds)

    def common(
        self, bounds: Sequence[tuple[Index, ...]], reduced: tuple[bool, ...], extents: tuple[int, ...]
    ) -> list[Index]:
        """Bounds that all results agree on; reductions take all elements."""
        if not bounds:
            return list(extents)
        result: list[Index] = []
        for dim, extent in enumerate(extents):
            first = bounds[0][dim]
            agreed = not reduced[dim] and all(is_same(first, other[dim]) for other in bounds)
            result.append(first if agreed else extent)
        return result

    def make_available(self, bound: Index, op: Operation) -> bool:
        """Move the arithmetic that makes a bound before `op`, if it does not stand there already."""
        if isinstance(bound, int):
            return True
        owner, block = bound.owner, op.parent_block()
        if isinstance(owner, Block):
            return _encloses(owner, op)
        if owner.parent_block() is not block:
            parent = owner.parent_block()
            return parent is not None and _encloses(parent, op)
        if self._is_before(owner, op):
            return True
        if not is_arithmetic(owner) or not all(self.make_available(operand, op) for operand in owner.operands):
            return False
        owner.detach()
        assert block is not None
        block.insert_op_before(owner, op)
        if op in self._order:
            self._order[owner] = self._order[op]
        return True

    def _is_before(self, owner: Operation, op: Operation) -> bool:
        """Return whether an op is before another of its block; of equal positions, where it was moved there."""
        if owner in self._order and op in self._order:
            return self._order[owner] <= self._order[op]
        return owner.is_before_in_block(op)


def _writes_memory(op: linalg.StructuredOp) -> bool:
    """Return whether the body does something for each element, whatever part of the results is read."""
    return any(may_write(inner) for inner in op.body.block.ops)


def _block_of(value: SSAValue) -> Block | None:
    owner = value.owner
    return owner if isinstance(owner, Block) else owner.parent_block()


def _encloses(block: Block, op: Operation) -> bool:
    parent = op.parent_block()
    while parent is not None:
        if parent is block:
            return True
        outer = parent.parent_op()
        parent = outer.parent_block() if outer is not None else None
    return False
