"""memref.atomic_rmw and memref.generic_atomic_rmw.

Floats take the lock of their region of memory, but for those at system scope (see `lowering.guarded_atomics`). Of the
others, what the CPU (or LLVM by a compare-and-swap loop) does is `atomicrmw`; products, soft floats and arbitrary
bodies are compare-and-swap loops written here. All are acquire and release.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Attribute

from tilewright.dialects import memref
from tilewright.lowering.guarded_atomics import is_guarded
from tilewright.lowering.loops_to_llvm.addressing import element_address
from tilewright.lowering.loops_to_llvm.arith_ops import emit_float_minmax
from tilewright.lowering.loops_to_llvm.conversions import from_compute, widen
from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering, lowers
from tilewright.lowering.loops_to_llvm.guarded_atomics import emit_guarded, emit_sharing
from tilewright.lowering.loops_to_llvm.types import F32

_NATIVE: dict[str, str] = {
    "addi": "add",
    "andi": "and",
    "ori": "or",
    "xori": "xor",
    "assign": "xchg",
    "maxs": "max",
    "maxu": "umax",
    "mins": "min",
    "minu": "umin",
    "addf": "fadd",
    "maxnumf": "fmax",
    "minnumf": "fmin",
}
_FLOAT_STEPS = {"addf": "fadd", "mulf": "fmul"}


@lowers(memref.AtomicRMWOp)
def lower_atomic_rmw(op: memref.AtomicRMWOp, low: CpuFunctionLowering) -> None:
    kind = op.combination.name.lower()
    operand = low.get(op.operands[0])
    type = low.type_of(op.operands[0])
    address = element_address(low, op.operands[1], low.memref(op.operands[1]), op.operands[2:])
    if type.scalar.text == "i1":
        low.fail(op, "on i1: atomics need at least a byte")

    def step(current: str) -> str:
        return operand if kind == "assign" else _combine(low, kind, current, operand, op.operands[0].type)

    if is_guarded(op):
        low.set(op.results[0], emit_guarded(low, type, address, step))
        return
    emit_sharing(low)
    if kind in _NATIVE and (not type.scalar.is_soft_float or kind == "assign"):
        instruction = (
            f"atomicrmw {_NATIVE[kind]} ptr {address}, {type.text} {operand} acq_rel, align {type.scalar.bytes}"
        )
        low.set(op.results[0], low.fn.value(instruction))
        return
    low.set(op.results[0], emit_compare_and_swap_loop(low, op.results[0].type, address, step))


def _combine(low: CpuFunctionLowering, kind: str, current: str, operand: str, type: Attribute) -> str:
    value = low.module.types.value(type)
    b = low.lanes(value)
    if kind == "muli":
        return b.mul(current, operand, value.scalar.text)
    scalar = F32 if value.scalar.is_soft_float else value.scalar
    x, y = widen(b, current, value.scalar), widen(b, operand, value.scalar)
    if kind in _FLOAT_STEPS:
        return from_compute(b, b.binary(_FLOAT_STEPS[kind], x, y, scalar.text), value.scalar)
    return from_compute(b, emit_float_minmax(b, kind, x, y, scalar), value.scalar)


@lowers(memref.GenericAtomicRMWOp)
def lower_generic_atomic_rmw(op: memref.GenericAtomicRMWOp, low: CpuFunctionLowering) -> None:
    address = element_address(low, op.operands[0], low.memref(op.operands[0]), op.operands[1:])
    block = op.regions[0].block

    def step(current: str) -> str:
        low.set(block.args[0], current)
        return low.get(low.lower_region(op.regions[0])[0])

    if is_guarded(op):
        low.set(op.results[0], emit_guarded(low, low.type_of(op.results[0]), address, step))
        return
    emit_sharing(low)
    low.set(op.results[0], emit_compare_and_swap_loop(low, op.results[0].type, address, step))


def emit_compare_and_swap_loop(
    low: CpuFunctionLowering, type: Attribute, address: str, step: Callable[[str], str]
) -> str:
    """Replace the element by ``step(element)`` indivisibly; returns what it was before."""
    fn = low.fn
    value = low.module.types.value(type)
    text, size = value.scalar.text, value.scalar.bytes
    bits = f"i{8 * size}"
    first = fn.load_atomic(bits, address, align=size)
    before, again, done = fn.label, fn.new_label("swap"), fn.new_label("swapped")
    fn.branch(again)
    fn.start(again)
    seen = fn.phi(bits)
    seen.add(first, before)
    current = seen.name if text == bits else fn.cast("bitcast", bits, seen.name, text)
    updated = step(current)
    updated_bits = updated if text == bits else fn.cast("bitcast", text, updated, bits)
    pair = fn.value(f"cmpxchg ptr {address}, {bits} {seen.name}, {bits} {updated_bits} acq_rel monotonic, align {size}")
    found = fn.extract_value(f"{{ {bits}, i1 }}", pair, 0, bits)
    swapped = fn.extract_value(f"{{ {bits}, i1 }}", pair, 1, "i1")
    seen.add(found, fn.label)
    fn.branch_if(swapped, done, again)
    fn.start(done)
    return current


@lowers(memref.AtomicYieldOp)
def lower_atomic_yield(op: memref.AtomicYieldOp, low: CpuFunctionLowering) -> None:
    """The op around it reads the operand."""
