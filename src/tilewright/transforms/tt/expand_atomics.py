"""The pass `triton-expand-atomics`."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, ModuleOp, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import arith, scf, tt, tts
from tilewright.dialects.tt.enums import RMWOp
from tilewright.dialects.tt.types import PointerType, pointer_type
from tilewright.dialects.types import bit_width, element_type, is_float, is_tensor, with_element_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops

NARROW_BITS = 8
"""Floats of this width are exchanged as integers: no other atomic changes them."""


@register_pass
class ExpandAtomicsPass(Pass):
    """Turns atomic reads, writes, and polls into read-modify-writes and loops of them, for targets that have nothing
    else.

    Before:
    ```mlir
    %v = tt.atomic_load acquire, gpu, %p : (!tt.ptr<i32>) -> i32
    tt.atomic_store release, gpu, %p, %v : !tt.ptr<i32>
    %ok = tt.atomic_poll acquire, gpu, %p, %e : !tt.ptr<i32>, i32 -> i1
    ```
    After:
    ```mlir
    %v = tt.atomic_rmw or, acquire, gpu, %p, %c0 : (!tt.ptr<i32>, i32) -> i32
    %old = tt.atomic_rmw exch, release, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
    scf.while : () -> () {
      %found = tt.atomic_rmw or, acquire, gpu, %p, %c0 : (!tt.ptr<i32>, i32) -> i32
      %differs = arith.cmpi ne, %found, %e : i32
      scf.condition(%differs)
    } do {
      scf.yield
    }
    ```
    A poll of a tensor loops until every lane has the value it waits for, and rereads only those that do not; with a
    timeout, it calls `tts.nanoseconds` in each iteration. On x86, LLVM turns `or` with zero into a read.
    """

    name = "triton-expand-atomics"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in find_ops(module, tt.AtomicLoadOp):
            b = OpBuilder.before(op)
            _replace(op, _read(b, op.ptr, op.result.type, op.mask, op))
        for op in find_ops(module, tt.AtomicStoreOp):
            _expand_store(op)
        for op in find_ops(module, tt.AtomicPollOp):
            _replace(op, _poll(op))


def _replace(op: Operation, value: SSAValue) -> None:
    value.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(value)
    op.detach()
    op.erase()


def _integer_like(type: Attribute) -> Attribute:
    return with_element_type(type, IntegerType(bit_width(element_type(type))))


def _as_integers(b: OpBuilder, pointers: SSAValue) -> SSAValue:
    """Pointers to integers of the elements' width."""
    pointer = element_type(pointers.type)
    assert isinstance(pointer, PointerType)
    if isinstance(pointer.pointee_type, IntegerType):
        return pointers
    integers = pointer_type(IntegerType(_storage_bits(pointer.pointee_type)), pointer.address_space.data)
    return b.result(tt.BitcastOp(pointers, with_element_type(pointers.type, integers)))


def _storage_bits(type: Attribute) -> int:
    return 64 if isinstance(type, PointerType) else bit_width(type)


def _constant(b: OpBuilder, value: int, type: Attribute) -> SSAValue:
    made = arith.constant_splat(value, type) if is_tensor(type) else arith.constant_int(value, bit_width(type))
    return b.result(made)


def _read(
    b: OpBuilder,
    pointers: SSAValue,
    type: Attribute,
    mask: SSAValue | None,
    order: tt.AtomicLoadOp | tt.AtomicPollOp,
) -> SSAValue:
    """The elements at pointers, zero where the mask is off."""
    integers = _integer_like(type)
    zero = _constant(b, 0, integers)
    read = tt.AtomicRMWOp(
        _as_integers(b, pointers),
        zero,
        mask,
        atomic_rmw_op=RMWOp.OR,
        sem=order.sem.value.data,
        scope=order.scope.value.data,
    )
    value = b.result(read)
    return value if integers == type else b.result(tt.BitcastOp(value, type))


def _expand_store(op: tt.AtomicStoreOp) -> None:
    b = OpBuilder.before(op)
    pointers, value = op.ptr, op.value
    element = element_type(value.type)
    if is_float(element) and bit_width(element) == NARROW_BITS:
        pointers = _as_integers(b, pointers)
        value = b.result(tt.BitcastOp(value, _integer_like(value.type)))
    exchange = tt.AtomicRMWOp(
        pointers, value, op.mask, atomic_rmw_op=RMWOp.XCHG, sem=op.sem.value.data, scope=op.scope.value.data
    )
    b.insert(exchange)
    op.detach()
    op.erase()


def _poll(op: tt.AtomicPollOp) -> SSAValue:
    """The loop; it carries, for each lane, whether what it waits for has been seen."""
    b = OpBuilder.before(op)
    start = b.result(tts.NanosecondsOp()) if op.timeout is not None else None
    bools = op.result.type
    missing = _constant(b, 1, bools)
    before, after = Block(arg_types=[bools]), Block(arg_types=[bools])
    with b.at(before):
        waiting = before.args[0]
        mask = waiting if is_tensor(bools) else None
        found = _read(b, op.ptr, op.expected.type, mask, op)
        differs = b.result(arith.CmpiOp(found, op.expected, "ne"))
        still = b.result(arith.AndIOp(waiting, differs))
        goes_on = _any(b, still)
        if start is not None:
            assert op.timeout is not None
            passed = b.result(arith.SubiOp(b.result(tts.NanosecondsOp()), start))
            in_time = b.result(arith.CmpiOp(passed, op.timeout, "ult"))
            goes_on = b.result(arith.AndIOp(goes_on, in_time))
        b.insert(scf.ConditionOp(goes_on, still))
    with b.at(after):
        b.insert(scf.YieldOp(after.args[0]))
    loop = b.insert(scf.WhileOp([missing], [bools], Region(before), Region(after)))
    return b.result(arith.XOrIOp(loop.results[0], _constant(b, 1, bools)))


def _any(b: OpBuilder, bits: SSAValue) -> SSAValue:
    """Is any lane of a tensor of i1 on?"""
    while is_tensor(bits.type):
        body = Block(arg_types=[i1, i1])
        reduce = tt.ReduceOp([bits], 0, Region(body))
        with b.at(body):
            either = b.result(arith.OrIOp(*body.args))
            b.insert(tt.ReduceReturnOp([either]))
        bits = b.result(reduce)
    return bits
