"""In which order a loop over programs does them, where those further right along x have more to do, or less.

Every program of the grid is done once in any order; what is guessed here is when. The loop runs in rounds, in each of
which every one of P programs that run does one. The first rounds take programs as they come, every other round in
reverse, so that whoever had the longest of one round has the shortest of the next. The last rounds take some whole rows
of the grid, `LAST` of which the launcher has chosen, column by column, the longest columns first: what is left over in
the end is short, and no program waits long for another.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, BlockArgument, OpResult, SSAValue

from tilewright.dialects import arith, scf, tt
from tilewright.dialects.arith import find_constant_int
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_memory_free

LAST = "sorted"
"""What the launcher gives: the number of the first program of the rows that are sorted."""


class _Unknown(Exception):
    """How a number depends on the program is not known."""


def direction_of_work(loop: scf.ForOp) -> int:
    """Return 1 where programs further right do not have fewer iterations of a loop, -1 where not more, 0 where that
    does not depend on their place along x, or is not known.
    """
    try:
        return _sum(_direction(loop.ub), -_direction(loop.lb))
    except _Unknown:
        return 0


def _sum(first: int, second: int) -> int:
    if first * second < 0:
        raise _Unknown
    return first or second


def _direction(value: SSAValue) -> int:
    """In which direction a number goes with the program's along x."""
    if find_constant_int(value) is not None or isinstance(value, BlockArgument):
        return 0
    assert isinstance(value, OpResult)
    op = value.op
    match op:
        case tt.GetProgramIdOp():
            return int(op.axis.value.data == 0)
        case arith.ExtSIOp() | arith.TruncIOp():
            return _direction(op.operands[0])
        case arith.AddiOp():
            return _sum(*map(_direction, op.operands))
        case arith.SubiOp():
            return _sum(_direction(op.operands[0]), -_direction(op.operands[1]))
        case arith.MuliOp() | arith.DivSIOp() if (factor := find_constant_int(op.operands[1])) is not None:
            return _direction(op.operands[0]) * (1 if factor > 0 else -1)
        case arith.MinSIOp() if any(find_constant_int(operand) == 0 for operand in op.operands) and all(
            map(_is_positive, op.operands)
        ):
            return 0
        case arith.MinSIOp() | arith.MaxSIOp():
            return _sum(*map(_direction, op.operands))
        case _ if is_memory_free(op) and not op.regions and not any(map(_direction, op.operands)):
            return 0
        case _:
            raise _Unknown


def _is_positive(value: SSAValue) -> bool:
    """Return whether a number is known to be 0 or more, if nothing overflows."""
    constant = find_constant_int(value)
    if constant is not None:
        return constant >= 0
    op = value.owner
    match op:
        case tt.GetProgramIdOp():
            return True
        case arith.AddiOp() | arith.MuliOp() | arith.DivSIOp() | arith.MinSIOp():
            return all(map(_is_positive, op.operands))
        case _:
            return False


def rounds(builder: OpBuilder, total: SSAValue) -> tuple[scf.ForOp, SSAValue]:
    """A loop, without a terminator, over the rounds of a program; with the index of what it does in each."""
    own = builder.result(tt.GetProgramIdOp(0))
    count = builder.result(tt.GetNumProgramsOp(0))
    zero, one = (builder.result(arith.constant_int(value, i32)) for value in (0, 1))
    whole = builder.result(arith.DivSIOp(total, count))
    rest = builder.result(arith.RemSIOp(total, count))
    takes_part = builder.result(arith.CmpiOp(own, rest, "slt"))
    more = builder.result(arith.SelectOp(takes_part, one, zero))
    last = builder.result(arith.SubiOp(count, one))
    mirrored = builder.result(arith.SubiOp(last, own))
    loop = scf.ForOp(zero, builder.result(arith.AddiOp(whole, more)), one, [], Block(arg_types=[i32]))
    builder.insert(loop)
    inside = OpBuilder.at_end(loop.body.block, loop.location)
    round_index = loop.induction_variable
    is_odd = inside.result(arith.CmpiOp(inside.result(arith.AndIOp(round_index, one)), one, "eq"))
    is_whole = inside.result(arith.CmpiOp(round_index, whole, "slt"))
    turns = inside.result(arith.AndIOp(is_odd, is_whole))
    within = inside.result(arith.SelectOp(turns, mirrored, own))
    return loop, inside.result(arith.AddiOp(inside.result(arith.MuliOp(round_index, count)), within))


def columns_last(
    outside: OpBuilder,
    inside: OpBuilder,
    program: SSAValue,
    total: SSAValue,
    first: SSAValue,
    width: SSAValue,
    way: int,
) -> tuple[SSAValue, SSAValue]:
    """The index along x, and along the other axes, of a program; those from `first` on are counted down the columns,
    from the one with the most work on.
    """
    one = outside.result(arith.constant_int(1, i32))
    above = outside.result(arith.DivSIOp(first, width))
    sorted_rows = outside.result(arith.DivSIOp(outside.result(arith.SubiOp(total, first)), width))
    height = outside.result(arith.MaxSIOp(sorted_rows, one))
    is_last = inside.result(arith.CmpiOp(program, first, "sge"))
    counted = inside.result(arith.SelectOp(is_last, inside.result(arith.SubiOp(program, first)), program))
    divisor = inside.result(arith.SelectOp(is_last, height, width))
    quotient = inside.result(arith.DivSIOp(counted, divisor))
    rest = inside.result(arith.RemSIOp(counted, divisor))
    column = quotient
    if way > 0:
        right = outside.result(arith.SubiOp(width, one))
        column = inside.result(arith.SubiOp(right, quotient))
    x = inside.result(arith.SelectOp(is_last, column, rest))
    row = inside.result(arith.SelectOp(is_last, inside.result(arith.AddiOp(above, rest)), quotient))
    return x, row
