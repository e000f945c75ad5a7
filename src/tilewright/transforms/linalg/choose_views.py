"""Loads that are one copy or, depending on a run-time check, lane by lane: the view of the one copy is read in place.

%buf = memref.alloc() : memref<64x64xf32>
scf.if %partial { linalg.fill ins(%other) outs(%buf) }
scf.if %straight {
  memref.copy %view, %box_of_buf
} else {
  scf.for %i = ... { memref.copy %row, %row_of_buf }
}
%v = bufferization.to_tensor %buf
  ->
%m = scf.if %straight -> (memref<64x?xf32, strided<[?, ?], offset: ?>>) {
  yield %view
} else {
  %buf, fill, the loop; yield %box_of_buf
}
%v = pad of bufferization.to_tensor %m

If a dimension other than the last is contiguous in memory, the buffer has that layout, too.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilewright.dialects import arith, bufferization, linalg, memref, scf
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.construction import MixedIndex
from tilewright.dialects.types import is_memref
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.loads import ancestor_in, shape_of_memref
from tilewright.transforms.linalg.row_buffers import laid_out_along
from tilewright.transforms.linalg.structured import shape_or_scalar

UNIT_STRIDE_GUARD = "tilewright.unit_stride_guard"
"""On a branch between one piece and lane by lane: the dimension of which its condition says that all lanes follow one
another. With the number of the first few lanes in place of their extent, it says so of these."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A buffer of which both regions of `branch` fill the same box, one by the single `copy`."""

    buffer: memref.AllocOp
    fill: linalg.FillOp | None
    fill_branch: Operation | None
    branch: scf.IfOp
    copy: memref.CopyOp
    to_tensor: bufferization.ToTensorOp
    low: tuple[MixedIndex, ...]
    sizes: tuple[MixedIndex, ...]


def find_choice(op: bufferization.ToTensorOp) -> Choice | None:
    """Match the pattern of such a load; None where a tensor is anything else."""
    buffer = op.memref.owner
    if not isinstance(buffer, memref.AllocOp):
        return None
    block = buffer.parent_block()
    shape = shape_or_scalar(buffer.memref.type)
    if DYNAMIC_INDEX in shape or op.parent_block() is not block:
        return None
    fill: linalg.FillOp | None = None
    fill_branch: Operation | None = None
    branch: scf.IfOp | None = None
    for use in buffer.memref.uses:
        user = use.operation
        if user is op:
            continue
        outer = ancestor_in(block, user)
        if isinstance(user, linalg.FillOp) and fill is None and (outer is user or _is_only_op(user, outer)):
            fill, fill_branch = user, outer
        elif isinstance(outer, scf.IfOp) and branch in (None, outer):
            branch = outer
        else:
            return None
    if branch is None or branch.results or len(branch.false_region.blocks) != 1:
        return None
    if not branch.is_before_in_block(op) or (fill_branch is not None and not fill_branch.is_before_in_block(branch)):
        return None
    return _with_copy(op, buffer, fill, fill_branch, branch)


def _with_copy(
    op: bufferization.ToTensorOp,
    buffer: memref.AllocOp,
    fill: linalg.FillOp | None,
    fill_branch: Operation | None,
    branch: scf.IfOp,
) -> Choice | None:
    then_block = branch.true_region.block
    copies = [inner for inner in then_block.ops if isinstance(inner, memref.CopyOp)]
    if len(copies) != 1:
        return None
    copy = copies[0]
    if not _is_read_fast(copy.source, op):
        return None
    views = (memref.ReinterpretCastOp, memref.SubviewOp, memref.CastOp, scf.YieldOp)
    if any(inner is not copy and not (is_arithmetic(inner) or isinstance(inner, views)) for inner in then_block.ops):
        return None
    shape = shape_or_scalar(buffer.memref.type)
    low: tuple[MixedIndex, ...] = (0,) * len(shape)
    sizes: tuple[MixedIndex, ...] = shape
    if copy.target is not buffer.memref:
        view = copy.target.owner
        if not isinstance(view, memref.SubviewOp) or view.source is not buffer.memref:
            return None
        if any(step != 1 for step in view.mixed_strides) or len(view.mixed_sizes) != len(shape_of_memref(copy.target)):
            return None
        low, sizes = tuple(view.mixed_offsets), tuple(view.mixed_sizes)
    if sizes == shape and fill is not None:
        return None
    if any(not _is_outside(entry, branch) for entry in (*low, *sizes)):
        return None
    if any(isinstance(entry, SSAValue) for entry in low):
        return None
    if not _stays_in_box(buffer, branch, low, sizes):
        return None
    return Choice(buffer, fill, fill_branch, branch, copy, op, low, sizes)


def _stays_in_box(
    buffer: memref.AllocOp, branch: scf.IfOp, low: tuple[MixedIndex, ...], sizes: tuple[MixedIndex, ...]
) -> bool:
    """Return whether the other branch writes to the buffer only inside of the box, through views of it."""
    for use in buffer.memref.uses:
        user = use.operation
        if not branch.false_region.is_ancestor(user):
            continue
        if not isinstance(user, memref.SubviewOp) or any(step != 1 for step in user.mixed_strides):
            return False
        for offset, size, start, extent in zip(user.mixed_offsets, user.mixed_sizes, low, sizes, strict=True):
            if offset == start and _equal(size, extent):
                continue
            if size != 1 or not isinstance(offset, SSAValue) or not _counts_over(offset, start, extent):
                return False
        if any(not isinstance(inner.operation, memref.CopyOp) or inner.index != 1 for inner in user.result.uses):
            return False
    return True


def _counts_over(value: SSAValue, start: MixedIndex, extent: MixedIndex) -> bool:
    """Return whether a value is the counter of a loop from `start` to `start + extent`, `start` being 0."""
    if not isinstance(value, BlockArgument) or value.index != 0 or start != 0:
        return False
    loop = value.owner.parent_op()
    return isinstance(loop, scf.ForOp) and _equal(_number(loop.lb), 0) and _equal(_number(loop.ub), extent)


def _number(value: SSAValue) -> MixedIndex:
    number = arith.find_constant_int(value)
    return value if number is None else number


def _equal(left: MixedIndex, right: MixedIndex) -> bool:
    return left is right or (isinstance(left, int) and isinstance(right, int) and left == right)


def _is_outside(entry: MixedIndex, branch: Operation) -> bool:
    if not isinstance(entry, SSAValue):
        return True
    owner = entry.owner
    op = owner.parent_op() if isinstance(owner, Block) else owner
    return op is None or not branch.is_ancestor(op)


def _is_only_op(op: Operation, outer: Operation | None) -> bool:
    if not isinstance(outer, scf.IfOp) or outer.results:
        return False
    inner = [each for region in outer.regions for block in region.blocks for each in block.ops]
    return all(each is op or isinstance(each, scf.YieldOp) for each in inner)


def _is_read_fast(view: SSAValue, op: bufferization.ToTensorOp) -> bool:
    """Return whether the last dimension of a view is contiguous, or, for matmuls, any: others are worth a copy."""
    type_ = view.type
    if not is_memref(type_) or not type_.get_num_dims():
        return False
    strides = memref.strides_and_offset(type_)[0]
    return strides[-1] == 1 or (1 in strides and _only_products_read(op.tensor))


def _only_products_read(value: SSAValue) -> bool:
    users = [use.operation for use in value.uses]
    return bool(users) and all(
        isinstance(user, linalg.MatmulOp)
        or (isinstance(user, linalg.TransposeOp) and _only_products_read(user.results[0]))
        for user in users
    )


def choose_view(choice: Choice) -> SSAValue:
    """Rewrite the branch to yield a view of the box; returns the view. The buffer moves into the other branch."""
    branch, copy, buffer = choice.branch, choice.copy, choice.buffer
    source_type = copy.source.type
    assert is_memref(source_type)
    rank = source_type.get_num_dims()
    unit = _unit_dimension(copy.source)
    layout = StridedLayoutAttr([1 if dim == unit else None for dim in range(rank)], None)
    view_type = MemRefType(source_type.element_type, source_type.get_shape(), layout)
    then_block, else_block = branch.true_region.block, branch.false_region.block
    source = copy.source
    target = copy.target.owner
    copy.detach()
    copy.erase()
    if isinstance(target, memref.SubviewOp):
        target.detach()
        target.erase()
    _yield(then_block, _cast(then_block, source, view_type))
    first = else_block.first_op
    assert first is not None
    for op in (buffer, choice.fill_branch):
        if op is not None:
            op.detach()
            else_block.insert_op_before(op, first)
    whole: SSAValue = buffer.memref if unit is None else laid_out_along(unit, buffer)
    last = else_block.last_op
    assert last is not None
    box = memref.SubviewOp(whole, choice.low, choice.sizes)
    else_block.insert_op_before(box, last)
    _yield(else_block, _cast(else_block, box.result, view_type))
    parent = branch.parent_block()
    assert parent is not None
    regions = [branch.detach_region(region) for region in list(branch.regions)]
    attributes = dict(branch.attributes)
    new = scf.IfOp.create(operands=[branch.cond], result_types=[view_type], regions=regions, attributes=attributes)
    new.location = branch.location
    parent.insert_op_before(new, branch)
    branch.detach()
    branch.erase()
    return new.results[0]


def _unit_dimension(view: SSAValue) -> int | None:
    """The dimension that is contiguous in memory; None where it is the last one."""
    assert is_memref(view.type)
    strides = memref.strides_and_offset(view.type)[0]
    return None if strides[-1] == 1 else strides.index(1)


def _cast(block: Block, value: SSAValue, view_type: MemRefType) -> SSAValue:
    if value.type == view_type:
        return value
    last = block.last_op
    assert last is not None
    cast = memref.CastOp.create(operands=[value], result_types=[view_type])
    block.insert_op_before(cast, last)
    return cast.results[0]


def _yield(block: Block, value: SSAValue) -> None:
    last = block.last_op
    assert isinstance(last, scf.YieldOp)
    last.operands = [value]
