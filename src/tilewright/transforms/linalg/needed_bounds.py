"""Which part of a tensor is read: the rest need not be computed.

%e = exp(...) : tensor<1024xf32>;  store of %e[0][%n][1]      ->  of %e, elements up to %n are needed
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.dialects import func, linalg, linalg_ext, tensor
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.construction import Index
from tilewright.dialects.types import is_tensor
from tilewright.ir.effects import may_write
from tilewright.ir.values import block_of
from tilewright.ir.walking import find_ops
from tilewright.transforms.linalg.index_proofs import is_same
from tilewright.transforms.linalg.sink_producers import find_store
from tilewright.transforms.linalg.structured import access_of, is_elementwise, shape_or_scalar


class NeededBounds:
    """Upper bounds of the elements that are read of each tensor value."""

    def __init__(self) -> None:
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

    def _of_use(self, user: Operation, index: int, value: SSAValue, extents: tuple[int, ...]) -> tuple[Index, ...]:
        if isinstance(user, tensor.ExtractSliceOp) and find_store(user.result) is not None:
            if all(start == 0 for start in user.mixed_offsets) and all(step == 1 for step in user.mixed_strides):
                return tuple(user.mixed_sizes)
            return extents
        if not isinstance(user, linalg.StructuredOp) or not is_elementwise(user) or not user.results:
            return extents
        if index >= len(user.inputs) or user.parent_block() is not block_of(value) or needs_all(user):
            return extents
        maps = user.maps
        by_dim: dict[int, Index] = {}
        for result, map_ in zip(user.results, maps[len(user.inputs) :], strict=True):
            for expr, bound in zip(access_of(map_), self.of(result), strict=True):
                if isinstance(expr, AffineDimExpr) and not is_same(by_dim.setdefault(expr.position, bound), bound):
                    return extents
        return tuple(
            by_dim.get(expr.position, extent) if isinstance(expr, AffineDimExpr) else extent
            for expr, extent in zip(access_of(maps[index]), extents, strict=True)
        )


def make_available(bound: Index, op: Operation, order: dict[Operation, int]) -> bool:
    """Move the arithmetic that makes a bound before `op`, if it does not stand there already. `order` has the positions
    of ops in the program, as far as they are known; ops that are moved get that of `op`.
    """
    if isinstance(bound, int):
        return True
    owner, block = bound.owner, op.parent_block()
    if isinstance(owner, Block):
        return _encloses(owner, op)
    if owner.parent_block() is not block:
        parent = owner.parent_block()
        return parent is not None and _encloses(parent, op)
    if _is_before(owner, op, order):
        return True
    if not is_arithmetic(owner) or not all(make_available(operand, op, order) for operand in owner.operands):
        return False
    owner.detach()
    assert block is not None
    block.insert_op_before(owner, op)
    if op in order:
        order[owner] = order[op]
    return True


def _is_before(owner: Operation, op: Operation, order: dict[Operation, int]) -> bool:
    """Return whether an op is before another of its block; of equal positions, where it was moved there."""
    if owner in order and op in order:
        return order[owner] <= order[op]
    return owner.is_before_in_block(op)


def take_needed_bounds(function: func.FuncOp) -> dict[SSAValue, tuple[Index, ...]]:
    """Return what the `linalg_ext.needed` ops of a function say of its tensors, and remove them."""
    found: dict[SSAValue, tuple[Index, ...]] = {}
    for op in find_ops(function, linalg_ext.NeededOp):
        found[op.source] = tuple(op.mixed_bounds)
        op.detach()
        op.erase()
    return found


def needs_all(op: linalg.StructuredOp) -> bool:
    """Return whether the body does something for each element, whatever part of the results is read."""
    return any(may_write(inner) for inner in op.body.block.ops)


def _encloses(block: Block, op: Operation) -> bool:
    parent = op.parent_block()
    while parent is not None:
        if parent is block:
            return True
        outer = parent.parent_op()
        parent = outer.parent_block() if outer is not None else None
    return False
