"""`tritongpu-reorder-instructions`: values live in registers for as short a time as possible."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.dialects import scf, tt, ttg
from tilewright.dialects.types import as_tensor
from tilewright.ir.dominance import properly_dominates
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import DotOperandLayout


@register_pass
class ReorderInstructionsPass(Pass):
    """Moves ops so that fewer values are live at the same time.

    1. What makes an operand of a matmul, and is used in other loops alone, moves to its use in each of them.
    2. A buffer is filled right after its value is made, so that the registers are free again.
    3. Transposes stand next to what they transpose, where they fold into it.
    4. B of a product is loaded after A, right before the product.

    ```mlir
    %a = ttg.local_load %ma : !ttg.memdesc<32x32xf16, ...> -> tensor<32x32xf16, #ttg.dot_op<...>>
    scf.for ... { %d = tt.dot %a, ... }
    // becomes
    scf.for ... { %a = ttg.local_load %ma : ...    %d = tt.dot %a, ... }
    ```
    """

    name = "tritongpu-reorder-instructions"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        ops = ops_within(module)
        for op in ops:
            _sink_operand(op)
        for op in ops:
            if isinstance(op, ttg.LocalAllocOp) and op.src is not None:
                _move_after_definition(op, op.src)
        for op in ops:
            if isinstance(op, tt.TransOp | ttg.MemDescTransOp):
                _move_after_definition(op, op.src)
        for op in ops:
            if isinstance(op, ttg.LocalLoadOp):
                _load_b_after_a(op)


def _dot_operand(value: SSAValue) -> DotOperandLayout | None:
    layout = ttg.layout_of(as_tensor(value.type).encoding)
    return layout if isinstance(layout, DotOperandLayout) else None


def _loop_around(op: Operation) -> Operation | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, scf.ForOp):
        parent = parent.parent_op()
    return parent


def _sink_operand(op: Operation) -> None:
    """Move a load from shared memory, or a conversion to a dot operand, into the loop of its use; into each of several
    loops, where it is used once in each."""
    if not isinstance(op, ttg.LocalLoadOp) and not (
        isinstance(op, ttg.ConvertLayoutOp) and _dot_operand(op.result) is not None
    ):
        return
    uses = tuple(op.result.uses)
    loops = {_loop_around(use.operation) for use in uses}
    if not uses or len(loops) != len(uses) or _loop_around(op) in loops:
        return
    if isinstance(op, ttg.LocalLoadOp) and not _keeps_contents(op):
        return
    for use in uses[1:]:
        copy = op.clone()
        copy.location = op.location
        _insert_before(copy, use.operation)
        use.operation.operands[use.index] = copy.results[0]
    op.detach()
    _insert_before(op, uses[0].operation)


def _keeps_contents(op: ttg.LocalLoadOp) -> bool:
    """Return whether the buffer that is read was filled once, when it was made, so that it may be read later as
    well.
    """
    source = op.src
    while isinstance(source, OpResult) and isinstance(source.op, ttg.MemDescTransOp | ttg.MemDescReshapeOp):
        source = source.op.src
    return isinstance(source.owner, ttg.LocalAllocOp) and source.owner.src is not None


def _move_after_definition(op: Operation, source: SSAValue) -> None:
    if isinstance(source, OpResult):
        _move_after(op, source.op)


def _load_b_after_a(op: ttg.LocalLoadOp) -> None:
    operand = _dot_operand(op.result)
    uses = tuple(op.result.uses)
    if operand is None or operand.op_index != DotOperandLayout.B or len(uses) != 1:
        return
    dot = uses[0].operation
    if not isinstance(dot, tt.DotOp):
        return
    other = dot.a.owner
    if isinstance(other, ttg.LocalLoadOp) and other.parent is dot.parent and properly_dominates(op, other):
        _move_after(op, other)


def _insert_before(op: Operation, place: Operation) -> None:
    assert place.parent is not None
    place.parent.insert_op_before(op, place)


def _move_after(op: Operation, place: Operation) -> None:
    if place.next_op is op:
        return
    op.detach()
    assert place.parent is not None
    place.parent.insert_op_after(op, place)
