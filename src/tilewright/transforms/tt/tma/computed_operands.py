"""Operands of matmuls that are computed, in registers, from blocks that are loaded in the same loop."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import scf, tt
from tilewright.dialects.construction import static_values
from tilewright.dialects.types import as_tensor, bit_width, is_tensor
from tilewright.ir.effects import is_memory_free

LEFT, RIGHT = 0, 1
K_OF = (1, 0)
"""The dimension of each operand that is summed over."""


def computed_from(dot: tt.DotOp, index: int) -> dict[tt.LoadOp, int]:
    """The loads of blocks that an operand is computed from, and the dimension of each that is summed over, where
    `wgmma` reads the operand from registers: the left one, and the right one if what is loaded is narrower (the product
    is then that of the transposes).
    """
    value = (dot.a, dot.b)[index]
    found = dict(_loads_of(value, K_OF[index], dot.parent))
    bits = bit_width(as_tensor(value.type).element_type)
    is_widened = any(bit_width(as_tensor(load.result.type).element_type) < bits for load in found)
    return found if index == LEFT or is_widened else {}


def _loads_of(value: SSAValue, dim: int, block: Block | None) -> Iterator[tuple[tt.LoadOp, int]]:
    """The loads of a block that a value is computed from, with the dimension that `dim` is there; not those of
    vectors.
    """
    stack, seen = [(value, dim)], {value}
    while stack:
        value, dim = stack.pop()
        op = value.owner
        if not isinstance(op, Operation) or op.parent is not block or isinstance(op, tt.DotOp):
            continue
        if isinstance(op, tt.LoadOp):
            if len(as_tensor(op.result.type).get_shape()) > 1:
                yield op, dim
            continue
        before = static_values(op.order)[dim] if isinstance(op, tt.TransOp) else dim
        for operand in op.operands:
            if is_tensor(operand.type) and operand not in seen:
                seen.add(operand)
                stack.append((operand, before))


def feeds_products(load: tt.LoadOp | tt.DescriptorLoadOp, loop: scf.ForOp, *, through_branches: bool = False) -> bool:
    """Return whether nothing but the operands of a loop's products is computed from what a load reads: outside of
    branches, or in these, too.
    """
    stack: list[Operation] = [load]
    seen: set[Operation] = set(stack)
    while stack:
        op = stack.pop()
        for use in (use for result in op.results for use in result.uses):
            user = use.operation
            if isinstance(user, tt.DotOp):
                if use.index > RIGHT:
                    return False
                continue
            holder = user.parent_op()
            if through_branches and isinstance(holder, scf.IfOp) and holder.parent is loop.body.block:
                user = holder
            elif user.regions:
                return False
            if user.parent is not loop.body.block or not is_memory_free(user):
                return False
            if not user.results or not all(is_tensor(result.type) for result in user.results):
                return False
            if user not in seen:
                seen.add(user)
                stack.append(user)
    return True
