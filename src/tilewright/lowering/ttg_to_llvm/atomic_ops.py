"""tt.atomic_rmw, tt.atomic_cas, tt.atomic_load, tt.atomic_store and tt.atomic_poll.

One thread runs the atomic of an element (of a scalar: the first thread of the program); where others want its result
too, it reaches them through shared memory. A scalar atomic that releases comes after a barrier, so that it publishes
what all threads of the program have written; so does every write that releases. After a read that acquires a barrier
follows, so that what any thread has acquired is there for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.analysis.scratch import cluster_sharing_plan, sharing_plan
from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.nvptx.atomics import AtomicOrder
from tilewright.dialects import tt
from tilewright.dialects.tt.enums import MemSemantic, MemSyncScope, RMWOp
from tilewright.dialects.types import is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_llvm.access_plan import AccessPlan
from tilewright.lowering.ttg_to_llvm.between_ctas import exchange_between_ctas, load_from_cta
from tilewright.lowering.ttg_to_llvm.conversion import exchange
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.memory_ops import SCALAR_PLAN, access_plan, from_memory, memory_type, to_memory
from tilewright.lowering.ttg_to_llvm.packing import as_integer, from_integer
from tilewright.lowering.ttg_to_llvm.types import ElementType


@lowers(tt.AtomicRMWOp)
def lower_atomic_rmw(op: tt.AtomicRMWOp, fn: GpuFunctionLowering) -> None:
    element, scalar = fn.element(op.val), memory_type(fn.element(op.val))
    kind = RMWOp.of(op.atomic_rmw_op).keyword
    if element.bits < 16 or (element.bits == 16 and not element.is_float and kind != "exch"):
        raise op_error(op, f"has no atomic {kind} on {element.bits} bits: use 32 or 64", pass_name=PASS_NAME)
    width = fn.emitter.atomic_width(kind, scalar)
    plan = _narrowed(access_plan(fn, op.ptr, op.mask, element), width)
    pointers, values = fn.registers(op.ptr), fn.registers(op.val)
    order = _order(op)

    def run(group: Sequence[int], predicate: str | None) -> list[str]:
        old = fn.emitter.atomic_rmw(
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
def lower_atomic_cas(op: tt.AtomicCASOp, fn: GpuFunctionLowering) -> None:
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
        old = fn.emitter.atomic_cas(fn.text, pointer, element.bits, compare, value, order=order, predicate=predicate)
        return [from_integer(fn.text, element, old)]

    _run_all(op, fn, plan, element, None, run)


@lowers(tt.AtomicLoadOp)
def lower_atomic_load(op: tt.AtomicLoadOp, fn: GpuFunctionLowering) -> None:
    element, order = fn.element(op.result), _order(op)
    plan = _narrowed(access_plan(fn, op.ptr, op.mask, element), 1)
    pointers = fn.registers(op.ptr)

    def run(group: Sequence[int], predicate: str | None) -> list[str]:
        loaded = fn.emitter.atomic_load(fn.text, pointers[group[0]], element.bits, order=order, predicate=predicate)
        return [from_integer(fn.text, element, loaded)]

    _run_all(op, fn, plan, element, op.mask, run)
    _wait_for_acquired(op, fn)


@lowers(tt.AtomicStoreOp)
def lower_atomic_store(op: tt.AtomicStoreOp, fn: GpuFunctionLowering) -> None:
    element, order = fn.element(op.value), _order(op)
    plan = _narrowed(access_plan(fn, op.ptr, op.mask, element), 1)
    pointers, values = fn.registers(op.ptr), fn.registers(op.value)
    owner = fn.threads.owner_predicate(fn.layout(op.ptr)) if is_tensor(op.ptr.type) else fn.threads.first_of_program()
    masks = fn.registers(op.mask) if op.mask is not None else None
    if _releases(op):
        fn.program_barrier()
    for [register] in plan.groups:
        predicate = fn.both(None if masks is None else masks[register], owner)
        value = as_integer(fn.text, element, values[register])
        fn.emitter.atomic_store(fn.text, pointers[register], element.bits, value, order=order, predicate=predicate)


@lowers(tt.AtomicPollOp)
def lower_atomic_poll(op: tt.AtomicPollOp, fn: GpuFunctionLowering) -> None:
    element, order = fn.element(op.expected), _order(op)
    plan = _narrowed(access_plan(fn, op.ptr, None, element), 1)
    pointers, expected = fn.registers(op.ptr), fn.registers(op.expected)
    timeout = fn.scalar(op.timeout) if op.timeout is not None else None
    start = fn.emitter.nanoseconds(fn.text) if timeout is not None else None

    def is_late() -> str | None:
        if timeout is None or start is None:
            return None
        passed = fn.text.binary("sub", "i64", fn.emitter.nanoseconds(fn.text), start)
        return fn.text.icmp("uge", "i64", passed, timeout)

    def run(group: Sequence[int], predicate: str | None) -> list[str]:
        [register] = group

        def is_there() -> str:
            pointer = pointers[register]
            found = fn.emitter.atomic_load(fn.text, pointer, element.bits, order=order, predicate=None)
            return fn.text.icmp("eq", f"i{element.bits}", found, expected[register])

        return [_repeated(fn.text, is_there, is_late, predicate)]

    _run_all(op, fn, plan, fn.element(op.result), None, run)
    _wait_for_acquired(op, fn)


def _repeated(
    text: FunctionText, is_there: Callable[[], str], is_late: Callable[[], str | None], predicate: str | None
) -> str:
    """Go around until the one holds or the other; whether the first does. Nothing where the predicate is false."""
    loop, look_again, end, before = (
        text.new_label("poll"),
        text.new_label("again"),
        text.new_label("polled"),
        text.label,
    )
    if predicate is None:
        text.branch(loop)
    else:
        text.branch_if(predicate, loop, end)
    text.start(loop)
    there = is_there()
    looked = text.label
    text.branch_if(there, end, look_again)
    text.start(look_again)
    late = is_late()
    waited = text.label
    if late is None:
        text.branch(loop)
    else:
        text.branch_if(late, end, loop)
    text.start(end)
    result = text.phi("i1")
    result.add("true", looked)
    if late is not None:
        result.add("false", waited)
    if predicate is not None:
        result.add("false", before)
    return result.name


def _wait_for_acquired(op: tt.AtomicLoadOp | tt.AtomicPollOp, fn: GpuFunctionLowering) -> None:
    """A barrier after reads that acquire; where a scalar was shared, one has been there."""
    is_shared = not is_tensor(op.ptr.type) and bool(op.result.uses)
    if MemSemantic.of(op.sem) == MemSemantic.ACQUIRE and not is_shared:
        fn.program_barrier()


def _order(op: tt.Atomic) -> AtomicOrder:
    return AtomicOrder(MemSemantic.of(op.sem).keyword, MemSyncScope.of(op.scope).keyword)


def _narrowed(plan: AccessPlan, width: int) -> AccessPlan:
    """The plan with accesses of at most `width` elements."""
    groups = tuple(group[start : start + width] for group in plan.groups for start in range(0, len(group), width))
    return AccessPlan(groups, plan.sources)


def _run_all(
    op: tt.AtomicRMWOp | tt.AtomicCASOp | tt.AtomicLoadOp | tt.AtomicPollOp,
    fn: GpuFunctionLowering,
    plan: AccessPlan,
    element: ElementType,
    mask: SSAValue | None,
    run: Callable[[Sequence[int], str | None], list[str]],
) -> None:
    """Run the atomic of each group where its mask holds and this thread is the one to do it, and share the results."""
    is_scalar = plan is SCALAR_PLAN or not is_tensor(op.ptr.type)
    owner = fn.threads.first_of_program() if is_scalar else fn.threads.owner_predicate(fn.layout(op.ptr))
    if is_scalar and _releases(op):
        fn.program_barrier()
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
    share_result(fn, op.result, element, registers)


def share_result(fn: GpuFunctionLowering, result: SSAValue, element: ElementType, registers: Sequence[str]) -> None:
    """Bind a tensor of which one thread of those that hold an element has got it, and give it to the others."""
    between_ctas = cluster_sharing_plan(result)
    if between_ctas is not None:
        assert isinstance(result.owner, Operation)
        writer = fn.threads.owner_predicate(fn.layout(result), in_each_cta=True)
        scratch = fn.shared_pointer(result.owner)
        fn.set(result, exchange_between_ctas(fn, between_ctas, element, registers, scratch, writer))
        return
    sharing = sharing_plan(result)
    if sharing is not None:
        assert isinstance(result.owner, Operation)
        [registers] = exchange(fn, [sharing], [element], [registers], [fn.shared_pointer(result.owner)])
    fn.set(result, registers)


def _releases(op: tt.Atomic) -> bool:
    return MemSemantic.of(op.sem) in (MemSemantic.RELEASE, MemSemantic.ACQ_REL)


def _broadcast_scalar(op: tt.Atomic, fn: GpuFunctionLowering, element: ElementType, value: str) -> str:
    """Return what the first thread of the program has, for all."""
    pointer, scalar = fn.shared_pointer(op), memory_type(element)
    stored = to_memory(fn, element, value)
    owner = fn.threads.first_of_program()
    fn.emitter.store_vector(fn.text, pointer, scalar, element.bits, [stored], space=3, predicate=owner)
    fn.program_barrier()
    if fn.module.num_ctas == 1:
        return from_memory(fn, element, fn.emitter.load_vector(fn.text, pointer, scalar, element.bits, 1, space=3)[0])
    [result] = load_from_cta(fn, element, fn.emitter.address_in_cta(fn.text, pointer, "0"), 1)
    fn.program_barrier()
    return result
