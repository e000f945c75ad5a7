"""The pass `linalg-recognize-scans`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.analysis.combination import Combination, combination_of
from tilewright.dialects import arith, linalg, linalg_ext, scf, tensor
from tilewright.dialects.attributes import SCAN_AXIS
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.walking import find_ops
from tilewright.transforms.linalg.structured import shape_or_scalar

_MOVES = (tensor.InsertOp, tensor.InsertSliceOp, tensor.EmptyOp, scf.YieldOp)


@register_pass
class LinalgRecognizeScansPass(Pass):
    """Turns loops that are marked as scans of the last axis of tiles into scan ops, which can be computed vector by
    vector.

    ```mlir
    %r:2 = scf.for %i = %c1 to %c64 step %c1 iter_args(%out = %start, %acc = %first) -> (tensor<64xf32>, f32) {
      %x_i = tensor.extract %x[%i] : tensor<64xf32>
      %next = arith.addf %acc, %x_i : f32
      %new = tensor.insert %next into %out[%i] : tensor<64xf32>
      scf.yield %new, %next : tensor<64xf32>, f32
    } {tilewright.scan = 0 : i64}
    // becomes
    %r = linalg_ext.scan dimension(0) ins(%x : tensor<64xf32>) outs(%start : tensor<64xf32>) {
    ^bb0(%running: f32, %current: f32):
      %next = arith.addf %running, %current : f32
      linalg.yield %next : f32
    } -> tensor<64xf32>
    ```
    A loop is left alone, with a remark, if it runs along another axis, if its final running value is used, or if it
    combines with anything but arithmetic.
    """

    name = "linalg-recognize-scans"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in find_ops(module, scf.ForOp):
            if SCAN_AXIS in op.attributes and (reason := replace_scan(op)):
                context.remark(op, f"the loop is not taken for a scan: {reason}", RemarkKind.NOT_VECTORIZED)


def replace_scan(op: scf.ForOp) -> str:
    """Replace a loop by the scan that it says it is; returns why not, if it has not the form that this takes."""
    axis, end = op.attributes[SCAN_AXIS], op.body.block.last_op
    count = len(op.iter_args) // 2
    assert isinstance(axis, IntegerAttr) and end is not None
    if arith.find_constant_int(op.lb) != 1 or arith.find_constant_int(op.step) != 1:
        return "it does not go over the elements one by one from the second on"
    if any(result.uses.get_length() for result in op.results[count:]):
        return "what was combined last is read"
    readers = [inner for inner in op.body.block.ops if isinstance(inner, tensor.ExtractOp | tensor.ExtractSliceOp)]
    sources = [reader.operands[0] for reader in readers]
    shapes = {shape_or_scalar(value.type) for value in (*op.results[:count], *sources)}
    directions = {_is_mirrored(reader, op.body.block.args[0]) for reader in readers}
    if len(readers) != count or len(shapes) != 1 or directions not in ({True}, {False}):
        return "it does not read one element of each of its tiles"
    (shape,) = shapes
    if axis.value.data != len(shape) - 1 or arith.find_constant_int(op.ub) != shape[-1]:
        return "it does not go over the whole last axis"
    combination = _find_combination(op, readers, end)
    if combination is None:
        return "it combines elements by more than arithmetic"
    block, body = op.parent_block(), _body_of(combination, sources)
    assert block is not None
    scan = linalg_ext.ScanOp(sources, op.iter_args[:count], axis.value.data, body, reverse=directions == {True})
    scan.location = op.location
    block.insert_op_before(scan, op)
    for old, new in zip(op.results[:count], scan.results, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()
    return ""


def _is_mirrored(reader: tensor.ExtractOp | tensor.ExtractSliceOp, index: SSAValue) -> bool | None:
    """Return whether a reader walks the last axis from its end; None where it reads something else."""
    *others, last = reader.indices if isinstance(reader, tensor.ExtractOp) else reader.mixed_offsets
    if isinstance(last, int) or any(index != 0 and not _is_zero(index) for index in others):
        return None
    if last is index:
        return False
    op = last.owner
    return True if isinstance(op, arith.SubiOp) and op.rhs is index else None


def _is_zero(value: SSAValue | int) -> bool:
    return isinstance(value, SSAValue) and arith.find_constant_int(value) == 0


def _find_combination(op: scf.ForOp, readers: Sequence[Operation], end: Operation) -> Combination | None:
    """The combine function, on scalars in the loop itself or on slices in a generic."""
    count = len(readers)
    running, current = list(op.body.block.args[1 + count :]), [reader.results[0] for reader in readers]
    tiles, results = end.operands[:count], list(end.operands[count:])
    for carried, tile, result in zip(op.body.block.args[1:], tiles, results, strict=False):
        writer = tile.owner
        if not isinstance(writer, tensor.InsertOp | tensor.InsertSliceOp):
            return None
        if list(writer.operands[:2]) != [result, carried]:
            return None
    ops = [inner for inner in op.body.block.ops if inner not in readers and not isinstance(inner, _MOVES)]
    ops = [inner for inner in ops if not isinstance(inner.results[0].type, IndexType)]
    if not is_tensor(running[0].type):
        return combination_of(ops, running, current, results)
    if len(ops) != 1 or not isinstance(ops[0], linalg.GenericOp) or list(ops[0].results) != results:
        return None
    if list(ops[0].inputs) != [*running, *current] or any(kind != "parallel" for kind in ops[0].iterators):
        return None
    *inner_ops, inner_end = ops[0].body.block.ops
    args = ops[0].body.block.args
    return combination_of(inner_ops, args[:count], args[count : 2 * count], inner_end.operands)


def _body_of(combination: Combination, sources: Sequence[SSAValue]) -> Region:
    """A copy of the ops that combine, on arguments of their own."""
    elements = [element_type(source.type) for source in sources]
    block = Block(arg_types=[*elements, *elements])
    copies: dict[SSAValue, SSAValue] = dict(zip((*combination.left, *combination.right), block.args, strict=True))
    for op in combination.ops:
        block.add_op(op.clone(copies))
    block.add_op(linalg.YieldOp(*(copies.get(value, value) for value in combination.results)))
    return Region(block)
