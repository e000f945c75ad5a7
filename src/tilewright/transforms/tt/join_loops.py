"""`triton-join-loops`: two loops, one after the other, that do the same but for what the second does more."""

from __future__ import annotations

from dataclasses import field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.dialects import arith, scf, tt
from tilewright.dialects.arith import find_constant_int
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_pure, may_write
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass
from tilewright.transforms.tt.branch_slices import clone_ops, erase_unused, slice_of

MOST_OPS = 400
"""Ops of bodies that are compared: those of real kernels have a tenth."""


class CannotJoin(Exception):
    """Why two loops stay two."""


@dataclass
class _Matching:
    """What of the second body does as the first: `twins` of its values, and `extras`, the ops of the second body with
    the operand that their result stands for while the first body runs.
    """

    twins: dict[SSAValue, SSAValue]
    extras: dict[Operation, SSAValue] = field(default_factory=dict[Operation, SSAValue])

    def copy(self) -> _Matching:
        """A snapshot."""
        return _Matching(dict(self.twins), dict(self.extras))


class _Comparison:
    """Compares the bodies of two loops."""

    def __init__(self, first: Block, second: Block, twins: dict[SSAValue, SSAValue]) -> None:
        self._first = first
        self._second = second
        self.found = _Matching(twins)

    def is_twin(self, mine: SSAValue, other: SSAValue) -> bool:
        """Return whether `other`, of the second body or from outside, is what `mine` is in the first one, or becomes it
        when some ops of the second body are left out, which are noted then.
        """
        if other in self.found.twins:
            return self.found.twins[other] is mine
        if mine is other:
            return True
        if not isinstance(other, OpResult) or other.op.parent is not self._second:
            return False
        before = self.found.copy()
        if self._is_same_op(mine, other) or self._is_extra(mine, other, before):
            self.found.twins[other] = mine
            return True
        self.found = before
        return False

    def _is_same_op(self, mine: SSAValue, other: OpResult) -> bool:
        if not isinstance(mine, OpResult) or mine.op.parent is not self._first or mine.index != other.index:
            return False
        a, b = mine.op, other.op
        if a.name != b.name or len(a.operands) != len(b.operands) or a.result_types != b.result_types:
            return False
        if a.properties != b.properties or a.attributes != b.attributes or len(a.regions) != len(b.regions):
            return False
        if not all(self.is_twin(x, y) for x, y in zip(a.operands, b.operands, strict=True)):
            return False
        if not all(x.is_structurally_equivalent(y, {}) for x, y in zip(a.regions, b.regions, strict=True)):
            return False
        self.found.twins.update(zip(b.results, a.results, strict=True))
        return True

    def _is_extra(self, mine: SSAValue, other: OpResult, before: _Matching) -> bool:
        """Return whether an op of the second body changes what is a twin: an operand stands for its result then."""
        op = other.op
        if len(op.results) != 1 or op.regions or not is_pure(op):
            return False
        for operand in op.operands:
            self.found = before.copy()
            if operand.type == other.type and self.is_twin(mine, operand):
                self.found.extras[op] = operand
                return True
        return False


def _find_first(second: scf.ForOp) -> scf.ForOp | None:
    """The loop whose results a loop goes on from."""
    makers = {value.owner for value in second.iter_args}
    first = next(iter(makers), None)
    if len(makers) != 1 or not isinstance(first, scf.ForOp) or first.parent is not second.parent:
        return None
    return first if any(isinstance(op, tt.DotOp) for op in second.body.block.ops) else None


def _check_ranges(first: scf.ForOp, second: scf.ForOp, axis_info: ModuleAxisInfo) -> None:
    step = find_constant_int(first.step)
    if first.ub is not second.lb:
        raise CannotJoin("the second does not begin where the first ends")
    if step is None or step <= 0 or step != find_constant_int(second.step):
        raise CannotJoin("they do not have one constant step")
    if first.unsigned_cmp is not None or second.unsigned_cmp is not None:
        raise CannotJoin("their counters are unsigned")
    if any(axis_info.of(bound).divisibility[0] % step for bound in (first.lb, first.ub)):
        raise CannotJoin("the bounds of the first are not known to be multiples of its step")


def _check_effects(first: scf.ForOp, second: scf.ForOp) -> None:
    op: Operation | None = first
    while op is not None and op is not second:
        if may_write(op):
            raise CannotJoin(f"'{op.name}' writes to memory")
        op = op.next_op
    if op is None or may_write(second):
        raise CannotJoin("the second writes to memory")
    if first.attributes != second.attributes:
        raise CannotJoin("they bear different attributes")
    if max(len(loop.body.block.ops) for loop in (first, second)) > MOST_OPS:
        raise CannotJoin(f"they have more than {MOST_OPS} ops")


def _compare(first: scf.ForOp, second: scf.ForOp) -> tuple[_Matching, list[SSAValue]]:
    """Return how the bodies match, and what the loop that takes the place of both begins with."""
    positions: list[int] = []
    for value in second.iter_args:
        assert isinstance(value, OpResult)
        if not value.has_one_use():
            raise CannotJoin("what the first results in is used elsewhere")
        positions.append(value.index)
    if len(positions) != len(first.results):
        raise CannotJoin("they carry different values")
    twins: dict[SSAValue, SSAValue] = {second.induction_variable: first.induction_variable}
    for position, argument in zip(positions, second.region_iter_args, strict=True):
        twins[argument] = first.region_iter_args[position]
    comparison = _Comparison(first.body.block, second.body.block, twins)
    for position, value in zip(positions, second.yielded, strict=True):
        if not comparison.is_twin(first.yielded[position], value):
            raise CannotJoin("the first does not do what the second does")
    return comparison.found, [first.iter_args[position] for position in positions]


def _join(first: scf.ForOp, second: scf.ForOp, matching: _Matching, starts: list[SSAValue]) -> None:
    """Have the second loop do what both did; the first one goes."""
    builder, middle = OpBuilder.before(second), second.lb
    lower = builder.result(arith.MinSIOp(first.lb, middle))
    upper = builder.result(arith.MaxSIOp(middle, second.ub))
    body = second.body.block
    is_second = OpBuilder.at_start(body, second.location).insert(arith.CmpiOp(second.induction_variable, middle, "sge"))
    second.operands = (lower, upper, second.step, *starts)
    unmatched = {op for op in body.ops if op is not body.last_op and op is not is_second}
    unmatched -= {value.op for value in matching.twins if isinstance(value, OpResult)}
    for op, operand in matching.extras.items():
        _make_conditional(op, operand, is_second.results[0], unmatched)
    erase_unused(op for op in body.ops if op in unmatched)
    first.detach()
    first.erase()


def _make_conditional(op: Operation, otherwise: SSAValue, condition: SSAValue, private: set[Operation]) -> None:
    """`op` runs under a condition, with copies of the private ops that it needs; else its result is `otherwise`."""
    assert op.parent is not None
    then, rest = Block(), Block()
    inside, values = OpBuilder.at_end(then, op.location), dict[SSAValue, SSAValue]()
    clone_ops(inside, [*slice_of(op.operands, op.parent, private.__contains__), op], values)
    inside.insert(scf.YieldOp(values[op.results[0]]))
    OpBuilder.at_end(rest, op.location).insert(scf.YieldOp(otherwise))
    branch = OpBuilder.before(op).insert(scf.IfOp(condition, op.result_types, then, rest))
    branch.results[0].name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(branch.results[0])
    op.detach()
    op.erase()


@register_pass
class JoinLoopsPass(Pass):
    """Joins two loops over adjacent ranges, if the second does everything that the first does and more, into one loop
    with a conditional for the rest. Causal attention is often written that way: first the blocks of keys that all rows
    see, then those at the diagonal, which are partly masked. The pipeliner then fills and drains only one loop.

    Before:
    ```mlir
    %a = scf.for %i = %c0 to %m step %c64 iter_args(%x = %zero) -> (tensor<64x64xf32>) : i32 {
      %s = "scores"(%i) : (i32) -> tensor<64x64xf32>
      %y = "sum"(%x, %s) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %y : tensor<64x64xf32>
    }
    %b = scf.for %i = %m to %n step %c64 iter_args(%x = %a) -> (tensor<64x64xf32>) : i32 {
      %s = "scores"(%i) : (i32) -> tensor<64x64xf32>
      %t = arith.select %mask, %s, %least : tensor<64x64xi1>, tensor<64x64xf32>
      %y = "sum"(%x, %t) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %y : tensor<64x64xf32>
    }
    ```
    After:
    ```mlir
    %lower = arith.minsi %c0, %m : i32
    %upper = arith.maxsi %m, %n : i32
    %b = scf.for %i = %lower to %upper step %c64 iter_args(%x = %zero) -> (tensor<64x64xf32>) : i32 {
      %rest = arith.cmpi sge, %i, %m : i32
      %s = "scores"(%i) : (i32) -> tensor<64x64xf32>
      %t = scf.if %rest -> (tensor<64x64xf32>) {
        %u = arith.select %mask, %s, %least : tensor<64x64xi1>, tensor<64x64xf32>
        scf.yield %u : tensor<64x64xf32>
      } else {
        scf.yield %s : tensor<64x64xf32>
      }
      %y = "sum"(%x, %t) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %y : tensor<64x64xf32>
    }
    ```
    Applies only to loops with matmuls that write nothing and whose bounds are known multiples of a constant step. If
    the second loop continues from the results of the first and the two cannot be joined, a remark says why.
    """

    name = "triton-join-loops"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        pairs = [
            (first, op)
            for op in ops_within(module)
            if isinstance(op, scf.ForOp) and (first := _find_first(op)) is not None
        ]
        if not pairs:
            return
        axis_info = ModuleAxisInfo(module)
        for first, second in pairs:
            try:
                _check_ranges(first, second, axis_info)
                _check_effects(first, second)
                matching, starts = _compare(first, second)
            except CannotJoin as reason:
                context.remark(second, f"this loop and the one before it are not joined: {reason}")
                continue
            _join(first, second, matching, starts)
