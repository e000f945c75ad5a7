"""Which right operands of matmuls are worth packing, and from which loop on they are invariant."""

from __future__ import annotations

from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.codegen.microkernels import MatmulKernel, PanelPlan, plan_panels
from tilewright.dialects import func, memref, scf
from tilewright.dialects.attributes import NOALIAS
from tilewright.ir.values import block_of
from tilewright.support.cpu_costs import LARGEST_PACKED_OPERAND
from tilewright.support.facts import TargetFacts
from tilewright.transforms.linalg.effects import root_of_memref, written_memory


def plan_block_panels(kernel: MatmulKernel, shape: tuple[int, ...], facts: TargetFacts) -> PanelPlan | None:
    """Plan the panels of a B of so many rows and columns; None where it is better read in place."""
    depth, columns = shape
    if not kernel.has_panels or columns > kernel.columns:
        return None
    plan = plan_panels(kernel.element, kernel.accumulator, depth, columns, facts)
    return plan if plan.bytes <= LARGEST_PACKED_OPERAND else None


def plan_cached_panels(
    kernel: MatmulKernel, shape: tuple[int, ...], facts: TargetFacts, depth: int = 1
) -> PanelPlan | None:
    """Plan the panels of a B of so many rows that other programs may share; None where C, of this shape, is not one
    block."""
    rows, columns = shape
    if not kernel.has_panels or rows > kernel.rows or columns > kernel.columns:
        return None
    transposed_b = kernel.transposed_b
    return plan_panels(kernel.element, kernel.accumulator, depth, columns, facts, transposed_b=transposed_b)


def find_invariant_loop(op: Operation, operand: SSAValue) -> Operation | None:
    """The outermost loop around `op` in which an operand of it does not change."""
    block = block_of(operand)
    found: Operation | None = None
    parent = op.parent_op()
    inside = op
    while parent is not None and inside.parent_block() is not block:
        if isinstance(parent, scf.ForOp | scf.WhileOp):
            found = parent
        inside, parent = parent, parent.parent_op()
    return found if parent is not None else None


def find_constant_arguments(function: func.FuncOp) -> frozenset[SSAValue]:
    """The arguments of a kernel whose arguments do not overlap and whose memory nothing changes while it runs."""
    if NOALIAS not in function.attributes:
        return frozenset()
    if function.sym_visibility is not None and function.sym_visibility.data == "private":
        return frozenset()
    roots = set[SSAValue]()
    for block in function.body.blocks:
        for op in block.ops:
            written = written_memory(op, by_others=False)
            if written is None:
                return frozenset()
            roots.update(map(root_of_memref, written))
    if any(not isinstance(root, BlockArgument) and not _is_own(root) for root in roots):
        return frozenset()
    return frozenset(function.body.blocks[0].args) - roots


def _is_own(root: SSAValue) -> bool:
    return isinstance(root.owner, memref.AllocOp | memref.AllocaOp)
