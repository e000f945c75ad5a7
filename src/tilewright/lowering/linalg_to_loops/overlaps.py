"""What is known of two views of memory: that they are apart, or that each element is read just where it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import linalg, tensor
from tilewright.ir.effects import is_memory_free
from tilewright.ir.walking import ops_within
from tilewright.lowering.linalg_to_loops.sources import PaddedView, Source, StridedView, is_apart, memory_of
from tilewright.transforms.linalg.effects import memory_operands, root_of_memref
from tilewright.transforms.linalg.index_proofs import is_same
from tilewright.transforms.linalg.structured import access_of

if TYPE_CHECKING:
    from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering


def writes_directly(lowering: FunctionLowering, op: linalg.StructuredOp, dest: StridedView) -> bool:
    """Return whether a nest may write to `dest` while it reads its inputs."""
    maps = op.maps
    output = access_of(maps[-1])
    for index, value in enumerate(op.inputs):
        if not op.body.block.args[index].uses.get_length():
            continue
        source = lowering.source(value)
        view = memory_of(source)
        if view is None or is_disjoint(lowering, view, dest):
            continue
        if not is_same_element(source, access_of(maps[index]), dest, output):
            return False
    for inner in op.body.block.walk():
        if isinstance(inner, tensor.ExtractOp) and not _is_disjoint_source(lowering, inner.tensor, dest):
            return False
        if not is_memory_free(inner):
            return _bodies_read_others(lowering, op, dest)
    return True


def _is_disjoint_source(lowering: FunctionLowering, value: SSAValue, dest: StridedView) -> bool:
    view = memory_of(lowering.source(value))
    return view is None or is_disjoint(lowering, view, dest)


def _bodies_read_others(lowering: FunctionLowering, op: linalg.StructuredOp, dest: StridedView) -> bool:
    roots = [root_of_memref(value) for inner in ops_within(op.body) for value in memory_operands(inner)]
    if dest.owned:
        return dest.root not in roots
    return all(lowering.known.apart.is_disjoint(root, dest.root) for root in roots)


def is_disjoint(lowering: FunctionLowering, left: StridedView, right: StridedView) -> bool:
    """Return whether two views are known not to overlap."""
    if left.owned or right.owned:
        return left.root is not right.root
    if left.root is right.root:
        return is_apart(left, right)
    return lowering.known.apart.is_disjoint(left.root, right.root)


def is_same_element(
    source: Source, access: tuple[AffineExpr, ...], dest: StridedView, output: tuple[AffineExpr, ...]
) -> bool:
    """Return whether each iteration reads just the element that it writes."""
    view = source.inner if isinstance(source, PaddedView) else source
    return isinstance(view, StridedView) and access == output and is_same_memory(view, dest)


def is_same_memory(left: StridedView, right: StridedView) -> bool:
    """Return whether two views are known to be the same elements of the same memory."""
    return (
        left.flat is right.flat
        and is_same(left.offset, right.offset)
        and len(left.strides) == len(right.strides)
        and all(is_same(a, b) for a, b in zip(left.strides, right.strides, strict=True))
    )
