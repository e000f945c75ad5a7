"""Calls of atomics on lanes (`lowering.atomic_calls`) become calls of functions that are written here.

Alone, neighbours are updated where they are:

```mlir
func.call @tw_atomic_addi_16xi32_row(%x, %i, %mask, %values)
```
```llvm
%alone = icmp eq i32 %mode, 2
br i1 %alone, label %here, label %there     ; here: load, add, store <16 x i32>; there: a call
```
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.codegen.llvm_text import FunctionText, global_name
from tilewright.dialects import func
from tilewright.lowering.atomic_calls import ATOMIC_PREFIX, END_ATOMICS, AtomicCall, find_atomic_call
from tilewright.lowering.loops_to_llvm.addressing import element_address
from tilewright.lowering.loops_to_llvm.function_lowering import ARENA, CpuFunctionLowering
from tilewright.lowering.loops_to_llvm.guarded_atomics import HOLD, RELEASE, FloatLanes
from tilewright.lowering.loops_to_llvm.lane_atomics import ALONE, ENTER, IntegerLanes, LaneFunction, emit_mode
from tilewright.lowering.loops_to_llvm.lane_values import LANE_KINDS, Lanes
from tilewright.lowering.loops_to_llvm.mask_bits import for_scalar_use


def lower_atomic_call(low: CpuFunctionLowering, op: func.CallOp) -> bool:
    """Lower a call that `lowering.atomic_calls` describes; False for others."""
    symbol = op.callee.string_value()
    if symbol == END_ATOMICS:
        # One call; it sees by itself whether there is something to give back.
        low.module.needs.externals.add(RELEASE)
        low.fn.call("void", RELEASE, [("ptr", ARENA)])
        return True
    if not symbol.startswith(ATOMIC_PREFIX):
        return False
    call = find_atomic_call(symbol, tuple(operand.type for operand in op.operands))
    if call is None or call.kind not in LANE_KINDS:
        low.fail(op, f"calls '{symbol}', which no atomic on lanes of such types is called")
        return True
    _lower_lanes(low, op, call)
    return True


def _lower_lanes(low: CpuFunctionLowering, op: func.CallOp, call: AtomicCall) -> None:
    fn, type = low.fn, low.module.types.value(call.values)
    flat, index, *offsets, mask, values = op.operands
    base = element_address(low, flat, low.memref(flat), [index])
    mask = for_scalar_use(low, low.get(mask), type.lanes)
    bits = fn.cast("bitcast", type.of("i1"), mask, f"i{type.lanes}")
    lanes = Lanes(fn, call.kind, type, low.get(values), bits, mask)
    low.module.needs.externals.update((ENTER, *((HOLD, RELEASE) if type.scalar.is_float else ())))
    name = f"tw.{call.symbol.removeprefix('tw_')}"
    fn.module.define_once(name, lambda: _function(low, name, lanes, offsets[0] if offsets else None).text())
    operands = [("ptr", base), (type.text, lanes.values), (f"i{type.lanes}", bits), ("ptr", ARENA)]
    if not offsets:
        end, there = fn.new_label("updated"), fn.new_label("there")
        _update_here_if_alone(fn, lanes, base, end, there)
        fn.start(there)
        fn.emit(_call(name, operands))
        fn.branch(end)
        fn.start(end)
        return
    operands.insert(1, (low.type_of(offsets[0]).text, low.get(offsets[0])))
    fn.emit(_call(name, operands))


def _function(low: CpuFunctionLowering, name: str, lanes: Lanes, offsets: SSAValue | None) -> LaneFunction:
    offset = None if offsets is None else low.type_of(offsets).scalar
    written = FloatLanes if lanes.type.scalar.is_float else IntegerLanes
    return written(low.module.text, name, lanes, offset)


def _update_here_if_alone(fn: FunctionText, lanes: Lanes, base: str, end: str, otherwise: str) -> None:
    here = fn.new_label("here")
    fn.branch_if(fn.icmp("eq", "i32", emit_mode(fn), ALONE), here, otherwise)
    fn.start(here)
    lanes.update_together(base, end)


def _call(name: str, operands: list[tuple[str, str]]) -> str:
    return f"call void {global_name(name)}({', '.join(f'{type} {operand}' for type, operand in operands)})"
