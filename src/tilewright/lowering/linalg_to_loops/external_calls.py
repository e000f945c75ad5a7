"""Calls of functions that a module of the loops stage only declares; the next lowering provides them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, MemRefType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue

from tilewright.codegen.microkernels import Routine
from tilewright.dialects import func, memref
from tilewright.dialects.memref import AtomicRMWKind
from tilewright.dialects.types import as_vector, element_type
from tilewright.lowering.atomic_calls import AtomicCall
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter
from tilewright.lowering.microkernel_attributes import microkernel_attributes

_NONE: Mapping[str, Attribute] = {}


def call_external(
    emitter: LoopEmitter,
    symbol: str,
    operands: Sequence[Index],
    results: Sequence[Attribute] = (),
    attributes: Mapping[str, Attribute] = _NONE,
) -> Operation:
    """`func.call @symbol(...)`, and `func.func private @symbol(...)` with attributes at the end of the module, once."""
    values = [emitter.ssa(operand) for operand in operands]
    function = emitter.entry.parent_op()
    assert function is not None
    declare(function, symbol, FunctionType.from_lists([value.type for value in values], results), attributes)
    return emitter.create(func.CallOp, values, results, {"callee": SymbolRefAttr(symbol)})


def call_microkernel(
    emitter: LoopEmitter, routine: Routine, operands: Sequence[Index], results: Sequence[Attribute] = ()
) -> Operation:
    """A call of a micro-kernel, or of what packs its operands."""
    return call_external(emitter, routine.symbol, operands, results, microkernel_attributes(routine))


def declare(function: Operation, symbol: str, type: FunctionType, attributes: Mapping[str, Attribute] = _NONE) -> None:
    """Declare a function at the end of the module of another, once."""
    module = function.parent_op()
    assert isinstance(module, ModuleOp)
    for op in module.ops:
        if isinstance(op, func.FuncOp) and op.sym_name.data == symbol:
            return
    declaration = func.FuncOp.create(
        properties={
            "sym_name": StringAttr(symbol),
            "function_type": type,
            "sym_visibility": StringAttr("private"),
        },
        attributes=dict(attributes),
        regions=[Region()],
    )
    module.body.block.add_op(declaration)


def call_atomic(
    emitter: LoopEmitter,
    kind: AtomicRMWKind,
    flat: SSAValue,
    index: Index,
    offsets: SSAValue | None,
    mask: SSAValue,
    values: SSAValue,
) -> None:
    """An atomic on all lanes, at ``flat[index + offsets]`` or, without offsets, on neighbours."""
    buffer = MemRefType(element_type(flat.type), [DYNAMIC_INDEX])
    if flat.type != buffer:
        flat = emitter.value(memref.CastOp, (flat,), buffer)
    call = AtomicCall(kind, as_vector(values.type), None if offsets is None else as_vector(offsets.type))
    call_external(emitter, call.symbol, [flat, index, *(() if offsets is None else (offsets,)), mask, values])
