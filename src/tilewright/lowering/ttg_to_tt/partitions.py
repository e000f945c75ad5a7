"""`warp_specialize` on one thread: every partition is a coroutine, the default region resumes them.

A partition runs until it waits for a phase of an mbarrier that is not over; then it suspends itself. The default region
resumes all partitions in turn while it waits, and at its end until all have ended. Where a round over all of them ends
no wait, nothing can go on: the wait that comes first is an assertion that fails. So a program that ends on a GPU ends
here, as long as its warps wait for each other at mbarriers.

Two words in memory go with a `warp_specialize`: how many waits of partitions are over (MOVES), and whether the
partitions are to give up (STUCK).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, UnitAttr, i32, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from tilewright.dialects import arith, scf, tt, ttg
from tilewright.dialects.coroutines import COROUTINE, DESTROY, HANDLE, HAS_ENDED, RESUME, SIGNATURES, SUSPEND
from tilewright.dialects.tt.types import pointer_type
from tilewright.dialects.ttg.verification import NUM_WARPS
from tilewright.dialects.types import is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_tt.function_memory import PASS, allocate, assert_of_barrier, function_of
from tilewright.support.records import dataclass
from tilewright.transforms.common.lift_cf_to_scf import structurize

MOVES, STUCK = 0, 1
WORDS = 2
FOR_EVER = "waits forever: nothing that the program did before, or that its other warps still do, ends this phase"

NO_TENSORS = "run on other warps and cannot take a tensor: hand it over in shared memory"

Condition = Callable[[OpBuilder], SSAValue]


@dataclass(frozen=True)
class _Started:
    """The partitions of a `warp_specialize`, as its default region sees them."""

    handles: Sequence[SSAValue]
    words: SSAValue


@dataclass
class Partitions:
    """The coroutines of a module, made as `warp_specialize` is met."""

    module: ModuleOp
    _started: dict[Operation, _Started] = field(default_factory=dict[Operation, _Started])
    _count: int = 0

    def start(self, op: ttg.WarpSpecializeOp) -> None:
        """Give each partition a function, and call it before `op`; the default region stays where it is."""
        function, b = function_of(op), OpBuilder.before(op)
        words = allocate(function, i64, WORDS, op.location)
        for word in (MOVES, STUCK):
            b.insert(tt.StoreOp(_word(words, word, b), _number(0, b)))
        captures, warps = tuple(op.operands), op.num_warps
        if any(is_tensor(capture.type) for capture in captures):
            raise op_error(op, f"partitions {NO_TENSORS}", pass_name=PASS)
        handles: list[SSAValue] = []
        for region, count in zip(tuple(op.partitions), warps, strict=True):
            name = f"{function.sym_name.data}.partition{self._count}"
            self._count += 1
            used = _outline(region, name, captures, count, self)
            handles.append(b.result(tt.CallOp(name, [*used, words], [i64])))
        self._started[op] = _Started(handles, words)

    def finish(self, op: ttg.WarpSpecializeOp) -> None:
        """Put the default region in place of `op`; then the partitions run to their end."""
        started, b = self._started[op], OpBuilder.before(op)
        if op.default_region.blocks.first is not op.default_region.blocks.last:
            reason = structurize(op.default_region)
            if reason is not None:
                raise op_error(op, f"the default partition has several blocks and {reason}", pass_name=PASS)
        block = op.default_region.block
        last = block.last_op
        assert isinstance(last, ttg.WarpYieldOp)
        for result, value in zip(op.results, tuple(last.operands), strict=True):
            result.replace_all_uses_with(value)
        last.detach()
        last.erase()
        for inner in tuple(block.ops):
            inner.detach()
            b.insert(inner)
        self._join(started, b)
        for handle in started.handles:
            self.call(DESTROY, [handle], b)

    def wait(self, op: Operation, is_over: Condition, b: OpBuilder) -> None:
        """Wait for a condition, by what is around `op`; that nothing can make it true is an assertion that fails."""
        scope = self._scope_of(op)
        if scope is None:
            assert_of_barrier(is_over(b), FOR_EVER, b)
        elif isinstance(scope, _Started):
            self._wait_for_partitions(scope, is_over, b)
        else:
            self._wait_as_partition(scope, is_over, b)

    def call(self, name: str, operands: Sequence[SSAValue], b: OpBuilder) -> Sequence[SSAValue]:
        """Call one of the functions of `dialects.coroutines`, which the module declares."""
        inputs, outputs = SIGNATURES[name]
        if not any(isinstance(each, tt.FuncOp) and each.sym_name.data == name for each in self.module.ops):
            declared = tt.FuncOp(name, (inputs, outputs), Region(), visibility="private")
            self.module.body.block.add_op(declared)
        return b.insert(tt.CallOp(name, list(operands), outputs)).results

    def _scope_of(self, op: Operation) -> _Started | SSAValue | None:
        """Return what an op is in: a default region, a partition (its words), or neither."""
        parent = op.parent_op()
        while parent is not None:
            if parent in self._started:
                return self._started[parent]
            if isinstance(parent, tt.FuncOp):
                return parent.args[-1] if COROUTINE in parent.attributes else None
            parent = parent.parent_op()
        return None

    def _wait_as_partition(self, words: SSAValue, is_over: Condition, b: OpBuilder) -> None:
        def suspend(inner: OpBuilder) -> None:
            stuck = inner.result(tt.LoadOp(_word(words, STUCK, inner)))
            assert_of_barrier(inner.result(arith.CmpiOp(stuck, _number(0, inner), "eq")), FOR_EVER, inner)
            self.call(SUSPEND, (), inner)

        _loop_until(is_over, suspend, b)
        count_move(words, b)

    def _wait_for_partitions(self, started: _Started, is_over: Condition, b: OpBuilder) -> None:
        def let_others_run(inner: OpBuilder) -> None:
            moved = self._round(started, inner)
            assert_of_barrier(inner.result(arith.OrIOp(moved, is_over(inner))), FOR_EVER, inner)

        _loop_until(is_over, let_others_run, b)

    def _join(self, started: _Started, b: OpBuilder) -> None:
        """Resume all until all have ended; if none can, the first to be resumed says at which wait."""

        def have_ended(inner: OpBuilder) -> SSAValue:
            first, *rest = (self.call(HAS_ENDED, [handle], inner)[0] for handle in started.handles)
            for each in rest:
                first = inner.result(arith.AndIOp(first, each))
            return first

        def resume(inner: OpBuilder) -> None:
            moved = self._round(started, inner)
            stuck = inner.result(arith.SelectOp(moved, _number(0, inner), _number(1, inner)))
            inner.insert(tt.StoreOp(_word(started.words, STUCK, inner), stuck))

        if started.handles:
            _loop_until(have_ended, resume, b)

    def _round(self, started: _Started, b: OpBuilder) -> SSAValue:
        """Resume every partition once; gives whether one of them got past a wait, or ended."""
        before = b.result(tt.LoadOp(_word(started.words, MOVES, b)))
        for handle in started.handles:
            self.call(RESUME, [handle], b)
        after = b.result(tt.LoadOp(_word(started.words, MOVES, b)))
        return b.result(arith.CmpiOp(before, after, "ne"))


def count_move(words: SSAValue, b: OpBuilder) -> None:
    """Note that a partition got past a wait, or ended."""
    pointer = _word(words, MOVES, b)
    moved = b.result(arith.AddiOp(b.result(tt.LoadOp(pointer)), _number(1, b)))
    b.insert(tt.StoreOp(pointer, moved))


def _outline(
    region: Region, name: str, captures: Sequence[SSAValue], warps: int, partitions: Partitions
) -> list[SSAValue]:
    """Move a partition into a function of the module; gives the captures that it takes."""
    body = Region()
    region.move_blocks(body)
    entry = body.blocks[0]
    used: list[SSAValue] = []
    for argument, capture in zip(tuple(entry.args), captures, strict=True):
        if argument.uses.get_length():
            used.append(capture)
        else:
            entry.erase_arg(argument)
    words = entry.insert_arg(pointer_type(i64), len(entry.args))
    for block in body.blocks:
        last = block.last_op
        if isinstance(last, ttg.WarpReturnOp):
            b = OpBuilder.before(last)
            count_move(words, b)
            b.insert(tt.ReturnOp(partitions.call(HANDLE, (), b)))
            last.detach()
            last.erase()
    attributes = [*(_argument_attributes(capture) for capture in used), DictionaryAttr({})]
    kinds: list[Attribute] = [argument.type for argument in entry.args]
    made = tt.FuncOp(name, (kinds, [i64]), body, visibility="private", arg_attrs=ArrayAttr(attributes), noinline=True)
    made.attributes[COROUTINE] = UnitAttr()
    made.attributes[NUM_WARPS] = IntegerAttr(warps, i32)
    partitions.module.body.block.add_op(made)
    return used


def _argument_attributes(value: SSAValue) -> DictionaryAttr:
    """Return what is known of an argument of a function: that it divides by 16, say."""
    owner = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    if isinstance(owner, tt.FuncOp) and owner.arg_attrs is not None and isinstance(value, BlockArgument):
        return owner.arg_attrs.data[value.index]
    return DictionaryAttr({})


def _loop_until(condition: Condition, body: Callable[[OpBuilder], None], b: OpBuilder) -> None:
    before, after = Block(), Block()
    test, work = OpBuilder.at_end(before, b.location), OpBuilder.at_end(after, b.location)
    yes = test.result(arith.constant_bool(True))
    test.insert(scf.ConditionOp(test.result(arith.XOrIOp(condition(test), yes))))
    body(work)
    work.insert(scf.YieldOp())
    b.insert(scf.WhileOp((), (), Region(before), Region(after)))


def _word(words: SSAValue, index: int, b: OpBuilder) -> SSAValue:
    return b.result(tt.AddPtrOp(words, b.result(arith.constant_int(index, i32))))


def _number(value: int, b: OpBuilder) -> SSAValue:
    return b.result(arith.constant_int(value, i64))
