"""The pass `forward-loads`."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IndexType, ModuleOp, TensorType, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import arith, bufferization, func, linalg, memref, tensor
from tilewright.dialects.construction import MixedIndex
from tilewright.dialects.types import element_type, is_integer, is_tensor
from tilewright.ir.diagnostics import op_place
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.walking import find_ops
from tilewright.support.spans import Span
from tilewright.transforms.linalg.choose_views import Choice, choose_view, find_choice
from tilewright.transforms.linalg.effects import ALIASES, Writers, root_of_memref
from tilewright.transforms.linalg.loads import Disjointness, Load, ancestor_in, find_load, shape_of_memref
from tilewright.transforms.linalg.row_buffers import lay_out_as_rows
from tilewright.transforms.linalg.structured import shape_or_scalar
from tilewright.transforms.linalg.write_index import WriteIndex


@register_pass
class ForwardLoadsPass(Pass):
    """Loads read memory where their elements are used, instead of being copied first.

    ```mlir
    %buf = memref.alloc() : memref<64xf32>
    %part = arith.cmpi slt, %n, %c64 : index
    scf.if %part { linalg.fill ins(%other : f32) outs(%buf : memref<64xf32>) }
    %src = memref.subview %x[0] [%n] [1]
    %dst = memref.subview %buf[0] [%n] [1]
    memref.copy %src, %dst
    %v = bufferization.to_tensor %buf restrict writable : memref<64xf32> to tensor<64xf32>
    // becomes
    %box = bufferization.to_tensor %src restrict : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
    %high = arith.subi %c64, %n : index
    %v = tensor.pad %box low[0] high[%high] { tensor.yield %other : f32 } : tensor<?xf32> to tensor<64xf32>
    ```
    Applies only if nothing between the copy and the last use of the tensor can write to the memory being read.
    Different pointer arguments count as disjoint only in functions with the attribute `tilewright.noalias`.

    Rows at computed positions are copied. If they are contiguous along a dimension other than the last, so is their
    buffer.
    """

    name = "forward-loads"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in module.ops:
            if isinstance(function, func.FuncOp) and function.body.blocks.first is not None:
                _Forwarding(function, context).run()


class _Forwarding:
    def __init__(self, function: func.FuncOp, context: PassContext):
        self.function = function
        self.context = context
        self.memory = Disjointness(function)
        self._writes: dict[Block, WriteIndex] = {}
        self._writers = Writers()

    def run(self) -> None:
        for op in find_ops(self.function, bufferization.ToTensorOp):
            load, choice = find_load(op), find_choice(op)
            if load is not None and self._is_undisturbed(op, load.copy, load.copy):
                forward(load)
            elif choice is not None and self._is_undisturbed(op, choice.copy, choice.branch):
                forward_choice(choice)
            elif load is None and choice is None:
                lay_out_as_rows(op)

    def _is_undisturbed(self, load: bufferization.ToTensorOp, copy: memref.CopyOp, start: Operation) -> bool:
        """Return whether no op between the copy and the last use of the tensor may write what is read."""
        block = load.parent_block()
        if block is None or start.parent_block() is not block:
            return False
        writes = self._writes_of(block)
        root = root_of_memref(copy.source)
        last = last_user(load.tensor, block, writes)
        if last is None or writes.position(last) <= writes.position(start):
            return False
        op = writes.first_disturbing(start, last, root)
        if op is None and writes.is_new(last) and self.memory.may_disturb(last, root):
            op = last
        if op is None:
            return True
        # The last user has read everything before it writes, unless it repeats.
        if op is last and (not op.regions or isinstance(op, linalg.StructuredOp)):
            return not isinstance(op, linalg.StructuredOp)
        place = op_place(op)
        where = f" of line {place.line}" if isinstance(place, Span) else ""
        self.context.remark(load, f"'{op.name}'{where} may write to the memory that is read", RemarkKind.COPIED)
        return False

    def _writes_of(self, block: Block) -> WriteIndex:
        if block not in self._writes:
            self._writes[block] = WriteIndex(block, self.memory, self._writers)
        return self._writes[block]


def last_user(value: SSAValue, block: Block, order: WriteIndex) -> Operation | None:
    """The last op of `block` that reads the elements of a tensor, directly, through views or inside of its regions."""
    last: Operation | None = None
    for use in value.uses:
        user = ancestor_in(block, use.operation)
        if user is None:
            return None
        if isinstance(use.operation, ALIASES):
            inner = last_user(use.operation.results[0], block, order)
            if inner is None and use.operation.results[0].uses.get_length():
                return None
            user = inner or user
        if last is None or order.position(last) < order.position(user):
            last = user
    return last


def forward(load: Load) -> None:
    """Replace the buffer by a view of the memory itself, padded where the load was masked."""
    parts = load.ops()
    replace_tensor(load.to_tensor, load.copy.source, load.low, load.sizes, load.fill_value)
    for dead in reversed(parts[:-1]):
        dead.detach()
        dead.erase()


def forward_choice(choice: Choice) -> None:
    """Read in place if a run-time check finds that the load is one view."""
    op = choice.to_tensor
    fill_value = choice.fill.inputs[0] if choice.fill is not None else None
    # The tensor goes first: the buffer moves to where it does not dominate it.
    placeholder = op.memref
    view = choose_view(choice)
    assert placeholder is choice.buffer.memref
    replace_tensor(op, view, choice.low, choice.sizes, fill_value)


def replace_tensor(
    op: bufferization.ToTensorOp,
    view: SSAValue,
    low: tuple[MixedIndex, ...],
    sizes: tuple[MixedIndex, ...],
    fill_value: SSAValue | None,
) -> None:
    """Replace `op` by a tensor that reads `view`, padded to the shape of the old one."""
    block = op.parent_block()
    assert block is not None and is_tensor(op.tensor.type)
    shape, element = shape_or_scalar(op.tensor.type), element_type(op.tensor.type)

    def insert(new: Operation) -> Operation:
        new.location = op.location
        block.insert_op_before(new, op)
        return new

    partial = tuple(sizes) != tuple(shape)
    view_type = TensorType(element, shape_of_memref(view)) if partial else op.tensor.type
    direct = bufferization.ToTensorOp.create(
        operands=[view], result_types=[view_type], properties={"restrict": UnitAttr()}
    )
    result = insert(direct).results[0]
    if partial:
        fill = fill_value if fill_value is not None else insert(zero_constant(element)).results[0]
        high = [_rest(insert, *entry) for entry in zip(shape, low, sizes, strict=True)]
        pad_block = Block(arg_types=[IndexType()] * len(shape))
        pad_block.add_op(tensor.YieldOp.create(operands=[fill]))
        result = insert(tensor.PadOp(result, low, high, Region(pad_block), op.tensor.type)).results[0]
    op.tensor.replace_all_uses_with(result)
    op.detach()
    op.erase()


def _rest(insert: Callable[[Operation], Operation], extent: int, start: MixedIndex, size: MixedIndex) -> MixedIndex:
    if isinstance(start, int) and isinstance(size, int):
        return extent - start - size
    total = insert(arith.constant_index(extent)).results[0]
    for part in (start, size):
        if part != 0:
            value = insert(arith.constant_index(part)).results[0] if isinstance(part, int) else part
            total = insert(arith.SubiOp(total, value)).results[0]
    return total


def zero_constant(element: Attribute) -> Operation:
    """Make the zero that masked-off lanes of a load without `other` read as."""
    if is_integer(element) or isinstance(element, IndexType):
        return arith.constant_int(0, element)
    return arith.constant_float(0.0, element)
