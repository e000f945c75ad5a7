"""Barriers, scratch memory, and what the software pipeliner leaves for its last step."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i1, i8
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.traits import HasParent, IsTerminator, Pure, RecursiveMemoryEffect, ReturnLike
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import gpu
from tilewright.dialects.construction import Value, init_op, value_of, values_of
from tilewright.dialects.tt.definition import i32_attr
from tilewright.dialects.tt.types import PointerType, pointer_type
from tilewright.dialects.ttg.constraints import op_definition
from tilewright.dialects.ttg.effects import GLOBAL, READ, SHARED, WRITE, Touches
from tilewright.dialects.types import TypeWhere

NUMBER = VarConstraint("N", AnyAttr())


@op_definition
class LocalBarrierOp(IRDLOperation):
    """`ttg.local_barrier`: all threads of the CTA wait here, and see each other's writes to shared memory."""

    name = "ttg.local_barrier"

    assembly_format = "attr-dict"
    traits = traits_def(Touches(((READ, SHARED), (WRITE, SHARED))))

    def __init__(self) -> None:
        init_op(self)


BARRIER_SPACES = ("none", "local", "global_read", "global_write", "tensor_read", "tensor_write", "all")


class BarrierText(IRDLOperation):
    """`ttg.barrier local`, `ttg.barrier global_read|global_write`, `ttg.barrier all`: a barrier as Triton writes it
    since 3.7, with the memory that it orders. Of shared memory alone it is a `ttg.local_barrier`, else a `gpu.barrier`.
    """

    name = "ttg.barrier"

    @classmethod
    def parse(cls, parser: Parser) -> Operation:  # pyright: ignore[reportIncompatibleMethodOverride]
        spaces = {_parse_barrier_space(parser)}
        while parser.parse_optional_punctuation("|"):
            spaces.add(_parse_barrier_space(parser))
        op = LocalBarrierOp() if spaces <= {"local", "none"} else gpu.BarrierOp()
        op.attributes.update(parser.parse_optional_attr_dict())
        return op


def _parse_barrier_space(parser: Parser) -> str:
    start = parser.pos
    name = parser.parse_identifier()
    if name not in BARRIER_SPACES:
        parser.raise_error(f"expected one of {', '.join(BARRIER_SPACES)}", start, parser.pos)
    return name


@op_definition
class GlobalScratchAllocOp(IRDLOperation):
    """Global memory of this program alone: `%p = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32}
    : !tt.ptr<i8>`.
    """

    name = "ttg.global_scratch_alloc"

    nbytes = prop_def(IntegerAttr)
    alignment = prop_def(IntegerAttr)
    result = result_def(TypeWhere("a pointer", lambda type: isinstance(type, PointerType)))

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict `:` type($result)"
    traits = traits_def(Touches(((READ, GLOBAL), (WRITE, GLOBAL))))

    def __init__(self, nbytes: int, alignment: int):
        properties = {"nbytes": i32_attr(nbytes), "alignment": i32_attr(alignment)}
        init_op(self, (), (pointer_type(i8),), properties)


@op_definition
class PredicateStageOp(IRDLOperation):
    """Whether the iteration that a pipeline stage works on exists:
    `%c = ttg.predicate_stage %iv, %ub, %step maxStage 2 stage 1 : i32 -> i1`."""

    name = "ttg.predicate_stage"

    iv = operand_def(NUMBER)
    ub = operand_def(NUMBER)
    step = operand_def(NUMBER)
    max_stage = prop_def(IntegerAttr, prop_name="maxStage")
    stage = prop_def(IntegerAttr)
    result = result_def(i1)

    assembly_format = (
        "$iv `,` $ub `,` $step `maxStage` custom<PlainInteger>($maxStage) `stage` custom<PlainInteger>($stage) "
        "attr-dict `:` type($iv) `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(self, iv: Value, ub: Value, step: Value, max_stage: int, stage: int):
        properties = {"maxStage": i32_attr(max_stage), "stage": i32_attr(stage)}
        init_op(self, values_of((iv, ub, step)), (i1,), properties)


@op_definition
class MaskOp(IRDLOperation):
    """Ops that run under a predicate: `%r = "ttg.mask"(%pred) ({ ... ttg.mask.return %x : i32 }) : (i1) -> i32`."""

    name = "ttg.mask"

    pred = operand_def(i1)
    region = region_def("single_block")
    result = var_result_def()

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(self, pred: Value, result_types: Sequence[Attribute], region: Region):
        init_op(self, (value_of(pred),), result_types, regions=(region,))

    def verify_(self) -> None:
        block = self.region.blocks.first
        terminator = None if block is None else block.last_op
        if not isinstance(terminator, MaskReturnOp):
            raise VerifyException("the region must end in 'ttg.mask.return'")
        if [value.type for value in terminator.operands] != [result.type for result in self.results]:
            raise VerifyException("the region does not return values of the result types")


@op_definition
class MaskReturnOp(IRDLOperation):
    """The values of a `ttg.mask`: `ttg.mask.return %x : i32`."""

    name = "ttg.mask.return"

    result = var_operand_def()

    assembly_format = "($result^)? attr-dict (`:` type($result)^)?"
    traits = traits_def(HasParent(MaskOp), IsTerminator(), ReturnLike(), Pure())

    def __init__(self, values: Sequence[Value] = ()):
        init_op(self, values_of(values))
