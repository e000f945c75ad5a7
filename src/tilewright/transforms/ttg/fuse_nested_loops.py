"""`tritongpu-fuse-nested-loops`: a loop around a loop becomes one loop over all iterations of the inner one."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects import arith, scf, ub
from tilewright.dialects.types import bit_width
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_pure
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.loop_rules import is_defined_outside
from tilewright.transforms.ttg.pipeliner.schedule import body_ops, definition_in, used_values

FLATTEN = "tt.flatten"
COUNTERS = (i32, i64)


def _find_inner(outer: scf.ForOp) -> scf.ForOp | None:
    """The only loop in a loop, if it stands directly in its body."""
    loops = [op for op in ops_within(outer) if isinstance(op, scf.ForOp | scf.WhileOp) and op is not outer]
    if len(loops) == 1 and isinstance(loops[0], scf.ForOp) and loops[0].parent is outer.body.block:
        return loops[0]
    return None


def _invariant_ops(loop: scf.ForOp, values: Sequence[SSAValue]) -> list[Operation] | None:
    """The ops of a body that make `values`, in order, if all could run before the loop; None if some cannot."""
    needed: set[Operation] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if is_defined_outside(value, loop.body):
            continue
        op = definition_in(loop, value)
        if op is None or not is_pure(op):
            return None
        if op not in needed:
            needed.add(op)
            stack.extend(used_values(op))
    return [op for op in body_ops(loop) if op in needed]


def _obstacle(outer: scf.ForOp, inner: scf.ForOp) -> str | None:
    """Return why a nest stays one; None where nothing speaks against one loop."""
    for loop in (outer, inner):
        if loop.unsigned_cmp is not None or loop.lb.type not in COUNTERS:
            return "its counters are neither i32 nor i64"
    if _invariant_ops(outer, (inner.lb, inner.ub, inner.step)) is None:
        return "how often the inner loop runs changes from iteration to iteration"
    return None


class _Fusion:
    """The parts of a nest, and the loop that takes its place.

    `shared` are results of the ops before the inner loop that it, or what follows it, uses. What the inner loop carries
    starts either always as the same value (`resets`), and goes back to it in the inner loop's last iteration, or as one
    that the outer iteration chooses (`variant`).
    """

    def __init__(self, outer: scf.ForOp, inner: scf.ForOp) -> None:
        self._outer = outer
        self._inner = inner
        ops = body_ops(outer)
        position = ops.index(inner)
        self._before, self._after = ops[:position], ops[position + 1 :]
        self.shared = self._find_shared()
        arguments = list(zip(inner.region_iter_args, inner.iter_args, inner.yielded, strict=True))
        self._resets = [pair for pair in arguments if is_defined_outside(pair[1], outer.body)]
        self._variants = [pair for pair in arguments if not is_defined_outside(pair[1], outer.body)]

    @property
    def variant(self) -> list[SSAValue]:
        """The values that the inner loop carries and that start anew in each iteration of the outer one."""
        return [argument for argument, _, _ in self._variants]

    def _find_shared(self) -> list[SSAValue]:
        """Results of the ops before the inner loop that are used from there on."""
        later = {self._inner, *self._after, self._outer.body.block.last_op}
        shared: list[SSAValue] = []
        for op in self._before:
            for result in op.results:
                holders = {_holder(self._outer, use.operation) for use in result.uses}
                only_starts = all(use.operation is self._inner for use in result.uses)
                if holders & later and not only_starts:
                    shared.append(result)
        return shared

    def run(self, builder: OpBuilder, inner_count: SSAValue, outer_count: SSAValue) -> scf.ForOp:
        """Build the loop; the nest stays where it is."""
        type = inner_count.type
        total = builder.result(arith.MuliOp(outer_count, inner_count))
        zero, one = (_number(builder, value, type) for value in (0, 1))
        last = builder.result(arith.SubiOp(inner_count, one))
        start = builder.result(arith.SubiOp(self._outer.lb, self._outer.step))
        carried = [
            zero,
            start,
            *self._outer.iter_args,
            *(initial for _, initial, _ in self._resets),
            *(builder.result(ub.PoisonOp(value.type)) for value in (*self.variant, *self.shared)),
        ]
        body = Block(arg_types=(type, *(value.type for value in carried)))
        self._fill(body, zero, one, last)
        loop = scf.ForOp(zero, total, one, carried, body)
        attributes = self._inner.attributes | self._outer.attributes
        loop.attributes.update({name: value for name, value in attributes.items() if name != FLATTEN})
        return builder.insert(loop)

    def results_of(self, loop: scf.ForOp) -> list[SSAValue]:
        """Return what the outer loop results in."""
        return list(loop.results[2 : 2 + len(self._outer.results)])

    # One iteration.

    def _fill(self, body: Block, zero: SSAValue, one: SSAValue, last: SSAValue) -> None:
        builder = OpBuilder.at_end(body, self._inner.location)
        arguments = iter(body.args[1:])
        place, counter = next(arguments), next(arguments)
        values: dict[SSAValue, SSAValue] = dict(zip(self._outer.region_iter_args, arguments, strict=False))
        values |= {argument: next(arguments) for argument, _, _ in self._resets}
        values |= {value: next(arguments) for value in (*self.variant, *self.shared)}
        outside = [*self.variant, *self.shared]
        values[self._outer.induction_variable] = counter

        is_first = builder.result(arith.CmpiOp(place, zero, "eq"))
        values |= self._begin(builder, is_first, values)
        values[self._inner.induction_variable] = self._inner_counter(builder, place)
        for op in body_ops(self._inner):
            _copy(builder, op, values)
        is_last = builder.result(arith.CmpiOp(place, last, "eq"))
        ended = self._end(builder, is_last, values)
        following = builder.result(arith.AddiOp(place, one))
        following = builder.result(arith.SelectOp(is_last, zero, following))
        variants = [values.get(source, source) for _, _, source in self._variants]
        kept = [values[value] for value in outside[len(variants) :]]
        builder.insert(scf.YieldOp(following, values[self._outer.induction_variable], *ended, *variants, *kept))

    def _inner_counter(self, builder: OpBuilder, place: SSAValue) -> SSAValue:
        """lb + place * step of the inner loop."""
        lb, step = self._inner.lb, self._inner.step
        if bit_width(place.type) > bit_width(lb.type):
            place = builder.result(arith.TruncIOp(place, lb.type))
        if arith.find_constant_int(step) != 1:
            place = builder.result(arith.MuliOp(place, step))
        return place if arith.find_constant_int(lb) == 0 else builder.result(arith.AddiOp(lb, place))

    def _begin(
        self, builder: OpBuilder, is_first: SSAValue, values: dict[SSAValue, SSAValue]
    ) -> dict[SSAValue, SSAValue]:
        """In the first iteration of the inner loop: the next one of the outer loop, and what comes before the inner."""
        old = self._outer.induction_variable
        keys = [old, *self.variant, *self.shared]
        then, otherwise = Block(), Block()
        inside, inner = dict(values), OpBuilder.at_end(then, builder.location)
        inside[old] = inner.result(arith.AddiOp(values[old], self._outer.step))
        for op in self._before:
            _copy(inner, op, inside)
        starts = [inside.get(initial, initial) for _, initial, _ in self._variants]
        inner.insert(scf.YieldOp(inside[old], *starts, *(inside[value] for value in self.shared)))
        OpBuilder.at_end(otherwise, builder.location).insert(scf.YieldOp(*(values[key] for key in keys)))
        branch = builder.insert(scf.IfOp(is_first, [key.type for key in keys], then, otherwise))
        return dict(zip(keys, branch.results, strict=True))

    def _end(self, builder: OpBuilder, is_last: SSAValue, values: dict[SSAValue, SSAValue]) -> list[SSAValue]:
        """In the last iteration of the inner loop: what comes after it. Returns what the outer loop carries on, and
        what the inner loop's resets become.
        """
        sums = [values.get(source, source) for _, _, source in self._resets]
        passed = [values[argument] for argument in self._outer.region_iter_args]
        then, otherwise = Block(), Block()
        inside, inner = dict(values), OpBuilder.at_end(then, builder.location)
        for result, source in zip(self._inner.results, self._inner.yielded, strict=True):
            inside[result] = values.get(source, source)
        for op in self._after:
            _copy(inner, op, inside)
        ends = [inside.get(value, value) for value in self._outer.yielded]
        inner.insert(scf.YieldOp(*ends, *(initial for _, initial, _ in self._resets)))
        OpBuilder.at_end(otherwise, builder.location).insert(scf.YieldOp(*passed, *sums))
        types = [value.type for value in (*passed, *sums)]
        return list(builder.insert(scf.IfOp(is_last, types, then, otherwise)).results)


def _copy(builder: OpBuilder, op: Operation, values: dict[SSAValue, SSAValue]) -> None:
    copy = builder.insert(op.clone(values))
    values.update(zip(op.results, copy.results, strict=True))


def _holder(loop: scf.ForOp, op: Operation) -> Operation | None:
    current: Operation | None = op
    while current is not None and current.parent is not loop.body.block:
        current = current.parent_op()
    return current


def _number(builder: OpBuilder, value: int, type: Attribute) -> SSAValue:
    return builder.result(arith.constant_int(value, i64 if type == i64 else i32))


def _count(builder: OpBuilder, loop: scf.ForOp, type: Attribute, *, runs: bool) -> SSAValue:
    """Return how often a loop runs, in `type`: (ub - lb) / step rounded up, where the difference is taken as unsigned,
    as it may exceed what is signed; 0 where ub <= lb unless it is known that the loop `runs`.
    """
    distance = builder.result(arith.SubiOp(loop.ub, loop.lb))
    count = builder.result(arith.CeilDivUIOp(distance, loop.step))
    if not runs:
        is_none = builder.result(arith.CmpiOp(loop.ub, loop.lb, "sle"))
        count = builder.result(arith.SelectOp(is_none, _number(builder, 0, loop.lb.type), count))
    if bit_width(type) > bit_width(loop.lb.type):
        count = builder.result(arith.ExtUIOp(count, type))
    return count


def _fuse(outer: scf.ForOp, inner: scf.ForOp) -> None:
    builder = OpBuilder.before(outer)
    for op in _invariant_ops(outer, (inner.lb, inner.ub, inner.step)) or ():
        op.detach()
        builder.insert(op)
    type = i64 if i64 in (outer.lb.type, inner.lb.type) else i32
    lb, ub = (arith.find_constant_int(value) for value in (inner.lb, inner.ub))
    runs = lb is not None and ub is not None and lb < ub
    then, otherwise = Block(), Block()
    inside = builder if runs else OpBuilder.at_end(otherwise, outer.location)
    fusion = _Fusion(outer, inner)
    loop = fusion.run(inside, _count(inside, inner, type, runs=True), _count(inside, outer, type, runs=False))
    results: Sequence[SSAValue] = fusion.results_of(loop)
    if not runs:
        inside.insert(scf.YieldOp(*results))
        is_none = builder.result(arith.CmpiOp(inner.ub, inner.lb, "sle"))
        results = builder.insert(scf.IfOp(is_none, [value.type for value in results], then, otherwise)).results
    for old, new in zip(outer.results, results, strict=True):
        old.replace_all_uses_with(new)
    outer.detach()
    if runs:
        outer.erase()
    else:
        _insert_without_inner(outer, inner, then)


def _insert_without_inner(outer: scf.ForOp, inner: scf.ForOp, block: Block) -> None:
    """Insert a nest into the branch where the inner loop never runs, without that."""
    for result, initial in zip(inner.results, inner.iter_args, strict=True):
        result.replace_all_uses_with(initial)
    inner.detach()
    inner.erase()
    outer.attributes.pop(FLATTEN, None)
    builder = OpBuilder.at_end(block, outer.location)
    builder.insert(outer)
    builder.insert(scf.YieldOp(*outer.results))


@register_pass
class FuseNestedLoopsPass(Pass):
    """A loop marked `tt.flatten` and the only loop in it become one loop, which the pipeliner can keep busy from the
    first tile to the last: loads of the next tile run while the last products of this one do.

    Before:
    ```mlir
    scf.for %i = %lb to %ub step %s : i32 {
      %p = "before"(%i)
      %a = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
        %s = "body"(%p, %k, %acc)
        scf.yield %s : f32
      }
      "after"(%p, %a)
    } {tt.flatten}
    ```
    After, where %n > 0 (else the loop without the inner one runs):
    ```mlir
    scf.for %t = %c0 to %total step %c1 iter_args(%k = %c0, %j = %lb - %s, %acc = %zero, %q = %poison) -> (...)
      %i, %p = scf.if %k == 0 { %j + %s, "before"(%j + %s) } else { %j, %q }
      %s = "body"(%p, %k, %acc)
      %sum = scf.if %k == %n - 1 { "after"(%p, %s); %zero } else { %s }
      scf.yield %k == %n - 1 ? 0 : %k + 1, %i, %sum, %p
    }
    ```
    What the first part of an iteration leaves for the others starts as poison: no iteration looks at it, and it does
    not spoil what is known about alignment. As in Triton, the iterations of both loops together are counted in the
    wider of their types.
    """

    name = "tritongpu-fuse-nested-loops"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for outer in [op for op in ops_within(module) if isinstance(op, scf.ForOp) and FLATTEN in op.attributes]:
            inner = _find_inner(outer)
            if inner is None:
                continue
            obstacle = _obstacle(outer, inner)
            if obstacle is not None:
                context.remark(outer, f"the loops are not fused: {obstacle}")
                continue
            _fuse(outer, inner)
