"""Which memory the ops of a loop touch, told apart by the arguments that their addresses come from.

Loads that run ahead of the loop pass the stores of earlier iterations. That is right where the two never meet. As
everywhere in Triton, different pointer arguments are different memory; the same argument, or an address that came
out of memory, may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects import arith, scf, tt, ttg
from tilewright.ir.effects import may_write
from tilewright.ir.walking import ops_within
from tilewright.transforms.ttg.pipeliner.schedule import body_ops

_VIEWS = (
    tt.AddPtrOp,
    tt.SplatOp,
    tt.BroadcastOp,
    tt.ExpandDimsOp,
    tt.ReshapeOp,
    tt.TransOp,
    tt.BitcastOp,
    ttg.ConvertLayoutOp,
    tt.MakeTensorDescOp,
)

Roots = frozenset[SSAValue] | None
"""The function arguments behind an address; None where it may be any."""


def roots_of(address: SSAValue) -> Roots:
    """The arguments that an address, a tensor of addresses or a descriptor may be based on."""
    found: set[SSAValue] = set()
    seen: set[int] = set()
    stack = [address]
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        sources = _sources(value)
        if sources is None:
            return None
        if not sources:
            found.add(value)
        stack.extend(sources)
    return frozenset(found)


def _sources(value: SSAValue) -> list[SSAValue] | None:
    """The addresses that one was made from: none for an argument of the function, None for an unknown origin."""
    if isinstance(value, BlockArgument):
        return _argument_sources(value, value.owner)
    assert isinstance(value, OpResult)
    op = value.op
    match op:
        case scf.ForOp():
            return [op.iter_args[value.index], op.yielded[value.index]]
        case scf.IfOp():
            return [op.then_yielded[value.index], op.else_yielded[value.index]]
        case arith.SelectOp():
            return list(op.operands[1:])
        case _ if isinstance(op, _VIEWS):
            return [op.operands[0]]
        case _:
            return None


def _argument_sources(value: BlockArgument, block: Block) -> list[SSAValue] | None:
    parent = block.parent_op()
    if isinstance(parent, scf.ForOp) and value.index:
        return [parent.iter_args[value.index - 1], parent.yielded[value.index - 1]]
    return [] if isinstance(parent, tt.FuncOp) and block.prev_block is None else None


def _address_of(op: Operation) -> SSAValue | None:
    """The address that a write goes to; None where an op may write anywhere."""
    match op:
        case tt.StoreOp() | tt.AtomicRMWOp() | tt.AtomicCASOp() | tt.AtomicStoreOp():
            return op.ptr
        case tt.DescriptorStoreOp() | tt.DescriptorReduceOp() | tt.DescriptorScatterOp():
            return op.desc
        case _:
            return None


HARMLESS = (tt.AssertOp, tt.PrintOp, ttg.LocalAllocOp, ttg.LocalStoreOp, ttg.LocalDeallocOp)
"""Ops with effects that leave global memory as it is."""


class WrittenMemory:
    """The memory that a loop writes."""

    def __init__(self, loop: scf.ForOp) -> None:
        self._roots: set[SSAValue] = set()
        self._is_anything = False
        for op in body_ops(loop):
            self._add(op)

    def _add(self, op: Operation) -> None:
        for inner in ops_within(op):
            if inner.regions or not may_write(inner) or isinstance(inner, HARMLESS):
                continue
            address = _address_of(inner)
            roots = None if address is None else roots_of(address)
            if roots is None:
                self._is_anything = True
            else:
                self._roots |= roots

    def may_hold(self, addresses: Iterable[SSAValue]) -> bool:
        """Return whether the loop may write what is read at one of these addresses."""
        if not self._roots and not self._is_anything:
            return False
        for address in addresses:
            roots = roots_of(address)
            if self._is_anything or roots is None or roots & self._roots:
                return True
        return False
