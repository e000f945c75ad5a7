"""Matmuls as the transpose of the product of the transposes, where that spares `wgmma` an operand which it
cannot read.

`wgmma` reads operands of 32 and 8 bits from shared memory only where K is contiguous, but takes A from registers, which
any order of memory fills. A product of f32 whose B was loaded along N therefore becomes

    a @ b + c = trans(trans(b) @ trans(a) + trans(c))

with B in registers and A where it was. Transposes of registers and of buffers are views; a loop that carries the sum
carries its transpose.

So does a product whose B is computed from a load of narrower elements, such as weights of four bits: it is in registers
anyway, and need not be stored for `wgmma` to read while all warps wait.
"""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.dialects import scf, tt, ttg
from tilewright.dialects.construction import static_values
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.ttg.encodings import encoding_of, layout_of
from tilewright.dialects.types import as_tensor, bit_width, element_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.rules import RewriteRule, RuleRewriter, op_type_rewrite_pattern
from tilewright.layouts.distributed import DotOperandLayout
from tilewright.transforms.ttg.layout_order import order_of
from tilewright.transforms.ttg.slices import backward_slice, before_conversions, defining_op

SWAPPED = (1, 0)
GROUP_ROWS = 64
"""Rows of one `wgmma`."""
LOADS = (tt.LoadOp, tt.DescriptorLoadOp, tt.DescriptorGatherOp)
REGISTER_BITS = 32
"""Elements of this width fill registers of fragments one by one, whatever their order in memory."""


def is_loaded(value: SSAValue) -> bool:
    """Return whether a value is what a load gives, at most seen in another way."""
    while isinstance(op := defining_op(value), ttg.ConvertLayoutOp | tt.TransOp | tt.ReshapeOp):
        value = op.src
    return isinstance(op, LOADS)


def is_along_k(value: SSAValue, op_index: int) -> bool:
    """Return whether neighbours of an operand along K are neighbours in memory, as far as its layout tells."""
    source = as_tensor(before_conversions(value).type)
    return order_of(layout_of(source.encoding), source.get_shape())[0] == 1 - op_index


def fits_registers(value: SSAValue) -> bool:
    """Return whether fragments of an operand can be filled from memory in any order."""
    return bit_width(as_tensor(value.type).element_type) == REGISTER_BITS


def is_widened(value: SSAValue) -> bool:
    """Return whether a value is computed from a matrix of narrower elements that is loaded beside it."""
    if is_loaded(value) or not isinstance(value, OpResult) or value.op.parent is None:
        return False
    bits = bit_width(as_tensor(value.type).element_type)
    loaded = (op.result for op in backward_slice(value, value.op.parent) if isinstance(op, LOADS))
    return any(len(as_tensor(x.type).get_shape()) > 1 and bit_width(element_type(x.type)) < bits for x in loaded)


def wants_transpose(dot: tt.DotOp, widen_in_registers: bool = True) -> bool:
    """Return whether B is better read from registers: of two loaded operands it is the one that `wgmma` cannot read
    where it is, or it is computed from narrower elements.
    """
    if as_tensor(dot.d.type).get_shape()[1] % GROUP_ROWS or not is_loaded(dot.a):
        return False
    if widen_in_registers and is_widened(dot.b):
        return is_along_k(dot.b, DotOperandLayout.B)
    if not fits_registers(dot.b) or not is_loaded(dot.b):
        return False
    return is_along_k(dot.a, DotOperandLayout.A) and not is_along_k(dot.b, DotOperandLayout.B)


def transposed_product(dot: tt.DotOp, builder: OpBuilder) -> tt.DotOp:
    """The product of the transposes, before `dot`; the caller transposes its result."""
    accumulator = builder.result(tt.TransOp(dot.c, SWAPPED))
    parent = layout_of(as_tensor(accumulator.type).encoding)
    operands: list[SSAValue] = []
    for index, value in enumerate((dot.b, dot.a)):
        view = _swapped(before_conversions(value), builder)
        type = as_tensor(view.type)
        target = tensor_type(type.element_type, type.get_shape(), encoding_of(DotOperandLayout(index, parent)))
        operands.append(builder.result(ttg.ConvertLayoutOp(view, target)))
    product = tt.DotOp.create(
        operands=(*operands, accumulator),
        result_types=(accumulator.type,),
        properties=dot.properties,
        attributes=dot.attributes,
    )
    return builder.insert(product)


def _swapped(value: SSAValue, builder: OpBuilder) -> SSAValue:
    """The transpose of a matrix: what it is the transpose of, where it is one itself."""
    maker = defining_op(value)
    if isinstance(maker, tt.TransOp) and _is_swap(maker):
        return before_conversions(maker.src)
    return builder.result(tt.TransOp(value, SWAPPED))


class CarryTransposed(RewriteRule):
    """A loop that transposes what it carries first, and back last, carries the transpose:
    `for (x) {yield trans(f(trans(x)))} = trans(for (y) {yield f(y)})`. Takes two transposes out of the loop.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: RuleRewriter, /) -> None:
        for index in range(len(op.iter_args)):
            if _is_carried_transposed(op, index):
                _carry_transposed(op, index, rewriter)
                return


def _is_carried_transposed(loop: scf.ForOp, index: int) -> bool:
    """Return whether each use of a carried value is a transpose of a matrix, and what the next round gets is one
    too.
    """
    argument = loop.region_iter_args[index]
    users = [use.operation for use in argument.uses]
    return bool(users) and all(_is_swap(user) for user in (*users, defining_op(loop.yielded[index])))


def _is_swap(op: Operation | None) -> bool:
    return isinstance(op, tt.TransOp) and static_values(op.order) == SWAPPED


def _carry_transposed(loop: scf.ForOp, index: int, rewriter: RuleRewriter) -> None:
    block = loop.body.block
    argument, last = block.args[1 + index], defining_op(loop.yielded[index])
    assert isinstance(last, tt.TransOp)
    initial = tt.TransOp(loop.iter_args[index], SWAPPED)
    carried = block.insert_arg(initial.result.type, argument.index)
    for use in tuple(argument.uses):
        rewriter.replace(use.operation, (), (carried,))
    block.erase_arg(argument)
    terminator = block.last_op
    assert isinstance(terminator, scf.YieldOp)
    terminator.operands = [*terminator.operands[:index], last.src, *terminator.operands[index + 1 :]]
    if last.result.first_use is None:
        rewriter.erase(last)
    new = loop.carrying([*loop.iter_args[:index], initial.result, *loop.iter_args[index + 1 :]])
    back = tt.TransOp(new.results[index], SWAPPED)
    results = [*new.results[:index], back.result, *new.results[index + 1 :]]
    rewriter.replace(loop, [initial, new, back], results)
