"""tt.load and tt.store: wide accesses under masks, see `access_plan`.

A load of a tensor that several threads hold is done by all of them; a store by one thread per element. A masked lane of
a load without `other` gives zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from tilewright.codegen.nvptx.memory import MemoryHints
from tilewright.dialects import tt
from tilewright.dialects.tt.enums import CacheModifier, EvictionPolicy
from tilewright.dialects.tt.types import is_block_pointer
from tilewright.dialects.types import is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_llvm.access_plan import AccessPlan, plan_access
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.packing import as_integer, from_integer
from tilewright.lowering.ttg_to_llvm.types import ElementType

SCALAR_PLAN = AccessPlan(((0,),), (0,))


@lowers(tt.LoadOp)
def lower_load(op: tt.LoadOp, fn: GpuFunctionLowering) -> None:
    _reject_block_pointer(op, op.ptr)
    element = fn.element(op.result)
    plan = access_plan(fn, op.ptr, op.mask, element)
    hints = hints_of(op.cache, op.evict, volatile=bool(op.is_volatile.value.data))
    pointers = fn.registers(op.ptr)
    masks = _masks(fn, op.mask, len(pointers))
    others = fn.registers(op.other) if op.other is not None else None
    memory, loaded = memory_type(element), dict[int, str]()
    for group in plan.groups:
        mask = masks[group[0]]
        if mask == "false":
            values = [others[register] if others is not None else element.zero for register in group]
            loaded.update(zip(group, values, strict=True))
            continue
        given = None if others is None else [to_memory(fn, element, others[register]) for register in group]
        values = fn.emitter.load_vector(
            fn.text,
            pointers[group[0]],
            memory,
            element.bits,
            len(group),
            predicate=mask,
            others=given,
            hints=hints,
        )
        loaded.update((register, from_memory(fn, element, v)) for register, v in zip(group, values, strict=True))
    fn.set_like(op.result, [loaded[source] for source in plan.sources])


@lowers(tt.StoreOp)
def lower_store(op: tt.StoreOp, fn: GpuFunctionLowering) -> None:
    _reject_block_pointer(op, op.ptr)
    element = fn.element(op.value)
    plan = access_plan(fn, op.ptr, op.mask, element)
    pointers, values = fn.registers(op.ptr), fn.registers(op.value)
    masks = _masks(fn, op.mask, len(pointers))
    owner = fn.threads.owner_predicate(fn.layout(op.ptr)) if is_tensor(op.ptr.type) else fn.threads.first()
    guarded: dict[str | None, str | None] = {}
    for group in plan.groups:
        mask = masks[group[0]]
        if mask == "false":
            continue
        if mask not in guarded:
            guarded[mask] = fn.both(mask, owner)
        fn.emitter.store_vector(
            fn.text,
            pointers[group[0]],
            memory_type(element),
            element.bits,
            [to_memory(fn, element, values[register]) for register in group],
            predicate=guarded[mask],
            hints=hints_of(op.cache, op.evict),
        )


def access_plan(fn: GpuFunctionLowering, pointer: SSAValue, mask: SSAValue | None, element: ElementType) -> AccessPlan:
    """Return which registers of a tensor of pointers go together; one access for a scalar."""
    if not is_tensor(pointer.type):
        return SCALAR_PLAN
    axis_info = fn.module.axis_info
    masks = axis_info.of(mask) if mask is not None else None
    return plan_access(fn.layout(pointer), axis_info.of(pointer), masks, element.bits)


def hints_of(cache: Attribute, evict: Attribute, *, volatile: bool = False) -> MemoryHints:
    """The cache operator and eviction priority of an access."""
    modifier, policy = CacheModifier.of(cache), EvictionPolicy.of(evict)
    return MemoryHints(
        "" if modifier is CacheModifier.NONE else modifier.keyword,
        "" if policy is EvictionPolicy.EVICT_NORMAL else policy.keyword,
        volatile,
    )


def memory_type(element: ElementType) -> str:
    """The LLVM type that an element is loaded and stored as: pointers and bools as integers."""
    return f"i{element.bits}" if element.is_pointer or element.text == "i1" else element.text


def to_memory(fn: GpuFunctionLowering, element: ElementType, operand: str) -> str:
    """An element as it is stored."""
    return as_integer(fn.text, element, operand) if memory_type(element) != element.text else operand


def from_memory(fn: GpuFunctionLowering, element: ElementType, operand: str) -> str:
    """An element as it was loaded."""
    if element.text == "i1":
        return fn.text.icmp("ne", "i8", operand, 0)
    return from_integer(fn.text, element, operand) if element.is_pointer else operand


def _masks(fn: GpuFunctionLowering, mask: SSAValue | None, count: int) -> Sequence[str | None]:
    """The predicate of each register; None where there is none."""
    if mask is None:
        return (None,) * count
    return [None if operand == "true" else operand for operand in fn.registers(mask)]


def _reject_block_pointer(op: tt.LoadOp | tt.StoreOp, pointer: SSAValue) -> None:
    if is_block_pointer(pointer.type):
        raise op_error(op, "accesses a block pointer, which must be rewritten before", pass_name=PASS_NAME)
