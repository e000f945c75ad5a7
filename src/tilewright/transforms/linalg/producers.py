"""Who makes and who reads the elements of a value, seen through copies and unit dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue, Use
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from tilewright.dialects import cf, linalg, tensor
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.effects import may_write
from tilewright.transforms.linalg.structured import is_elementwise, shape_or_scalar

SHAPE_CHANGES = tensor.ExpandShapeOp | tensor.CollapseShapeOp


def is_copy(op: Operation) -> bool:
    """Return whether an op only rearranges the elements of its one input: a transpose or a broadcast."""
    if not isinstance(op, linalg.StructuredOp) or len(op.inputs) != 1 or not is_movable(op):
        return False
    body = op.body.block
    end = body.first_op
    return isinstance(end, linalg.YieldOp) and end.operands[0] is body.args[0]


def users_through_copies(value: SSAValue) -> list[Operation]:
    """The ops that do something with the elements of a value."""
    found: list[Operation] = []
    for use in value.uses:
        user = use.operation
        if (isinstance(user, SHAPE_CHANGES) and changes_unit_dims_only(user)) or (is_copy(user) and use.index == 0):
            found.extend(inner for inner in users_through_copies(user.results[0]) if inner not in found)
        elif (
            isinstance(user, linalg.StructuredOp)
            and use.index >= len(user.inputs)
            and not reads_output(user, use.index)
        ):
            continue
        elif user not in found:
            found.append(user)
    return found


def is_output(use: Use) -> bool:
    """Return whether a structured op is given a value as destination."""
    op = use.operation
    return isinstance(op, linalg.StructuredOp) and use.index >= len(op.inputs)


def reads_output(op: linalg.StructuredOp, index: int) -> bool:
    return bool(op.body.block.args[index].uses.get_length())


def access_to(operand: SSAValue, access: tuple[AffineExpr, ...], value: SSAValue) -> tuple[AffineExpr, ...] | None:
    """Return how an access of `operand` reaches `value` through copies and unit dimensions; None if it does not."""
    while operand is not value:
        op = operand.owner
        if isinstance(op, tensor.ExpandShapeOp):
            inner = through_expand(op, access)
            operand = op.src
        elif isinstance(op, tensor.CollapseShapeOp):
            inner = through_collapse(op, access)
            operand = op.src
        elif isinstance(op, linalg.StructuredOp) and is_copy(op):
            loops: list[AffineExpr] = [AffineConstantExpr(0)] * len(op.iterators)
            for expr, outer in zip(op.maps[-1].results, access, strict=True):
                assert isinstance(expr, AffineDimExpr)
                loops[expr.position] = outer
            inner = tuple(substitute(expr, loops) for expr in op.maps[0].results)
            operand = op.inputs[0]
        else:
            return None
        if inner is None:
            return None
        access = inner
    return access


def substitute(expr: AffineExpr, loops: Sequence[AffineExpr]) -> AffineExpr:
    """An access of a producer, in terms of the consumer's loops."""
    return loops[expr.position] if isinstance(expr, AffineDimExpr) else expr


def through_expand(op: tensor.ExpandShapeOp, access: tuple[AffineExpr, ...]) -> tuple[AffineExpr, ...] | None:
    """The access below an expansion that only adds unit dimensions."""
    shape = shape_or_scalar(op.result.type)  # pyright: ignore[reportAttributeAccessIssue]
    inner: list[AffineExpr] = []
    for group in op.groups:
        wide = [dim for dim in group if shape[dim] != 1]
        if len(wide) > 1:
            return None
        inner.append(access[wide[0]] if wide else AffineConstantExpr(0))
    return tuple(inner)


def through_collapse(op: tensor.CollapseShapeOp, access: tuple[AffineExpr, ...]) -> tuple[AffineExpr, ...] | None:
    """The access below a collapse that only drops unit dimensions."""
    shape = shape_or_scalar(op.src.type)
    inner: list[AffineExpr] = [AffineConstantExpr(0)] * len(shape)
    for position, group in enumerate(op.groups):
        wide = [dim for dim in group if shape[dim] != 1]
        if len(wide) > 1:
            return None
        if wide:
            inner[wide[0]] = access[position]
    return tuple(inner)


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads a value: structured ops, and whether anything else does."""

    ops: list[linalg.StructuredOp]
    others: bool


def structured_readers(value: SSAValue) -> Readers:
    """The structured ops that read a value as input, looking through changes of unit dimensions."""
    ops: list[linalg.StructuredOp] = []
    others = False
    for use in value.uses:
        user = use.operation
        if isinstance(user, linalg.StructuredOp) and not isinstance(user, linalg.MatmulOp | linalg.BatchMatmulOp):
            if use.index >= len(user.inputs):
                # A destination that the body does not read is only a shape.
                if user.body.block.args[use.index].uses.get_length():
                    others = True
            elif user not in ops:
                ops.append(user)
        elif isinstance(user, SHAPE_CHANGES) and changes_unit_dims_only(user):
            inner = structured_readers(user.results[0])
            ops.extend(reader for reader in inner.ops if reader not in ops)
            others = others or inner.others
        else:
            others = True
    return Readers(ops, others)


def changes_unit_dims_only(op: Operation) -> bool:
    """Return whether a change of shape adds or drops nothing but unit dimensions."""
    assert isinstance(op, SHAPE_CHANGES)
    larger = op.result.type if isinstance(op, tensor.ExpandShapeOp) else op.src.type
    assert isinstance(larger, TensorType)
    shape = larger.get_shape()
    return all(sum(shape[dim] != 1 for dim in group) <= 1 for group in op.groups)


def producer_of(value: SSAValue) -> linalg.StructuredOp | None:
    """The structured op that computes a value, looking through unit dimensions."""
    owner = value.owner
    while isinstance(owner, SHAPE_CHANGES) and changes_unit_dims_only(owner):
        owner = owner.src.owner
    return owner if isinstance(owner, linalg.StructuredOp) else None


def is_movable(op: linalg.StructuredOp) -> bool:
    """Elementwise, one result, no effect on memory, each element reached by its own index."""
    if len(op.results) != 1 or not is_elementwise(op) or isinstance(op, linalg.FillOp):
        return False
    if not _are_by_own_index(tuple(op.maps)):
        return False
    if op.body.block.args[len(op.inputs)].uses.get_length() and op.outputs[0].owner is op:
        return False
    return not any(map(_is_visible, op.body.block.ops))


@lru_cache(maxsize=1024)
def _are_by_own_index(maps: tuple[AffineMap, ...]) -> bool:
    """Return whether each element of the last operand has an index of its own, and the others go by loops alone."""
    output = maps[-1].results
    if any(not isinstance(expr, AffineDimExpr) for expr in output) or len(set(output)) != maps[-1].num_dims:
        return False
    return all(isinstance(expr, AffineDimExpr | AffineConstantExpr) for map_ in maps for expr in map_.results)


def _is_visible(op: Operation) -> bool:
    """Return whether others see that an op of a body runs: it writes, or may end the program."""
    return may_write(op) or isinstance(op, cf.AssertOp)
