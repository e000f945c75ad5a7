"""Atomics on a base with computed offsets, lane by lane, yielding what was there before.

```mlir
%old = "tts.atomic_rmw"(%base, %off, %v, %m) <{atomic_rmw_op = 5 : i32, ...}> : (...) -> tensor<64xf32>
// becomes, in the body of a linalg.generic (or in place, for scalars)
%r = scf.if %live -> (f32) {
  %p = memref.reinterpret_cast %mem to offset: [%i], sizes: [1], strides: [1] : ...
  %o = memref.atomic_rmw addf %v, %p[%c0] : (f32, memref<1xf32, strided<[1], offset: ?>>) -> f32
  scf.yield %o : f32
} else {
  scf.yield %zero : f32
}
```
Compare-and-swap is a `memref.generic_atomic_rmw` that stores the new value where the bits are as expected, else what
it found. Every access is at least as strongly ordered as ``sem`` asks: memref atomics are acquire-release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import FixedBitwidthType, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import arith, memref
from tilewright.dialects.tt.enums import MemSyncScope, RMWOp
from tilewright.dialects.tts.atomics import AtomicCASOp, AtomicRMWOp
from tilewright.dialects.types import is_tensor
from tilewright.lowering.guarded_atomics import mark_system_scope
from tilewright.lowering.memory_builder import MemoryBuilder, NotAddressable
from tilewright.lowering.tensor_builder import TensorBuilder, element_of
from tilewright.lowering.unstructured_to_memref.accesses import LOWERINGS, element_index

_INTEGER_KINDS = {
    RMWOp.AND: "andi",
    RMWOp.OR: "ori",
    RMWOp.XOR: "xori",
    RMWOp.ADD: "addi",
    RMWOp.MAX: "maxs",
    RMWOp.MIN: "mins",
    RMWOp.UMAX: "maxu",
    RMWOp.UMIN: "minu",
    RMWOp.XCHG: "assign",
}
_FLOAT_KINDS = {RMWOp.FADD: "addf", RMWOp.MAX: "maximumf", RMWOp.MIN: "minimumf", RMWOp.XCHG: "assign"}


@LOWERINGS.lowers(AtomicRMWOp)
def lower_atomic_rmw(op: AtomicRMWOp, memory: MemoryBuilder) -> Sequence[SSAValue]:
    """``memref.atomic_rmw`` for each live lane; a dead lane touches nothing and yields zero."""
    b = memory.ops
    element = element_of(op.value)
    wanted = RMWOp.of(op.atomic_rmw_op)
    kind = (_INTEGER_KINDS if isinstance(element, IntegerType) else _FLOAT_KINDS).get(wanted)
    if kind is None:
        raise NotAddressable(f"atomic {wanted.name.lower()} of {element}")
    base, start = memory.resolve(op.base, as_declared=True)

    def access(offset: SSAValue, value: SSAValue) -> SSAValue:
        view = memory.element(base, element_index(b, start, offset))
        return _scoped(b.insert(memref.AtomicRMWOp(value, view, [b.index(0)], kind)), op).results[0]

    return _by_lane(b, op.result, [op.offset, op.value], op.mask, access)


@LOWERINGS.lowers(AtomicCASOp)
def lower_atomic_cas(op: AtomicCASOp, memory: MemoryBuilder) -> Sequence[SSAValue]:
    """``memref.generic_atomic_rmw`` for each lane."""
    b = memory.ops
    base, start = memory.resolve(op.base, as_declared=True)
    element = element_of(op.value)

    def access(offset: SSAValue, expected: SSAValue, value: SSAValue) -> SSAValue:
        view = memory.element(base, element_index(b, start, offset))
        block = Block(arg_types=[element])

        def body(args: Sequence[SSAValue]) -> Sequence[SSAValue]:
            same = b.cmpi("eq", _bits(b, args[0], element), _bits(b, expected, element))
            b.insert(memref.AtomicYieldOp(b.select(same, value, args[0])))
            return ()

        zero = b.index(0)
        b.inline(block, body)
        return _scoped(b.insert(memref.GenericAtomicRMWOp(view, [zero], Region(block))), op).results[0]

    return _by_lane(b, op.result, [op.offset, op.cmp, op.value], None, access)


def _scoped(atomic: Operation, op: AtomicRMWOp | AtomicCASOp) -> Operation:
    """The atomic, marked where its scope is the system."""
    if op.scope.value.data == MemSyncScope.SYS:
        mark_system_scope(atomic)
    return atomic


def _bits(b: TensorBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """The value as an integer of its width."""
    if isinstance(element, IntegerType):
        return value
    assert isinstance(element, FixedBitwidthType)
    return b.cast(arith.BitcastOp, value, IntegerType(element.bitwidth))


def _by_lane(
    b: TensorBuilder,
    result: SSAValue,
    operands: Sequence[SSAValue],
    mask: SSAValue | None,
    access: Callable[..., SSAValue],
) -> Sequence[SSAValue]:
    """An access for each live lane: in place for scalars, in a `linalg.generic` for tensors (without results where
    nothing reads them)."""
    element = element_of(result)
    zero = b.zero(element) if mask is not None and result.uses else None

    def lane(values: Sequence[SSAValue]) -> SSAValue | None:
        if mask is None:
            return access(*values)
        live, values = values[-1], values[:-1]
        if zero is None:
            b.if_else(live, (), lambda: (access(*values), ())[1])
            return None
        dead: tuple[SSAValue] = (zero,)
        (value,) = b.if_else(live, [element], lambda: (access(*values),), lambda: dead).results
        return value

    inputs = [*operands, *([mask] if mask is not None else [])]
    if not is_tensor(result.type):
        value = lane(inputs)
        return (b.zero(element) if value is None else value,)
    if not result.uses:
        b.for_each_lane(inputs, lambda values: (lane(values), None)[1])
        return ()

    def value_of_lane(values: Sequence[SSAValue]) -> SSAValue:
        value = lane(values)
        assert value is not None, "the result is used"
        return value

    return b.lanes(inputs, result.type, value_of_lane)
