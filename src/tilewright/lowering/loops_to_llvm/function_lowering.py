"""The state of lowering one function: values so far, the LLVM function under construction, the op table.

A rule is a function of an op and this state, registered for the classes that it lowers. It reads operands with
`low.get` (or `low.memref`), appends instructions to `low.fn`, and binds results with `low.set`:

```python
@lowers(arith.CmpiOp)
def lower_cmpi(op: arith.CmpiOp, low: CpuFunctionLowering) -> None:
    type, predicate = low.type_of(op.lhs), arith.CMPI_KEYWORDS[op.predicate.value.data]
    low.set(op.result, low.fn.icmp(predicate, type.text, low.get(op.lhs), low.get(op.rhs)))
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.codegen.instructions import result_struct
from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.located_text import LocatedFunctionText
from tilewright.dialects import func, scf
from tilewright.dialects.attributes import OVER_LANES
from tilewright.ir.diagnostics import op_error
from tilewright.ir.lowerings import Lowerings
from tilewright.lowering.control_flow import ControlFlowLowering
from tilewright.lowering.loops_to_llvm.arena import FramePlan, Slot
from tilewright.lowering.loops_to_llvm.gather_to_permute import LaneOffsets
from tilewright.lowering.loops_to_llvm.interruption import DECLARATION as LOOK_DECLARATION
from tilewright.lowering.loops_to_llvm.interruption import FIRST_ROUNDS, LOOK, RuntimeNotes
from tilewright.lowering.loops_to_llvm.interruption import STATE_BYTES as LOOK_BYTES
from tilewright.lowering.loops_to_llvm.memref_value import (
    Index,
    IndexMath,
    MemrefValue,
    as_index,
    flat_types,
    flatten,
    unflatten,
)
from tilewright.lowering.loops_to_llvm.module_lowering import CpuModuleLowering
from tilewright.lowering.loops_to_llvm.nan_free import NanFree
from tilewright.lowering.loops_to_llvm.never_signalling import NeverSignalling
from tilewright.lowering.loops_to_llvm.shared_values import SharedValues
from tilewright.lowering.loops_to_llvm.types import (
    ScalarType,
    ValueType,
    is_memref,
)
from tilewright.lowering.loops_to_llvm.uniform_division import UniformDivisor
from tilewright.lowering.loops_to_llvm.waiting import END_WAIT, STATE_BYTES, WAIT
from tilewright.lowering.unsupported import UnsupportedError
from tilewright.support.errors import TilewrightError

PASS_NAME = "loops-to-llvm"

ARENA, FRAME = "%arena", "%frame"
"""Hidden last parameters of every function: the thread's arena, and this call's part of it."""

LEAVE_ALONE = "tilewright_leave_alone"
"""What the runtime is asked for where a program may wait (see `targets/cpu/native/regions.ll`)."""


MOST_REDUCED_USES = 16
"""Uses of a loop's counter that LLVM's loop strength reduction is shown. It weighs ways to compute each against all
others: of loops with 20 addresses and bounds it takes half the time of all LLVM, and makes the code larger."""


class CpuFunctionLowering(ControlFlowLowering[FunctionText]):
    """Lowers the body of one function into `fn`."""

    def __init__(self, module: CpuModuleLowering, fn: FunctionText, frame: FramePlan, results: Sequence[str]) -> None:
        super().__init__(fn)
        self.module = module
        self.fn = fn
        self.frame = frame
        self.math = IndexMath(fn)
        self.results = tuple(results)
        """LLVM types of what the function returns."""
        self.values: dict[SSAValue, str] = {}
        self.memrefs: dict[SSAValue, MemrefValue] = {}
        self.nan_free = NanFree()
        self.quiet = NeverSignalling(module.known.routines)
        self.divisors: dict[SSAValue, UniformDivisor] = {}
        """Vectors that are one number in all lanes and that others are divided by."""
        self.lane_offsets: dict[tuple[Block | None, SSAValue, str], LaneOffsets] = {}
        """What a block has found out about lanes, by their offsets and a mask."""
        self._notes = RuntimeNotes()
        self._exit_label = ""
        self.frame_address = FRAME
        """Or a copy of it, which later blocks read."""
        self.coroutine_notes: dict[Operation, str] = {}
        """Where the handles of the coroutines are that calls start (see `coroutines.py`)."""

    def begin(self) -> None:
        """Write what comes before the body: nothing."""

    # ------------------------------------------------------------------------------------------------ values, types

    def get(self, value: SSAValue) -> str:
        """The register or literal of a scalar or vector value."""
        return self.values[value]

    def set(self, value: SSAValue, operand: str) -> None:
        """Bind a scalar or vector value."""
        self.values[value] = operand

    def memref(self, value: SSAValue) -> MemrefValue:
        """The parts of a memref value."""
        return self.memrefs[value]

    def index(self, value: SSAValue) -> Index:
        """An index value, as a Python int where it is a literal."""
        return as_index(self.values[value])

    def type_of(self, value: SSAValue) -> ValueType:
        """The LLVM form of a scalar or vector value's type."""
        return self.module.types.value(value.type)

    def scalar_type(self, type: Attribute) -> ScalarType:
        """The LLVM form of an element type."""
        return self.module.types.scalar(type)

    def lanes(self, type: ValueType) -> LaneBuilder:
        """A builder over as many lanes as `type` has."""
        return LaneBuilder(self.fn, type.lanes)

    # ------------------------------------------------------------------------------------- values that are carried

    def flat(self, value: SSAValue) -> list[tuple[str, str]]:
        """The (type, operand) pairs that carry a value: one for a scalar or vector, several for a memref."""
        if is_memref(value.type):
            return flatten(value.type, self.memrefs[value])
        return [(self.type_of(value).text, self.values[value])]

    def flat_types(self, type: Attribute) -> list[str]:
        """The LLVM types that carry a value of an MLIR type."""
        return flat_types(type) if is_memref(type) else [self.module.types.value(type).text]

    def bind_flat(self, values: Iterable[SSAValue], operands: Iterator[str]) -> None:
        """Bind values to operands in the order of `flat_all`."""
        for value in values:
            if is_memref(value.type):
                self.memrefs[value] = unflatten(value.type, operands)
            else:
                self.values[value] = next(operands)

    # --------------------------------------------------------------------------------------------------------- ops

    def lower_block(self, block: Block) -> None:
        """Lower all ops of a block in order."""
        shared = SharedValues(block)
        for op in block.ops:
            rule = RULES.get(type(op))
            if rule is None:
                raise op_error(op, "is not allowed at the loops stage", pass_name=PASS_NAME)
            self.locate(op)
            if isinstance(op, (scf.ForOp, func.CallOp)):
                shared.renew_before(op, self)
            try:
                rule(op, self)
            except UnsupportedError as error:
                raise op_error(op, str(error), pass_name=PASS_NAME) from error
            except TilewrightError:
                raise
            except Exception as error:
                reason = f"internal error: {type(error).__name__}: {error}"
                raise op_error(op, reason, pass_name=PASS_NAME, internal=True) from error

    def locate(self, op: Operation) -> None:
        """Give the instructions that follow the location of an op in the source."""
        if isinstance(self.fn, LocatedFunctionText):
            self.fn.debug_suffix = self.module.debug.suffix(op, self.fn.name)

    def fail(self, op: Operation, reason: str) -> None:
        """Stop with an error about `op`."""
        raise op_error(op, reason, pass_name=PASS_NAME)

    # ------------------------------------------------------------------------------------------------------- memory

    def slot_address(self, slot: Slot) -> str:
        """The address of an alloca: a stack slot, or an offset in this function's part of the arena."""
        if slot.on_stack:
            return self.fn.alloca(f"[{slot.bytes} x i8]", align=slot.alignment)
        if slot.offset == 0:
            return self.frame_address
        return self.fn.address("i8", self.frame_address, slot.offset)

    def callee_frame(self) -> str:
        """Return where the frame of a called function starts."""
        size = self.frame.frame_bytes
        return self.fn.address("i8", self.frame_address, size) if size else self.frame_address

    def counter_in(self, op: scf.ForOp, counter: str) -> str:
        """Of a loop that uses its counter often, a copy that strength reduction does not see through."""
        if op.body.block.args[0].uses.get_length() <= MOST_REDUCED_USES:
            return counter
        type = self.type_of(op.body.block.args[0]).text
        return self.fn.opaque(type, counter)

    # ------------------------------------------------------------------------------------------------------ waiting

    def enter_while(self, op: scf.WhileOp) -> None:
        """The runtime has no notes yet on a loop that waits."""
        if op in self.module.known.waiting_loops:
            self.module.needs.externals.update((WAIT, END_WAIT))
            self._notes.waits[op] = state = self.fn.alloca(f"[{STATE_BYTES} x i8]", align=8)
            self.fn.store(f"[{STATE_BYTES} x i8]", "zeroinitializer", state)
        self._start_counting(op)

    def enter_for(self, op: scf.ForOp) -> None:
        """No rounds are counted yet."""
        self._start_counting(op)

    def enter_round_of_for(self, op: scf.ForOp) -> None:
        """The grid may be stopped."""
        self._count_round(op)

    def enter_round(self, op: scf.WhileOp) -> None:
        """Others may have their atomics while this program waits for them, and the grid may be stopped."""
        state = self._notes.waits.get(op)
        if state is not None:
            self.leave_if(self.fn.call("i1", WAIT, [("ptr", ARENA), ("ptr", state)]))
        elif self.module.known.has_atomics and OVER_LANES not in op.attributes:
            self.module.needs.externals.add(LEAVE_ALONE)
            self.fn.call("void", LEAVE_ALONE, [("ptr", ARENA)])
        self._count_round(op)

    def leave_while(self, op: scf.WhileOp) -> None:
        """The program waits no longer."""
        state = self._notes.waits.get(op)
        if state is not None:
            self.fn.call("void", END_WAIT, [("ptr", ARENA), ("ptr", state)])

    def _start_counting(self, op: Operation) -> None:
        if op not in self.module.known.long_loops:
            return
        rounds, state = self.fn.alloca("i32"), self.fn.alloca(f"[{LOOK_BYTES} x i8]", align=8)
        self._notes.rounds[op] = rounds, state
        self.fn.store("i32", FIRST_ROUNDS, rounds)
        self.fn.store(f"[{LOOK_BYTES} x i8]", "zeroinitializer", state)

    def _count_round(self, op: Operation) -> None:
        if op not in self._notes.rounds:
            return
        rounds, state = self._notes.rounds[op]
        fn = self.fn
        left = fn.binary("sub", "i32", fn.load("i32", rounds), 1)
        fn.store("i32", left, rounds)
        look, go_on = fn.new_label("look"), fn.new_label("go")
        fn.branch_if(fn.icmp("eq", "i32", left, 0), look, go_on)
        fn.start(look)
        fn.declare(LOOK_DECLARATION)
        self.module.needs.externals.add(LOOK)
        further = fn.call("i32", LOOK, [("ptr", ARENA), ("ptr", state)])
        fn.store("i32", further, rounds)
        fn.branch_if(fn.icmp("eq", "i32", further, 0), self.exit_label(), go_on)
        fn.start(go_on)

    # ------------------------------------------------------------------------------------------------ leaving early

    def leave_if(self, condition: str) -> None:
        """Return from the function at once when `condition` (an i1) holds."""
        go_on = self.fn.new_label("go")
        self.fn.branch_if(condition, self.exit_label(), go_on)
        self.fn.start(go_on)

    def split_block(self, frame: str) -> None:
        """Begin a new block that LLVM does not merge with the one before: as if the function could end here. `frame` is
        a copy of the frame's address.
        """
        self.frame_address = frame
        self.leave_if(self.fn.icmp("eq", "ptr", frame, "null"))

    def exit_label(self) -> str:
        """The block that returns zeros: where a stopped program goes."""
        if not self._exit_label:
            self._exit_label = self.fn.new_label("stopped")
        return self._exit_label

    def finish(self) -> None:
        """Write the block that `exit_label` names, if anybody asked for it."""
        if self._exit_label:
            self.fn.start(self._exit_label)
            self._destroy_coroutines()
            self.emit_return([(type, "zeroinitializer") for type in self.results])

    def _destroy_coroutines(self) -> None:
        """Destroy what the function started and has not destroyed yet."""
        fn = self.fn
        for note in self.coroutine_notes.values():
            handle = fn.load("ptr", note)
            destroy, go_on = fn.new_label("destroy"), fn.new_label("go")
            fn.branch_if(fn.icmp("eq", "ptr", handle, "null"), go_on, destroy)
            fn.start(destroy)
            fn.call("void", "llvm.coro.destroy", [("ptr", handle)])
            fn.branch(go_on)
            fn.start(go_on)

    def emit_return(self, values: Sequence[tuple[str, str]]) -> None:
        """Return nothing, one value, or a structure of several."""
        if not values:
            self.fn.ret()
            return
        if len(values) == 1:
            type, operand = values[0]
            self.fn.ret(type, operand)
            return
        struct = result_struct(self.results)
        whole = "poison"
        for position, (type, operand) in enumerate(values):
            whole = self.fn.insert_value(struct, whole, type, operand, position)
        self.fn.ret(struct, whole)


RULES = Lowerings[[CpuFunctionLowering], None]()
"""Every op of the loops stage and the function that lowers it; filled by `lowers`."""
lowers = RULES.lowers
