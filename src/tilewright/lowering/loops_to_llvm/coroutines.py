"""Coroutines (`dialects.coroutines`) by LLVM's: functions with the attribute `presplitcoroutine`, which LLVM splits
into the parts between their suspensions; what lives across them is in a frame on the heap.

```llvm
define internal ptr @partition(ptr %a0, ptr %arena, ptr %frame) presplitcoroutine {
  %h = call ptr @llvm.coro.begin(token %id, ptr %memory)
  ...
  %s = call i8 @llvm.coro.suspend(token none, i1 false)  ; 0: resumed, 1: destroyed, else just suspended
  switch i8 %s, label %suspended [ i8 0, label %go i8 1, label %destroyed ]
```
The caller notes the handles of the coroutines that it started, and destroys them where it is stopped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.builtin import UnitAttr

from tilewright.codegen.llvm_text import FunctionText, global_name
from tilewright.dialects import func
from tilewright.dialects.coroutines import COROUTINE, DESTROY, HANDLE, HAS_ENDED, RESUME, SUSPEND
from tilewright.ir.walking import ops_within
from tilewright.lowering.loops_to_llvm.arena import ALIGNMENT
from tilewright.lowering.loops_to_llvm.function_lowering import ARENA, FRAME, CpuFunctionLowering

ATTRIBUTE = "presplitcoroutine"
_DECLARATIONS = (
    "declare token @llvm.coro.id(i32, ptr, ptr, ptr)",
    "declare ptr @llvm.coro.begin(token, ptr)",
    "declare i8 @llvm.coro.suspend(token, i1)",
    "declare ptr @llvm.coro.free(token, ptr)",
    "declare void @llvm.coro.end(ptr, i1, token)",
)


def is_coroutine(function: func.FuncOp) -> bool:
    """Return whether a function suspends itself."""
    return isinstance(function.attributes.get(COROUTINE), UnitAttr)


def started_coroutines(function: func.FuncOp, bodies: dict[str, func.FuncOp]) -> Iterator[func.CallOp]:
    """The calls in a function that start a coroutine."""
    for op in ops_within(function.body):
        callee = bodies.get(op.callee.string_value()) if isinstance(op, func.CallOp) else None
        if isinstance(op, func.CallOp) and callee is not None and is_coroutine(callee):
            yield op


class CoroutineLowering(CpuFunctionLowering):
    """Lowers the body of a coroutine, whose own results are unused: the LLVM function returns its handle."""

    _handle = ""
    _id = ""
    _suspended = ""
    _destroyed = ""
    _end = ""

    def begin(self) -> None:
        """Allocate the frame: as much as LLVM finds to be needed, where vectors may lie."""
        fn = self.fn
        for line in _DECLARATIONS:
            fn.declare(line)
        self._id = fn.value(f"call token @llvm.coro.id(i32 {ALIGNMENT}, ptr null, ptr null, ptr null)")
        size = fn.call("i64", "llvm.coro.size.i64", ())
        rounded = fn.binary("and", "i64", fn.binary("add", "i64", size, ALIGNMENT - 1), f"-{ALIGNMENT}")
        memory = fn.call("ptr", "aligned_alloc", [("i64", str(ALIGNMENT)), ("i64", rounded)])
        self._handle = fn.value(f"call ptr @llvm.coro.begin(token {self._id}, ptr {memory})")
        self._suspended, self._destroyed, self._end = map(fn.new_label, ("suspended", "destroyed", "end"))

    def handle(self) -> str:
        """Return the own handle, as an i64."""
        return self.fn.cast("ptrtoint", "ptr", self._handle, "i64")

    def suspend(self, *, is_final: bool = False) -> None:
        """Go back to the caller; what follows is what a resumption does."""
        fn, go_on = self.fn, self.fn.new_label("go")
        state = fn.value(f"call i8 @llvm.coro.suspend(token none, i1 {'true' if is_final else 'false'})")
        fn.switch("i8", state, self._suspended, ((0, go_on), (1, self._destroyed)))
        fn.start(go_on)

    def emit_return(self, values: Sequence[tuple[str, str]]) -> None:
        """Go to the end, of which LLVM wants one."""
        self.fn.branch(self._end)

    def finish(self) -> None:
        """Write the end, in which the coroutine waits to be destroyed, and what frees its frame and goes back."""
        super().finish()
        fn = self.fn
        fn.start(self._end)
        self.suspend(is_final=True)
        fn.unreachable()
        fn.start(self._destroyed)
        memory = fn.value(f"call ptr @llvm.coro.free(token {self._id}, ptr {self._handle})")
        fn.call("void", "free", [("ptr", memory)])
        fn.branch(self._suspended)
        fn.start(self._suspended)
        fn.emit(f"call void @llvm.coro.end(ptr {self._handle}, i1 false, token none)")
        fn.ret("ptr", self._handle)


def lower_start(low: CpuFunctionLowering, call: func.CallOp, arguments: list[tuple[str, str]]) -> None:
    """Run a coroutine up to its first suspension; its frame of the arena is part of the caller's."""
    fn = low.fn
    slot = low.frame.slots[call]
    frame = fn.address("i8", FRAME, slot.offset)
    operands = ", ".join(f"{type} {value}" for type, value in [*arguments, ("ptr", ARENA), ("ptr", frame)])
    handle = fn.value(f"call ptr {global_name(call.callee.string_value())}({operands})")
    fn.store("ptr", handle, low.coroutine_notes[call])
    low.set(call.results[0], fn.cast("ptrtoint", "ptr", handle, "i64"))


def lower_coroutine_call(low: CpuFunctionLowering, call: func.CallOp) -> bool:
    """Lower a call of a function of `dialects.coroutines`; False for others."""
    fn, name = low.fn, call.callee.string_value()
    if name in (SUSPEND, HANDLE):
        if not isinstance(low, CoroutineLowering):
            low.fail(call, f"calls '{name}' outside of a coroutine")
        elif name == SUSPEND:
            low.suspend()
        else:
            low.set(call.results[0], low.handle())
        return True
    if name not in (RESUME, HAS_ENDED, DESTROY):
        return False
    handle = fn.cast("inttoptr", "i64", low.get(call.operands[0]), "ptr")
    if name == DESTROY:
        fn.call("void", "llvm.coro.destroy", [("ptr", handle)])
        for note in low.coroutine_notes.values():
            _forget(fn, note, handle)
        return True
    ended = fn.call("i1", "llvm.coro.done", [("ptr", handle)])
    if name == HAS_ENDED:
        low.set(call.results[0], ended)
        return True
    resume, go_on = fn.new_label("resume"), fn.new_label("go")
    fn.branch_if(ended, go_on, resume)
    fn.start(resume)
    fn.call("void", "llvm.coro.resume", [("ptr", handle)])
    fn.branch(go_on)
    fn.start(go_on)
    return True


def make_notes(low: CpuFunctionLowering, calls: Iterable[func.CallOp]) -> None:
    """Of each coroutine that the function starts, where its handle is while it is not destroyed; null otherwise."""
    for call in calls:
        low.coroutine_notes[call] = note = low.fn.alloca("ptr")
        low.fn.store("ptr", "null", note)


def _forget(fn: FunctionText, note: str, handle: str) -> None:
    noted = fn.load("ptr", note)
    left = fn.select(fn.icmp("eq", "ptr", noted, handle), "ptr", "null", noted)
    fn.store("ptr", left, note)
