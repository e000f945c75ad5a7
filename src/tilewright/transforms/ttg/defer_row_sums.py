"""`tritongpu-defer-row-sums`: loops that add up sums of rows keep a part in each thread, and add the parts after."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import arith, scf, tt, ttg
from tilewright.dialects.arith import constant_splat
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.folds import splat_of
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.ttg.encodings import encoding_of, layout_of
from tilewright.dialects.types import as_tensor
from tilewright.ir.appending import append_argument, append_operands, append_result
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.values import find_only_user
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import LANE, REGISTER, WARP, NvidiaMmaLayout, SliceLayout
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class _RowSum:
    """A sum that a loop carries: what it is multiplied by, the reduction that is added, and the ops that do it."""

    loop: scf.ForOp
    index: int
    scale: SSAValue | None
    reduce: tt.ReduceOp
    update: arith.AddfOp
    parts: tuple[int, int, int]
    """Along the axis: neighbours that a thread holds, threads, and how often that comes again."""


@register_pass
class DeferRowSumsPass(Pass):
    """A loop that carries sums of the rows of what matmuls give, as attention does, and scales them, carries a
    part of each sum in every thread that holds a part of the row. Threads exchange them once, after the loop.

    Before:
    ```mlir
    %r = scf.for ... iter_args(%l = %zero) -> (tensor<128xf32, #row>) {
      %s = "tt.reduce"(%p) <{axis = 1 : i32}> ({ addf }) : (tensor<128x64xf32, #mma>) -> tensor<128xf32, #row>
      %t = arith.mulf %l, %alpha
      %n = arith.addf %t, %s
      scf.yield %n
    ```
    After:
    ```mlir
    %q = scf.for ... iter_args(%l = %zeros) -> (tensor<128x4xf32, #parts>) {
      %v = tt.reshape %p : tensor<128x64xf32, #mma> -> tensor<128x8x4x2xf32, #linear>
      %s = "tt.reduce"("tt.reduce"(%v) <{axis = 3}>) <{axis = 1}> : (...) -> tensor<128x4xf32, #parts>   // in threads
      %t = arith.mulf %l, %alpha1
      %n = arith.addf %t, %s
      scf.yield %n
    %r = "tt.reduce"(%q) <{axis = 1 : i32}> ({ addf })
    ```
    Like any reduction, sums of floats may come in another order. Only sums that begin at zero.
    """

    name = "tritongpu-defer-row-sums"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for reduce in [op for op in ops_within(module) if isinstance(op, tt.ReduceOp)]:
            found = _find(reduce)
            if found is not None:
                _defer(found)


def _find(reduce: tt.ReduceOp) -> _RowSum | None:
    loop = reduce.parent_op()
    if not isinstance(loop, scf.ForOp) or len(reduce.srcs) != 1 or not _is_sum(reduce):
        return None
    parts = _parts_of(reduce)
    update = find_only_user(reduce.result[0])
    if parts is None or not isinstance(update, arith.AddfOp) or update.parent is not loop.body.block:
        return None
    index = _yielded_at(loop, update.result)
    if index is None or splat_of(loop.iter_args[index]) != 0:
        return None
    carried = loop.region_iter_args[index]
    [other] = [value for value in update.operands if value is not reduce.result[0]]
    user = find_only_user(carried)
    if other is carried and user is update:
        return _RowSum(loop, index, None, reduce, update, parts)
    if not isinstance(user, arith.MulfOp) or user.result is not other or find_only_user(other) is not update:
        return None
    [scale] = [value for value in user.operands if value is not carried]
    return _RowSum(loop, index, scale, reduce, update, parts)


def _is_sum(reduce: tt.ReduceOp) -> bool:
    ops, arguments = tuple(reduce.combine_op.block.ops), reduce.combine_op.block.args
    return len(ops) == 2 and isinstance(ops[0], arith.AddfOp) and set(ops[0].operands) == set(arguments)


def _yielded_at(loop: scf.ForOp, value: SSAValue) -> int | None:
    """Return at which place a loop's iteration gives a value on, if that is its only use."""
    last = loop.body.block.last_op
    if last is None or find_only_user(value) is not last:
        return None
    return tuple(last.operands).index(value)


def _parts_of(reduce: tt.ReduceOp) -> tuple[int, int, int] | None:
    """Return how a row of a product's result is dealt to the threads of a warp; None where it is otherwise."""
    type = as_tensor(reduce.srcs[0].type)
    layout, shape = layout_of(type.encoding), type.get_shape()
    if not isinstance(layout, NvidiaMmaLayout) or len(shape) != 2 or reduce.axis.value.data != 1:
        return None
    linear = layout.to_linear(shape)
    column = list(linear.out_dims).index("dim1")
    lanes, warps, registers = (
        [basis[column] for basis in linear.bases_of(name) if basis[column]] for name in (LANE, WARP, REGISTER)
    )
    if not lanes or warps or len(registers) + len(lanes) != shape[1].bit_length() - 1:
        return None
    first, threads = lanes[0], 1 << len(lanes)
    if lanes != [first << bit for bit in range(len(lanes))]:
        return None
    return first, threads, shape[1] // (first * threads)


def _defer(found: _RowSum) -> None:
    loop, reduce = found.loop, found.reduce
    inner = OpBuilder.before(found.update)
    partial = _partial(inner, found)
    start = OpBuilder.before(loop).result(constant_splat(0.0, as_tensor(partial.type)))
    append_operands(loop, [start])
    carried: SSAValue = append_argument(loop.body.block, partial.type)
    if found.scale is not None:
        carried = inner.result(arith.MulfOp(carried, _spread(inner, found.scale, partial.type)))
    combined = inner.result(arith.AddfOp(carried, partial))
    total = append_result(loop, partial.type)
    last = loop.body.block.last_op
    assert last is not None
    append_operands(last, [combined])
    last.operands[found.index] = loop.region_iter_args[found.index]
    after = OpBuilder.after(loop)
    after.location = reduce.location
    whole: SSAValue = after.insert(tt.ReduceOp([total], 1, reduce.combine_op.clone())).result[0]
    result = loop.results[found.index]
    if whole.type != result.type:
        whole = after.result(ttg.ConvertLayoutOp(whole, result.type))
    result.replace_all_uses_with(whole)


def _partial(builder: OpBuilder, found: _RowSum) -> SSAValue:
    """The sum of the elements of each row that a thread holds."""
    source = as_tensor(found.reduce.srcs[0].type)
    near, threads, far = found.parts
    shape = (source.get_shape()[0], far, threads, near)
    value: SSAValue = builder.result(tt.ReshapeOp(found.reduce.srcs[0], inference.reshape(source, shape)))
    for axis in (3, 1):
        value = builder.insert(tt.ReduceOp([value], axis, found.reduce.combine_op.clone())).result[0]
    return value


def _spread(builder: OpBuilder, rows: SSAValue, type: Attribute) -> SSAValue:
    """Numbers of rows in every thread that holds a part of a row."""
    wanted = as_tensor(type)
    row_type = tensor_type(
        wanted.element_type, wanted.get_shape()[:1], encoding_of(SliceLayout(1, layout_of(wanted.encoding)))
    )
    value = builder.result(ttg.ConvertLayoutOp(rows, row_type))
    value = builder.result(tt.ExpandDimsOp(value, 1))
    return builder.result(tt.BroadcastOp(value, wanted))
