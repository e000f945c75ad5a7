"""tt.atomic_rmw and tt.atomic_cas.

One thread runs the atomic of an element (of a scalar: the first thread of the program); where others want its result
too, it reaches them through shared memory. A scalar atomic that releases comes after a barrier, so that it publishes
what all threads of the program have written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from tilewright.analysis.scratch import sharing_plan
from tilewright.codegen.nvptx.leaf_atomics import AtomicOrder
from tilewright.dialects import tt
from tilewright.dialects.tt.enums import MemSemantic, MemSyncScope, RMWOp
from tilewright.dialects.types import is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_llvm.access_plan import AccessPlan
from tilewright.lowering.ttg_to_llvm.conversion import exchange
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, FunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.memory_ops import SCALAR_PLAN, access_plan, from_memory, memory_type, to_memory
from tilewright.lowering.ttg_to_llvm.packing import as_integer, from_integer
from tilewright.lowering.ttg_to_llvm.types import ElementType

Atomic = tt.AtomicRMWOp | tt.AtomicCASOp


@lowers(tt.AtomicRMWOp)
def lower_atomic_rmw(op: tt.AtomicRMWOp, fn: FunctionLowering) -> None:
    element, scalar = fn.element(op.val), memory_type(fn.element(op.val))
    kind = RMWOp.of(op.atomic_rmw_op).keyword
    if element.bits < 16 or (element.bits == 16 and not element.is_float and kind != "exch"):
        raise op_error(op, f"has no atomic {kind} on {element.bits} bits: use 32 or 64", pass_name=PASS_NAME)
    width = fn.leaf.atomic_width(kind, scalar)
    plan = _narrowed(access_plan(fn, op.ptr, op.mask, element), width)
    pointers, values = fn.registers(op.ptr), fn.registers(op.val)
    order = _order(op)

    def run(group: Sequence[int], predicate: str | None) -> list[str]:
        old = fn.leaf.atomic_rmw(
            fn.text,
            kind,
            pointers[group[0]],
            scalar,
            element.bits,
            [to_memory(fn, element, values[register]) for register in group],
            order=order,
            predicate=predicate,
            wants_old=bool(op.result.uses),
        )
        return [from_memory(fn, element, value) for value in old]

    _run_all(op, fn, plan, element, op.mask, run)


@lowers(tt.AtomicCASOp)
def lower_atomic_cas(op: tt.AtomicCASOp, fn: FunctionLowering) -> None:
    element = fn.element(op.val)
    if element.bits < 16:
        raise op_error(op, f"has no compare and swap of {element.bits} bits: use 16 or more", pass_name=PASS_NAME)
    plan = _narrowed(access_plan(fn, op.ptr, None, element), 1)
    pointers, compares, values = fn.registers(op.ptr), fn.registers(op.cmp), fn.registers(op.val)
    order = _order(op)

    def run(group: Sequence[int], predicate: str | None) -> list[str]:
        [register] = group
        compare, value = (as_integer(fn.text, element, operands[register]) for operands in (compares, values))
        pointer = pointers[register]
        old = fn.leaf.atomic_cas(fn.text, pointer, element.bits, compare, value, order=order, predicate=predicate)
        return [from_integer(fn.text, element, old)]

    _run_all(op, fn, plan, element, None, run)


def _order(op: Atomic) -> AtomicOrder:
    return AtomicOrder(MemSemantic.of(op.sem).keyword, MemSyncScope.of(op.scope).keyword)


def _narrowed(plan: AccessPlan, width: int) -> AccessPlan:
    """The plan with accesses of at most `width` elements."""
    groups = tuple(group[start : start + width] for group in plan.groups for start in range(0, len(group), width))
    return AccessPlan(groups, plan.sources)


def _run_all(
    op: Atomic,
    fn: FunctionLowering,
    plan: AccessPlan,
    element: ElementType,
    mask: SSAValue | None,
    run: Callable[[Sequence[int], str | None], list[str]],
) -> None:
    """Run the atomic of each group where its mask holds and this thread is the one to do it, and share the results."""
    is_scalar = plan is SCALAR_PLAN or not is_tensor(op.ptr.type)
    owner = fn.first_thread() if is_scalar else fn.owner_predicate(fn.layout(op.ptr))
    if is_scalar and MemSemantic.of(op.sem) in (MemSemantic.RELEASE, MemSemantic.ACQ_REL):
        fn.barrier()
    masks = fn.registers(mask) if mask is not None else None
    old: dict[int, str] = {}
    for group in plan.groups:
        predicate = fn.both(None if masks is None else masks[group[0]], owner)
        old.update(zip(group, run(group, predicate), strict=False))
    if not op.result.uses:
        fn.set_like(op.result, [element.zero] * len(plan.sources))
        return
    registers = [old[source] for source in plan.sources]
    if is_scalar:
        fn.set(op.result, _broadcast_scalar(op, fn, element, registers[0]))
        return
    sharing = sharing_plan(op.result)
    if sharing is not None:
        [registers] = exchange(fn, [sharing], [element], [registers], [fn.shared_pointer(op)])
    fn.set(op.result, registers)


def _broadcast_scalar(op: Atomic, fn: FunctionLowering, element: ElementType, value: str) -> str:
    """What the first thread has, for all."""
    pointer, scalar = fn.shared_pointer(op), memory_type(element)
    stored = to_memory(fn, element, value)
    fn.leaf.store_vector(fn.text, pointer, scalar, element.bits, [stored], space=3, predicate=fn.first_thread())
    fn.barrier()
    return from_memory(fn, element, fn.leaf.load_vector(fn.text, pointer, scalar, element.bits, 1, space=3)[0])
