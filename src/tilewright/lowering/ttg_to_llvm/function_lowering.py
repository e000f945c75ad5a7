"""The state of lowering one function: values so far, the LLVM function under construction, what the hardware offers.

A rule is a function of an op and this state, registered for the classes that it lowers:

```python
@lowers(tt.MakeRangeOp)
def lower_make_range(op: tt.MakeRangeOp, fn: GpuFunctionLowering) -> None:
    first = op.start.value.data
    fn.set(op.result, tuple(fn.add(x, first) for x in fn.threads.index.along(fn.layout(op.result), "dim0")))
```
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar, cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.codegen.located_text import LocatedFunctionText
from tilewright.dialects import ttg
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.ir.lowerings import Lowerings
from tilewright.layouts.distributed import REGISTER
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.control_flow import ControlFlowLowering
from tilewright.lowering.ttg_to_llvm.carried_values import flat_types, is_carried_as_words, layout_of_type
from tilewright.lowering.ttg_to_llvm.module_lowering import GpuModuleLowering, Warps, Workers
from tilewright.lowering.ttg_to_llvm.packing import pack, unpack
from tilewright.lowering.ttg_to_llvm.threads import RunningThreads
from tilewright.lowering.ttg_to_llvm.types import ElementType, element_of
from tilewright.lowering.ttg_to_llvm.values import Held, Registers, SharedValue
from tilewright.lowering.unsupported import UnsupportedError

PASS_NAME = "ttg-to-llvm"
ALLOCATION_OFFSET = "allocation.offset"
"""Attribute of an op that uses shared memory (and of calls): byte offset in its function's part."""

Rule = Callable[[Any, "GpuFunctionLowering"], None]
R = TypeVar("R", bound=Rule)


class EmitAny(Protocol):
    """A function of any number of operands."""

    def __call__(self, *operands: str) -> str: ...


Emit = Callable[[str], str] | Callable[[str, str], str] | Callable[[str, str, str], str] | EmitAny
"""Appends the instructions for one register: operands to result."""


class GpuFunctionLowering(ControlFlowLowering[LocatedFunctionText]):
    """Lowers the body of one function into `text`."""

    def __init__(
        self, module: GpuModuleLowering, text: LocatedFunctionText, *, is_kernel: bool, shared_base: str
    ) -> None:
        super().__init__(text)
        self.module = module
        self.emitter = module.emitter
        self.facts = module.facts
        self.is_kernel = is_kernel
        self.shared_base = shared_base
        """ptr addrspace(3): where this function's shared memory begins."""
        self.scratch_base: str | None = None
        """ptr addrspace(1): the program's global scratch memory, in modules that use any."""
        self.threads = RunningThreads(text, module.emitter, module.num_warps, module.num_ctas)
        """Those that run the current region (fewer than the CTA's inside of a partition)."""
        self.workers: Workers | None = None
        """Of kernels whose warps do not all do the same."""
        self.values: dict[SSAValue, Held] = {}
        self.packed: dict[tuple[str, ...], str] = {}
        """The i32 word, or i16, that consecutive elements were unpacked from: packing them again gives it back."""
        self._scratch: str | None = None

    # ------------------------------------------------------------------------------------------------------- values

    def registers(self, value: SSAValue) -> Registers:
        """The operands of a tensor, one per register; a scalar as a tuple of one."""
        held = self.values[value]
        if isinstance(held, str):
            return (held,)
        assert isinstance(held, tuple)
        return held

    def scalar(self, value: SSAValue) -> str:
        """The operand of a scalar."""
        held = self.values[value]
        assert isinstance(held, str)
        return held

    def shared(self, value: SSAValue) -> SharedValue:
        """A buffer in shared memory."""
        held = self.values[value]
        assert isinstance(held, SharedValue)
        return held

    def set(self, value: SSAValue, held: Held | Sequence[str]) -> None:
        """Bind a value: a sequence of operands for a tensor, an operand for a scalar, ..."""
        self.values[value] = tuple(held) if isinstance(held, list) else held  # pyright: ignore[reportArgumentType]

    def set_like(self, value: SSAValue, operands: Sequence[str]) -> None:
        """Bind a tensor to operands, or a scalar to the only one."""
        self.values[value] = tuple(operands) if is_tensor(value.type) else operands[0]

    # -------------------------------------------------------------------------------------------------------- types

    def element(self, value: SSAValue) -> ElementType:
        """The LLVM form of a scalar, or of a tensor's (or buffer's) elements."""
        type = value.type
        return element_of(type.element_type if isinstance(type, ttg.MemDescType) else element_type(type))

    def layout(self, value: SSAValue) -> LinearLayout:
        """The map of (register, lane, warp, block) to coordinates of a tensor value."""
        return layout_of_type(value.type)

    def num_registers(self, type: Attribute) -> int:
        """Return how many registers hold a tensor of a type; 1 for a scalar."""
        return layout_of_type(type).in_dims[REGISTER] if is_tensor(type) else 1

    # ------------------------------------------------------------------------------------------------ shared memory

    def program_scratch(self) -> str:
        """ptr addrspace(1) to this program's piece of global scratch memory; pieces are in the order of programs."""
        if self._scratch is None:
            self._scratch = self._find_scratch()
        return self._scratch

    def _find_scratch(self) -> str:
        assert self.scratch_base is not None
        if not self.is_kernel:
            return self.scratch_base
        emit = self.text.entry_value
        ids = [self.emitter.program_id(self.text, axis, self.module.num_ctas, at_entry=True) for axis in range(3)]
        counts = [self.emitter.num_programs(self.text, axis, self.module.num_ctas, at_entry=True) for axis in range(2)]
        rows = emit(f"mul i32 {ids[2]}, {counts[1]}")
        row = emit(f"add i32 {rows}, {ids[1]}")
        before = emit(f"mul i32 {row}, {counts[0]}")
        program = emit(f"add i32 {before}, {ids[0]}")
        wide = emit(f"zext i32 {program} to i64")
        offset = emit(f"mul i64 {wide}, {self.module.global_scratch_bytes}")
        return emit(f"getelementptr i8, ptr addrspace(1) {self.scratch_base}, i64 {offset}")

    def shared_pointer(self, op: Operation) -> str:
        """ptr addrspace(3) to the scratch or buffer that allocation gave `op`."""
        return self.shared_at(allocation_offset(op))

    def shared_at(self, offset: int) -> str:
        """ptr addrspace(3) to a byte of this function's shared memory."""
        if not offset:
            return self.shared_base
        return self.text.address("i8", self.shared_base, offset, index_type="i32", space=3, flags="inbounds ")

    def barrier(self) -> None:
        """All threads that run this code wait for each other: those of the CTA, of the kernel's own warps, or of the
        partition."""
        partition = self.threads.partition
        if partition is not None:
            self.emitter.barrier_of(self.text, partition.barrier, 32 * partition.count)
        elif self._has_roles():
            self.emitter.barrier_of(self.text, 0, 32 * self.threads.num_warps)
        else:
            self.emitter.barrier(self.text)

    def program_barrier(self) -> None:
        """As `barrier`, of all CTAs that run the program; in partitions, of the same warps in each of them."""
        if self.module.num_ctas == 1:
            self.barrier()
            return
        self.cluster_arrive()
        self.cluster_wait()

    def cluster_arrive(self, *, relaxed: bool = False) -> None:
        """The first half of it; `relaxed`, others do not see by that what was written before."""
        if self._has_roles():
            self._workers().arrive_in_cluster()
        else:
            self.emitter.cluster_arrive(self.text, relaxed=relaxed)

    def cluster_wait(self) -> None:
        """The second half."""
        if self._has_roles():
            self._workers().wait_for_cluster()
        else:
            self.emitter.cluster_wait(self.text)

    def _has_roles(self) -> bool:
        return self.module.total_warps != self.module.num_warps

    def _workers(self) -> Workers:
        """Raises UnsupportedError in functions, whose callers may have any role."""
        if self.workers is None:
            raise UnsupportedError("CTAs that meet in a function that is not inlined, while their warps have roles")
        return self.workers

    @contextmanager
    def on_warps(self, warps: Warps) -> Generator[None]:
        """Inside, what is lowered is run by these warps, whose threads count from 0."""
        all_threads = self.threads
        self.threads = all_threads.of_partition(warps)
        try:
            yield
        finally:
            self.threads = all_threads

    # ------------------------------------------------------------------------------------------------- instructions

    def add(self, a: str, b: int, type: str = "i32") -> str:
        """a plus a constant, folded where possible."""
        if not b:
            return a
        return str(int(a) + b) if a.lstrip("-").isdecimal() else self.text.binary("add", type, a, b)

    def both(self, *conditions: str | None) -> str | None:
        """The conjunction of i1 operands, of which None and ``true`` are neutral; None if nothing else is left."""
        result: str | None = None
        for condition in conditions:
            if condition is None or condition in ("true", "1", "-1"):
                continue
            result = condition if result is None else self.text.binary("and", "i1", result, condition)
        return result

    def each(self, columns: Sequence[Registers], emit: Emit) -> Registers:
        """`emit` applied register by register; equal operands are computed once."""
        function = cast("Callable[..., str]", emit)
        made: dict[tuple[str, ...], str] = {}
        results: list[str] = []
        for operands in zip(*columns, strict=True):
            result = made.get(operands)
            if result is None:
                result = made[operands] = function(*operands)
            results.append(result)
        return tuple(results)

    def elementwise(self, op: Operation, emit: Emit) -> None:
        """Bind the first result of `op` to `emit` of its operands, register by register."""
        self.set_like(op.results[0], self.each([self.registers(operand) for operand in op.operands], emit))

    def declare(self, name: str, result: str, parameters: Sequence[str]) -> None:
        """Declare an external function or intrinsic, once."""
        self.module.text.declarations.setdefault(name, f"declare {result} @{name}({', '.join(parameters)})")

    def bitcast(self, operand: str, source: str, target: str) -> str:
        """The same bits as another type of equal width."""
        return operand if source == target else self.text.cast("bitcast", source, operand, target)

    # ---------------------------------------------------------------------------------------- values that are carried

    def flat(self, value: SSAValue) -> list[tuple[str, str]]:
        """The (type, operand) pairs that carry a value through branches, loops and calls."""
        held = self.values[value]
        types = flat_types(value.type)
        match held:
            case None:
                return []
            case str():
                return [(types[0], held)]
            case SharedValue():
                return list(zip(types, (held.base, held.flip), strict=True))
            case tuple() if is_carried_as_words(value.type):
                return [("i32", word) for word in pack(self.text, self.packed, self.element(value), held)]
            case tuple():
                return list(zip(types, held, strict=True))

    def flat_types(self, type: Attribute) -> list[str]:
        """The LLVM types that carry a value of an MLIR type."""
        return flat_types(type)

    def bind_flat(self, values: Iterable[SSAValue], operands: Iterator[str]) -> None:
        """Bind values to operands in the order of `flat_all`."""
        for value in values:
            self.values[value] = self.unflatten(value.type, operands)

    def unflatten(self, type: Attribute, operands: Iterator[str]) -> Held:
        """The value of a type that consecutive operands hold."""
        if is_carried_as_words(type):
            words = [next(operands) for _ in flat_types(type)]
            return tuple(unpack(self.text, self.packed, element_of(element_type(type)), words))
        if is_tensor(type):
            return tuple(next(operands) for _ in flat_types(type))
        match type:
            case ttg.AsyncTokenType():
                return None
            case ttg.MemDescType():
                return SharedValue(next(operands), next(operands))
            case _:
                return next(operands)

    # ---------------------------------------------------------------------------------------------------------- ops

    def lower_block(self, block: Block) -> None:
        """Lower all ops of a block in order."""
        for op in block.ops:
            rule = RULES.get(type(op))
            if rule is None:
                raise op_error(op, "has no lowering for NVIDIA GPUs", pass_name=PASS_NAME)
            self.locate(op)
            try:
                rule(op, self)
            except UnsupportedError as error:
                raise op_error(op, str(error), pass_name=PASS_NAME) from error

    def locate(self, op: Operation) -> None:
        """The instructions that follow have the place of an op in the source."""
        self.text.debug_suffix = self.module.debug.suffix(op, self.text.name)


def allocation_offset(op: Operation) -> int:
    """The byte offset that allocation gave an op; PassError where it has none."""
    offset = op.attributes.get(ALLOCATION_OFFSET)
    if not isinstance(offset, IntegerAttr):
        raise op_error(op, "needs shared memory and has no allocation.offset", pass_name=PASS_NAME)
    return offset.value.data


RULES = Lowerings[[GpuFunctionLowering], None]()
"""Every op of the ttg stage and the function that lowers it; filled by `lowers`."""
lowers = RULES.lowers
