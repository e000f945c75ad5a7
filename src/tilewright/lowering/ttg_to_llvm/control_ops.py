"""Control flow as every lowering has it. A tensor that a loop carries is one phi per register."""

from __future__ import annotations

from tilewright.dialects import tt, ub
from tilewright.lowering.control_flow import CONTROL_FLOW, lower_region_end
from tilewright.lowering.ttg_to_llvm.carried_values import flat_types
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers

for _class, _rule in CONTROL_FLOW.items():
    lowers(_class)(_rule)

lowers(tt.ReduceReturnOp, tt.ScanReturnOp, tt.MapElementwiseReturnOp)(lower_region_end)


@lowers(ub.PoisonOp)
def lower_poison(op: ub.PoisonOp, fn: GpuFunctionLowering) -> None:
    """Zero, not poison: lanes that are thrown away must not make anything else undefined."""
    type = op.results[0].type
    fn.set(op.results[0], fn.unflatten(type, iter([_zero(text) for text in flat_types(type)])))


def _zero(text: str) -> str:
    return "null" if text.startswith("ptr") else ("0" if text.startswith("i") else "zeroinitializer")
