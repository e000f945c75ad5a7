"""Executing IR: values by SSA value, ops by a table from op class to its meaning, control flow by blocks.

A *meaning* is a function from an op and a frame to the values of its results:

```python
@meaning_of(arith.SelectOp)
def select(op: arith.SelectOp, frame: Frame) -> Values:
    return (np.where(frame.get(op.cond), frame.get(op.lhs), frame.get(op.rhs)),)
```

Numbers are NumPy scalars and arrays of the storage types of :mod:`tilewright.dialects.numeric`, tensors and vectors
are arrays that nothing changes in place, memrefs are
:class:`~tilewright.reference.memory.MemRef`. Inside bodies that are evaluated for many lanes at once every value may
have the shape of the lanes;
`Frame.active` then says which lanes take part.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, IndexType, IntegerType, ModuleOp, UnrankedMemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects import memref, tt
from tilewright.dialects.attributes import NANOSECONDS, PRINT
from tilewright.dialects.coroutines import COROUTINE
from tilewright.dialects.numeric import Array, dtype_of, wrap_to_width
from tilewright.dialects.tt import PointerType
from tilewright.dialects.types import is_float
from tilewright.ir.walking import ops_within
from tilewright.reference.address_space import AddressSpace
from tilewright.reference.byte_products import find_byte_function
from tilewright.reference.coroutines import Coroutines
from tilewright.reference.errors import BarrierReferenceError, ReferenceError, reference_error
from tilewright.reference.memory import AccessError, BarrierMisuse, ByteRange, Everything, MemRef, Storage
from tilewright.reference.printing import format_declared
from tilewright.support.records import dataclass

Values = Sequence[Any]
Meaning = Callable[[Any, "Frame"], Values]

ADDRESS_OPS = (memref.ExtractAlignedPointerAsIndexOp, tt.IntToPtrOp)

MEANINGS: dict[type[Operation], Meaning] = {}
"""What every op class means; modules of this package fill it."""

MeaningT = TypeVar("MeaningT", bound=Meaning)


def meaning_of(*classes: type[Operation]) -> Callable[[MeaningT], MeaningT]:
    """Register a function as the meaning of op classes."""

    def register(meaning: MeaningT) -> MeaningT:
        for cls in classes:
            if cls in MEANINGS:
                raise ValueError(f"{cls.name} has a meaning already")
            MEANINGS[cls] = meaning
        return meaning

    return register


@dataclass
class Machine:
    """The state of a run: the module, the place in the grid, and what was printed."""

    module: ModuleOp
    program_id: tuple[int, int, int] = (0, 0, 0)
    num_programs: tuple[int, int, int] = (1, 1, 1)
    track_initialisation: bool = False
    output: list[str] = field(default_factory=list[str])
    external: dict[str, Callable[..., Any]] = field(default_factory=dict[str, Callable[..., Any]])
    """Functions without a body, by name: called with the values of the operands."""
    memory: AddressSpace = field(default_factory=AddressSpace)
    """What the pointers of the tt and structured stages point into."""
    rounds_dot_inputs: bool = False
    """Whether `tt.dot` rounds f32 operands as its `inputPrecision` allows; exact products are allowed as well, and are
    what native code computes."""
    program_state: dict[type[Any], Any] = field(default_factory=dict[type[Any], Any])
    """What the meanings of a dialect keep for the program that runs (its shared memory, say), by class."""
    kept: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What meanings keep for the whole run."""
    shared_base: int = 0
    """Where the shared memory of the function that runs begins, once buffers have offsets."""
    steps: int = 0
    step_limit: int | None = None
    """How many ops may be executed; a loop that never ends is an error, not a hang."""

    def __post_init__(self) -> None:
        self.functions: dict[str, Operation] = {}
        self.computes_addresses = any(isinstance(op, ADDRESS_OPS) for op in ops_within(self.module))
        """Whether the program may reach any memory from any pointer, by arithmetic on addresses."""
        for op in self.module.body.block.ops:
            symbol = op.properties.get("sym_name")
            if symbol is not None:
                self.functions[symbol.data] = op  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        self.globals: dict[str, MemRef] = {}

    def call(
        self, name: str, arguments: Sequence[Any], caller: Operation | None = None, active: Array | None = None
    ) -> Values:
        """Run a function of the module, for the lanes that take part where it is called in lanes; gives its results."""
        function = self.functions.get(name)
        if function is None:
            if caller is None:
                raise ReferenceError(f"the module has no function '{name}'")
            raise reference_error(caller, f"the module has no function '{name}'")
        body = function.regions[0]
        if body.blocks.first is None:
            meaning = function.attributes.get(PRINT)
            if isinstance(meaning, DictionaryAttr):
                self.output.append(format_declared(meaning, arguments))
                return ()
            if name == NANOSECONDS:
                return (np.int64(time.monotonic_ns()),)
            if (on_bytes := find_byte_function(name)) is not None:
                return (on_bytes(*arguments),)
            found = self._coroutines().call(name, arguments)
            if found is not None:
                return found
            if name not in self.external:
                raise reference_error(caller or function, f"'{name}' is declared outside of the module")
            found = self.external[name](*arguments)
            return () if found is None else cast(Values, found) if isinstance(found, tuple) else (found,)
        frame = Frame(self)
        frame.active = active
        if COROUTINE in function.attributes:
            return self._coroutines().start(lambda: frame.run_blocks(body, arguments))
        return frame.run_blocks(body, arguments)

    def _coroutines(self) -> Coroutines:
        return self.program_state.setdefault(Coroutines, Coroutines())


class Frame:
    """The values of one activation of a function."""

    __slots__ = ("active", "counters", "machine", "values")

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.values: dict[SSAValue, Any] = {}
        self.active: Array | None = None
        self.counters: Sequence[Any] = ()
        """The loop counters of the structured op whose body runs."""

    def get(self, value: SSAValue) -> Any:
        """The value that an SSA value has now."""
        return self.values[value]

    def get_all(self, values: Sequence[SSAValue]) -> list[Any]:
        """The values of several SSA values."""
        return [self.values[value] for value in values]

    def bind(self, block: Block, arguments: Sequence[Any]) -> None:
        """Give values to the arguments of a block."""
        for argument, value in zip(block.args, arguments, strict=True):
            self.values[argument] = value

    def run_ops(self, block: Block) -> Operation:
        """Execute the ops of a block in order and give its terminator, which is not executed."""
        values, meanings, machine = self.values, MEANINGS, self.machine
        op = block.first_op
        while op is not None:
            following = op.next_op
            if following is None and op.has_trait(IsTerminator):
                return op
            machine.steps += 1
            if machine.step_limit is not None and machine.steps > machine.step_limit:
                raise reference_error(op, f"more than {machine.step_limit} ops were executed")
            meaning = meanings.get(type(op))
            if meaning is None:
                raise reference_error(op, "this op has no reference meaning")
            try:
                results = meaning(op, self)
            except AccessError as error:
                kind = BarrierReferenceError if isinstance(error, BarrierMisuse) else ReferenceError
                raise reference_error(op, str(error), kind) from None
            for result, value in zip(op.results, results, strict=True):
                values[result] = value
            op = following
        raise AssertionError("a block without a terminator was executed")

    def run_region(self, region: Region, arguments: Sequence[Any] = ()) -> list[Any]:
        """Execute a region of one block and give what its terminator passes on."""
        block = region.block
        self.bind(block, arguments)
        return self.get_all(self.run_ops(block).operands)

    def run_blocks(self, region: Region, arguments: Sequence[Any]) -> list[Any]:
        """Execute a region of several blocks from its entry until a terminator leaves it."""
        block = region.blocks[0]
        while True:
            self.bind(block, arguments)
            terminator = self.run_ops(block)
            if not terminator.successors:
                return self.get_all(terminator.operands)
            choose = BRANCHES.get(type(terminator))
            if choose is None:
                raise reference_error(terminator, "this terminator has no reference meaning")
            block, arguments = choose(terminator, self)


Branch = Callable[[Any, Frame], tuple[Block, Sequence[Any]]]

BRANCHES: dict[type[Operation], Branch] = {}
"""Where the terminators that branch go, and with what arguments."""


def as_bool(value: Any) -> bool:
    """A scalar condition."""
    return bool(np.asarray(value).reshape(())[()])


def as_int(value: Any) -> int:
    """A scalar integer, as signed."""
    return int(np.asarray(value).reshape(())[()])


def scalar(value: float, type_: Attribute) -> Any:
    """A Python number as the NumPy scalar of a type; integers are cut to its width."""
    dtype = dtype_of(type_)
    if not isinstance(type_, (IntegerType, IndexType)):
        return np.asarray(value).astype(dtype)[()]
    if dtype == np.bool_:
        return np.bool_(int(value) & 1)
    bits = dtype.itemsize * 8
    wrapped = ((int(value) + (1 << (bits - 1))) % (1 << bits)) - (1 << (bits - 1))
    return wrap_to_width(np.asarray(wrapped, dtype), cast(Attribute, type_))[()]


def argument_value(machine: Machine, value: Any, type_: Attribute, name: str) -> Any:
    """A Python argument as the value of a function argument: arrays for pointers and tensors, numbers for scalars."""
    if isinstance(type_, PointerType):
        if isinstance(value, (np.ndarray, ByteRange)):
            return machine.memory.add(cast("Array | ByteRange", value), name)
        return np.int64(value or 0)
    if isinstance(value, MemRef):
        return value
    if isinstance(value, np.generic):
        number = cast("np.generic[Any]", value)
        return scalar(number.item(), type_) if number.dtype.kind in "iub" else number
    if isinstance(type_, UnrankedMemRefType):
        element = cast("UnrankedMemRefType[Attribute]", type_).element_type
        if isinstance(value, ByteRange):
            storage = Storage.of_bytes(value, element, name)
        else:
            storage = Storage.of_array(value, element, name)
        if machine.computes_addresses:
            machine.memory.add(value, name)
            storage.beyond = machine.memory
        return MemRef(storage, element=element)
    converter = ARGUMENTS.get(type(type_))
    if converter is not None:
        return converter(value, type_, name)
    if isinstance(type_, (IntegerType, IndexType)) or is_float(type_):
        return scalar(value, cast(Attribute, type_))
    return np.asarray(value)


def address_zero(machine: Machine, type_: Attribute) -> Any:
    """The argument that no launch passes: the memory from address 0 on, or that address."""
    if isinstance(type_, UnrankedMemRefType):
        element = cast("UnrankedMemRefType[Attribute]", type_).element_type
        return MemRef(Everything.of(machine.memory, element), element=element)
    return np.int64(0)


ARGUMENTS: dict[type[Attribute], Callable[[Any, Any, str], Any]] = {}
"""How Python arguments become values of types that other modules define (ranked memrefs)."""
