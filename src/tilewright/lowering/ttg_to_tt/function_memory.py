"""Memory that a function has for itself, at the start of its entry block."""

from __future__ import annotations

from xdsl.dialects.builtin import LocationAttr, UnitAttr, UnrealizedConversionCastOp
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import memref, tt
from tilewright.dialects.attributes import OF_BARRIER
from tilewright.dialects.tt.types import pointer_type
from tilewright.ir.builder import OpBuilder
from tilewright.lowering.tensor_builder import memref_of, unranked_memref_of

PASS = "gluon-drop-layouts"
ALIGNMENT = 64
"""Buffers start at cache lines, and at multiples of the widest vector."""


def function_of(op: Operation) -> tt.FuncOp:
    """Return the function that an op is in."""
    above = op.parent_op()
    while not isinstance(above, tt.FuncOp):
        assert above is not None
        above = above.parent_op()
    return above


def assert_of_barrier(holds: SSAValue, message: str, b: OpBuilder) -> None:
    """Assert what a program that uses its mbarriers rightly fulfils."""
    b.insert(tt.AssertOp(holds, message)).attributes[OF_BARRIER] = UnitAttr()


def allocate(function: tt.FuncOp, element: Attribute, count: int, location: LocationAttr) -> SSAValue:
    """Return a pointer to so many elements."""
    start = OpBuilder.at_start(function.body.blocks[0], location)
    memory = start.result(memref.AllocaOp((), (), memref_of(element, count), alignment=ALIGNMENT))
    whole = start.result(memref.CastOp(memory, unranked_memref_of(element)))
    cast = UnrealizedConversionCastOp.create(operands=[whole], result_types=[pointer_type(element)])
    return start.result(cast)
