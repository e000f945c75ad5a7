"""`outline-equal-loops`: loops that a kernel has copies of become calls of one function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import count

from xdsl.dialects.builtin import MemRefType, ModuleOp, UnitAttr, UnrankedMemRefType
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import arith, cf, func, memref, scf, vector
from tilewright.dialects.coroutines import COROUTINE
from tilewright.dialects.types import is_vector
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.values import arguments_in
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass
from tilewright.transforms.common.loop_rules import constant_trip_count

STAYING = (
    func.CallOp,
    cf.AssertOp,
    memref.AllocaOp,
    memref.AtomicRMWOp,
    memref.GenericAtomicRMWOp,
    scf.WhileOp,
)
"""Ops that code generation ties to the function they are in: its frame, its exit, what it knows of waiting."""

ROUNDS = 8
"""Rounds that a loop without constant bounds is taken to have."""

MADE_AGAIN = (vector.BroadcastOp, vector.StepOp, memref.ReinterpretCastOp, memref.CastOp)
"""Ops before a loop that cost nothing: the function has its own, rather than a parameter for the result."""


@register_pass
@dataclass
class OutlineEqualLoopsPass(Pass):
    """Loops that differ in the values they read alone become calls of one private function.

    ```mlir
    scf.for %i = %c0 to %a step %c8 { %x = vector.load %p[%i] ... vector.store %x, %s[%i] ... }
    scf.for %i = %c0 to %b step %c8 { %x = vector.load %p[%i] ... vector.store %x, %t[%i] ... }
    ... fourteen more
    // becomes
    func.call @kernel_loop_0(%a, %p, %s) : (index, memref<256xf32>, memref<64xf32>) -> ()
    func.call @kernel_loop_0(%b, %p, %t) : (index, memref<256xf32>, memref<64xf32>) -> ()
    ...
    func.func private @kernel_loop_0(%0: index, %1: memref<256xf32>, %2: memref<64xf32>) attributes {no_inline} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %0 step %c8 { %x = vector.load %1[%i] ... vector.store %x, %2[%i] ... }
      return
    }
    ```
    Constants that all copies agree on are in the function; what else is read from outside is a parameter. Most of what
    LLVM does takes as long as the code is, and a kernel of a thousand tile copies has thousands of loops. A call costs
    some nanoseconds, which pays where the copies do not fit the processor's cache of code: 30 masked copies of 64
    numbers run 1.15 times as long with calls (250 ns without), 200 of them 0.88 times (3.2 us). Of loops that run
    thousands of ops, two are enough: the steps of a sort, the passes over a row that a sampler makes again and again.
    """

    name = "outline-equal-loops"

    copies: int = 16
    """Equal loops from which on they become calls."""

    least: int = 1024
    """Ops that equal loops must have in all."""

    saved: int = 128
    """Ops of all copies but the first from which on two are enough, if they run long."""

    long: int = 3072
    """Ops that a loop runs, from which on its call costs nothing (some 1,000 cycles)."""

    parameters: int = 24
    """Most parameters of a function."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        taken = {op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)}
        for function in [op for op in module.ops if isinstance(op, func.FuncOp)]:
            if function.body.blocks.first is None or COROUTINE in function.attributes:
                continue
            renamed: dict[SSAValue, SSAValue] = {}
            names = (name for n in count() if (name := f"{function.sym_name.data}_loop_{n}") not in taken)
            level = list(_outermost_loops(function.body))
            while level:
                outlined: set[scf.ForOp] = set()
                for group in equal_loops(level):
                    if self._pays(group) and self._outline(module, group, names, renamed):
                        outlined.update(copy.loop for copy in group)
                level = [inner for loop in level if loop not in outlined for inner in _outermost_loops(loop.body)]

    def _pays(self, group: Sequence[Copy]) -> bool:
        """Return whether a function for equal loops is worth their calls."""
        number, size = len(group), group[0].size
        if number >= self.copies and number * size >= self.least:
            return True
        return (number - 1) * size >= self.saved and all(_ops_run(copy.loop) >= self.long for copy in group)

    def _outline(
        self, module: ModuleOp, group: list[Copy], names: Iterator[str], renamed: dict[SSAValue, SSAValue]
    ) -> bool:
        """Make a function of the first of equal loops, and calls of all, and return that, unless it takes too many
        parameters. What loops gave, later ones read from calls: `renamed`.
        """
        columns = list(zip(*(copy.reads for copy in group), strict=True))
        keys = [tuple(map(_identity, column)) for column in columns]
        passed = {key: column for key, column in zip(keys, columns, strict=True) if not _is_shared(column)}
        if len(passed) > self.parameters:
            return False
        places = {key: place for place, key in enumerate(passed)}
        name, first = next(names), group[0]
        for index, copy in enumerate(group):
            results = call_before(copy, name, [_latest(column[index], renamed) for column in passed.values()])
            renamed.update(zip(copy.loop.results, results, strict=True))
        function = make_function(name, first, [places.get(key) for key in keys], [c[0] for c in passed.values()])
        module.body.block.add_op(function)
        for copy in group[1:]:
            operands = [operand for op in ops_within(copy.loop) for operand in op.operands]
            copy.loop.detach()
            copy.loop.erase()
            erase_unread(operands)
        return True


def equal_loops(level: Sequence[scf.ForOp]) -> list[list[Copy]]:
    """Those of some loops that have equals. What no other is as long as need not be described."""
    by_size: dict[int, list[scf.ForOp]] = defaultdict(list)
    for loop in level:
        by_size[len(ops_within(loop))].append(loop)
    groups: dict[Hashable, list[Copy]] = defaultdict(list)
    for loops in by_size.values():
        for copy in map(read_copy, loops) if len(loops) > 1 else ():
            if copy is not None:
                groups[copy.form].append(copy)
    return [group for group in groups.values() if len(group) > 1]


@dataclass(frozen=True)
class Copy:
    """A loop, as one of several that may be equal."""

    loop: scf.ForOp
    form: Hashable
    """Equal for loops that are equal but for the values they read from outside."""
    reads: list[SSAValue]
    """These values, one for each place in which one is read; those of `MADE_AGAIN` by what they are made from."""
    size: int
    """Number of ops."""


def read_copy(loop: scf.ForOp) -> Copy | None:
    """Describe a loop, unless it holds what must stay or has results that no function returns."""
    if any(isinstance(result.type, (MemRefType, UnrankedMemRefType)) for result in loop.results):
        return None
    ops = ops_within(loop)
    if any(isinstance(op, STAYING) for op in ops):
        return None
    reader = _Reader()
    for op in ops:
        reader.read(op)
    return Copy(loop, tuple(reader.form), reader.reads, len(ops))


class _Reader:
    """Writes down what ops are, in order, with numbers for the values that they make."""

    def __init__(self) -> None:
        self.form: list[Hashable] = []
        self.reads: list[SSAValue] = []
        self._numbers: dict[SSAValue, int] = {}

    def read(self, op: Operation) -> None:
        form, numbers = self.form, self._numbers
        form.append(type(op))
        for operand in op.operands:
            number = numbers.get(operand)
            if number is None:
                self._read_outside(operand)
            else:
                form.append(number)
        if op.properties:
            form.append(frozenset(op.properties.items()))
        if op.attributes:
            form.append(frozenset(op.attributes.items()))
        for result in op.results:
            form.append(result.type)
            numbers[result] = len(numbers)
        for region in op.regions:
            form.append(len(region.blocks))
            for block in region.blocks:
                for argument in block.args:
                    form.append(argument.type)
                    numbers[argument] = len(numbers)

    def _read_outside(self, value: SSAValue) -> None:
        """A value from outside: how it is made, where the function makes it again, else its type."""
        op = value.owner
        if is_made_again(value):
            assert isinstance(op, Operation)
            self.form += [type(op), value.type, frozenset(op.properties.items())]
            for operand in op.operands:
                self._read_outside(operand)
        else:
            self.form.append(value.type)
            self.reads.append(value)


def is_made_again(value: SSAValue) -> bool:
    """Return whether a value from outside costs a function nothing to make for itself."""
    return isinstance(value.owner, MADE_AGAIN) or (isinstance(value.owner, arith.ConstantOp) and is_vector(value.type))


def make_function(name: str, copy: Copy, places: Sequence[int | None], passed: Sequence[SSAValue]) -> func.FuncOp:
    """Move a loop into a private function: `places` has the parameter of each read, None where its constant is the
    function's own.
    """
    loop, block = copy.loop, Block(arg_types=[value.type for value in passed])
    own = {value for op in ops_within(loop) for value in (*op.results, *arguments_in(op))}
    reads = iter(places)

    def bring(value: SSAValue) -> SSAValue:
        """A value from outside, inside of the function."""
        op = value.owner
        if not is_made_again(value) and (place := next(reads)) is not None:
            return block.args[place]
        assert isinstance(op, Operation)
        again = op.clone()
        for position, operand in enumerate(op.operands):
            again.operands[position] = bring(operand)
        block.add_op(again)
        return again.results[0]

    loop.detach()
    for op in ops_within(loop):
        for position, operand in enumerate(op.operands):
            if operand not in own:
                op.operands[position] = bring(operand)
    block.add_ops((loop, func.ReturnOp(*loop.results)))
    types = [value.type for value in passed], [result.type for result in loop.results]
    function = func.FuncOp(name, types, Region(block), "private")
    function.properties["no_inline"] = UnitAttr()
    function.location = loop.location
    return function


def call_before(copy: Copy, name: str, arguments: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Call the function of a loop, and read its results from the call, which are returned."""
    loop = copy.loop
    call = func.CallOp(name, arguments, [result.type for result in loop.results])
    call.location = loop.location
    block = loop.parent
    assert block is not None
    block.insert_op_before(call, loop)
    for old, new in zip(loop.results, call.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    return call.results


def erase_unread(values: Iterable[SSAValue]) -> None:
    """Erase what a function makes again, where nothing else reads it."""
    for value in values:
        op = value.owner
        if isinstance(op, Operation) and is_made_again(value) and op.parent is not None and not value.uses:
            operands = list(op.operands)
            op.detach()
            op.erase()
            erase_unread(operands)


def _ops_run(op: Operation) -> int:
    """Estimate how many ops an op runs, with those inside of it."""
    inside = sum(_ops_run(inner) for region in op.regions for block in region.blocks for inner in block.ops)
    if not isinstance(op, scf.ForOp):
        return inside + 1
    rounds = constant_trip_count(op)
    return inside * (ROUNDS if rounds is None else rounds)


def _latest(value: SSAValue, renamed: Mapping[SSAValue, SSAValue]) -> SSAValue:
    later = renamed.get(value)
    return value if later is None else later


def _is_shared(column: Sequence[SSAValue]) -> bool:
    """Return whether all copies read one constant."""
    return isinstance(column[0].owner, arith.ConstantOp) and len(set(map(_identity, column))) == 1


def _identity(value: SSAValue) -> Hashable:
    """The value, or what constant it is."""
    op = value.owner
    return (value.type, op.value) if isinstance(op, arith.ConstantOp) else value


def _outermost_loops(region: Region) -> Iterator[scf.ForOp]:
    """Loops over elements of a region that are in no other loop of it."""
    for block in region.blocks:
        for op in block.ops:
            if isinstance(op, scf.ForOp):
                yield op
            else:
                for inner in op.regions:
                    yield from _outermost_loops(inner)
