"""Control flow as every lowering has it; `cf.assert` as a call that records the failure, and a return.

After a failed assertion the program ends at once, the rest of the grid is stopped, and the launch raises
`DeviceAssertionError`. A caller of a function that may fail looks at the launch's stop flag afterwards.
"""

from __future__ import annotations

from tilewright.dialects import cf, ub
from tilewright.ir.locations import describe_location, find_call_sites
from tilewright.lowering import control_flow
from tilewright.lowering.loops_to_llvm.function_lowering import ARENA, CpuFunctionLowering, lowers

ASSERT_FAILED = "tilewright_assert_failed"


def assertion_text(op: cf.AssertOp) -> str:
    """Return what machine code says where an assertion fails: its location, its message, and the calls above it."""
    location, callers = describe_location(op.location), find_call_sites(op.location)
    text = f"{location}: {op.msg.data}" if location else op.msg.data
    return ", called from ".join((text, *map(str, callers)))


@lowers(cf.AssertOp)
def lower_assert(op: cf.AssertOp, low: CpuFunctionLowering) -> None:
    fn = low.fn
    message = fn.module.string(assertion_text(op).encode())
    failed, passed = fn.new_label("failed"), fn.new_label("passed")
    weights = fn.module.metadata('!{!"branch_weights", i32 2000, i32 1}')
    fn.branch_if(low.get(op.operands[0]), passed, failed, metadata=f"!prof {weights}")
    fn.start(failed)
    fn.call("void", ASSERT_FAILED, [("ptr", ARENA), ("ptr", message)])
    fn.branch(low.exit_label())
    fn.start(passed)


@lowers(ub.PoisonOp)
def lower_poison(op: ub.PoisonOp, low: CpuFunctionLowering) -> None:
    """Zero, not poison: lanes that are thrown away must not make anything else undefined."""
    type = low.type_of(op.results[0])
    zero = "zeroinitializer" if type.lanes else ("0.0" if type.scalar.is_float and not type.scalar.format else "0")
    low.set(op.results[0], zero)


for _cls, _rule in control_flow.CONTROL_FLOW.items():
    lowers(_cls)(_rule)
