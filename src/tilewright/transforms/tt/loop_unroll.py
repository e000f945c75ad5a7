"""`triton-loop-unroll`: loops that ask for it do several iterations at a time."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects import arith, scf
from tilewright.dialects.arith import constant_int, find_constant_int
from tilewright.dialects.construction import i32_attr
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_inside_out, ops_within
from tilewright.transforms.common.loop_rules import constant_trip_count

FACTOR = "tt.loop_unroll_factor"
STAGES = "tt.num_stages"
MOST_OPS = 1 << 14
"""Ops that the body of an unrolled loop may have: more than any kernel gains from, and seconds to compile."""


def unroll(loop: scf.ForOp, factor: int) -> None:
    """Replace a loop by one that does `factor` iterations in one, and one that does what remains.

    With n = ceil(max(ub - lb, 0) / step) iterations the first loop ends at `lb + (n - n mod factor) * step`, where the
    second begins."""
    builder = OpBuilder.before(loop)
    middle, needs_remainder = _middle(builder, loop, factor)
    step = find_constant_int(loop.step)
    wide = _constant(builder, step * factor, loop) if step is not None else None
    if wide is None:
        wide = builder.result(arith.MuliOp(loop.step, _constant(builder, factor, loop)))
    main = _unrolled(loop, middle, wide, factor)
    main.attributes.update({name: value for name, value in loop.attributes.items() if name != FACTOR})
    builder.insert(main)
    results: Sequence[SSAValue] = main.results
    if needs_remainder:
        rest = loop.clone_without_regions()
        rest.operands = [middle, loop.ub, loop.step, *main.results]
        rest.attributes = {name: value for name, value in loop.attributes.items() if name not in (FACTOR, STAGES)}
        rest.attributes[STAGES] = i32_attr(1)
        loop.body.clone_into(rest.body)
        builder.insert(rest)
        results = rest.results
    for old, new in zip(loop.results, results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    loop.detach()
    loop.erase()


def _constant(builder: OpBuilder, value: int, loop: scf.ForOp) -> SSAValue:
    return builder.result(constant_int(value, loop.lb.type))  # pyright: ignore[reportArgumentType]


def _middle(builder: OpBuilder, loop: scf.ForOp, factor: int) -> tuple[SSAValue, bool]:
    """Return where the unrolled loop ends, and whether iterations may remain after it."""
    trips = constant_trip_count(loop)
    lower, step = find_constant_int(loop.lb), find_constant_int(loop.step)
    if trips is not None and lower is not None and step is not None:
        rest = trips % factor
        return (_constant(builder, lower + (trips - rest) * step, loop), True) if rest else (loop.ub, False)
    insert = builder.insert
    highest = arith.MaxUIOp if loop.unsigned_cmp is not None else arith.MaxSIOp
    end = insert(highest(loop.ub, loop.lb))
    distance = insert(arith.SubiOp(end, loop.lb))
    one = _constant(builder, 1, loop)
    whole = insert(arith.DivUIOp(distance, loop.step))
    left_over = insert(arith.RemUIOp(distance, loop.step))
    zero = _constant(builder, 0, loop)
    extra = insert(arith.SelectOp(insert(arith.CmpiOp(left_over, zero, "ne")), one, zero))
    count = insert(arith.AddiOp(whole, extra))
    rest = insert(arith.RemUIOp(count, _constant(builder, factor, loop)))
    full = insert(arith.SubiOp(count, rest))
    length = insert(arith.MuliOp(full, loop.step))
    return insert(arith.AddiOp(loop.lb, length)).results[0], True


def _unrolled(loop: scf.ForOp, middle: SSAValue, wide: SSAValue, factor: int) -> scf.ForOp:
    """The loop to `middle` in steps of `wide` whose body is `factor` copies of the body of `loop`."""
    source = loop.body.block
    body = Block(arg_types=source.arg_types)
    for old, new in zip(source.args, body.args, strict=True):
        new.name_hint = old.name_hint
    builder = OpBuilder.at_end(body, loop.location)
    carried: list[SSAValue] = list(body.args[1:])
    for iteration in range(factor):
        counter: SSAValue = body.args[0]
        if iteration:
            shift = builder.insert(arith.MuliOp(loop.step, _constant(builder, iteration, loop)))
            counter = builder.result(arith.AddiOp(counter, shift))
        mapping: dict[SSAValue, SSAValue] = dict(zip(source.args, (counter, *carried), strict=True))
        for op in source.ops:
            if op is not source.last_op:
                builder.insert(op.clone(mapping))
        carried = [mapping.get(value, value) for value in loop.yielded]
    builder.insert(scf.YieldOp(*carried))
    unrolled = scf.ForOp(loop.lb, middle, wide, tuple(loop.iter_args), Region(body))
    unrolled.properties.update(loop.properties)
    unrolled.location = loop.location
    return unrolled


@register_pass
class LoopUnrollPass(Pass):
    """Unrolls loops that have a `tt.loop_unroll_factor` and removes the attribute. A loop that would grow beyond 16,384
    ops is left alone, with a remark.

    Before:
    ```mlir
    scf.for %i = %lb to %ub step %s : i32 {
      "use"(%i) : (i32) -> ()
    } {tt.loop_unroll_factor = 2 : i32}
    ```
    After:
    ```mlir
    scf.for %i = %lb to %middle step %twice : i32 {
      "use"(%i) : (i32) -> ()
      %next = arith.addi %i, %s : i32
      "use"(%next) : (i32) -> ()
    }
    scf.for %i = %middle to %ub step %s : i32 {
      "use"(%i) : (i32) -> ()
    } {tt.num_stages = 1 : i32}
    ```
    """

    name = "triton-loop-unroll"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        loops = [op for op in ops_inside_out(module) if isinstance(op, scf.ForOp) and FACTOR in op.attributes]
        for loop in loops:
            factor = loop.attributes[FACTOR]
            if not isinstance(factor, IntegerAttr):
                context.remark(loop, f"'{FACTOR}' must be an integer, got {factor}")
            elif _fits(loop, factor.value.data, context):
                unroll(loop, factor.value.data)
            else:
                del loop.attributes[FACTOR]


def _fits(loop: scf.ForOp, factor: int, context: PassContext) -> bool:
    """Return whether there is something to unroll, and the copies are not too many."""
    num_ops = len(ops_within(loop.body))
    if factor * num_ops > MOST_OPS:
        reason = f"not unrolled: {factor} copies of {num_ops} ops are more than {MOST_OPS} ops"
        context.remark(loop, f"{reason}; a smaller loop_unroll_factor is followed")
    return factor >= 2 and factor * num_ops <= MOST_OPS
