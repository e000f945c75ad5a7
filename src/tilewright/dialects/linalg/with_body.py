"""Linalg ops whose loops are known from their name but whose body is given: reduce and map."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IRDLOperation, SameVariadicOperandSize, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from tilewright.dialects.construction import Value, index_array, init_op, static_values, value_of, values_of
from tilewright.dialects.fields import I64Array, Operand, Operands, operand_def, prop_def, var_operand_def
from tilewright.dialects.linalg.attributes import IteratorType
from tilewright.dialects.linalg.generic import YieldOp
from tilewright.dialects.linalg.structured import StructuredOp, StructuredOpEffects, entry_block, tensor_result_types
from tilewright.dialects.text import parse_dims, parse_ins_and_outs, print_ins_and_outs, write
from tilewright.dialects.types import I64_ARRAY, shape_of


def _parse_short_form(parser: Parser) -> tuple[type[Operation], dict[str, Attribute]] | None:
    """``{ arith.addf }``: the one op that is the body, with its attributes."""
    if parser.parse_optional_punctuation("{") is None:
        return None
    position = parser.pos
    name = parser.parse_identifier()
    op_class = parser.ctx.get_optional_op(name)
    if op_class is None:
        parser.raise_error(f"operation {name} is not registered", position, parser.pos)
    attributes = dict(parser.parse_optional_attr_dict())
    parser.parse_punctuation("}")
    return op_class, attributes


def _payload_body(
    short: tuple[type[Operation], dict[str, Attribute]], block: Block, operands: Sequence[SSAValue], result: Attribute
) -> Region:
    """The body that a short form stands for."""
    op_class, attributes = short
    known = op_class.get_irdl_definition().properties if issubclass(op_class, IRDLOperation) else {}
    payload = op_class.create(
        operands=operands,
        result_types=(result,),
        properties={name: attr for name, attr in attributes.items() if name in known},
        attributes={name: attr for name, attr in attributes.items() if name not in known},
    )
    block.add_ops((payload, YieldOp(payload)))
    return Region(block)


def _find_payload(body: Block, operands: Sequence[SSAValue]) -> Operation | None:
    """The only op of a body, if it takes exactly these arguments in this order and is what the body yields."""
    payload, terminator = body.first_op, body.last_op
    if payload is None or terminator is None or payload.next_op is not terminator or len(payload.results) != 1:
        return None
    if not operands or tuple(payload.operands) != tuple(operands) or payload.regions:
        return None
    return payload if tuple(terminator.operands) == tuple(payload.results) else None


def _print_short_form(printer: Printer, payload: Operation) -> None:
    printer.print_string(f" {{ {payload.name}")
    noise = (FastMathFlagsAttr, IntegerOverflowAttr)
    attributes = payload.properties | payload.attributes
    shown = {k: v for k, v in attributes.items() if not (isinstance(v, noise) and not v.data)}
    printer.print_op_attributes(shown)
    printer.print_string(" }")


def _parse_body(parser: Parser) -> Region:
    """``(%in: f32, %init: f32) { ... }``."""
    arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
    return parser.parse_region(arguments)


def _print_body(printer: Printer, body: Region) -> None:
    """On a line of its own, indented once more, as upstream puts it."""
    with printer.indented():
        write(printer, "\n", "(")
        for position, argument in enumerate(body.block.args):
            printer.print_string(", " if position else "")
            printer.print_block_argument(argument, print_type=False)
            write(printer, ": ", argument.type)
        printer.print_string(") ")
        printer.print_region(body, print_entry_block_args=False)


class ReduceOp(StructuredOp):
    """``%r = linalg.reduce ins(%x : tensor<4x8xf32>) outs(%i : tensor<4xf32>) dimensions = [1] (%in: f32, %init: f32)
    { ... }``.

    Combines along dimensions, several inputs at once if need be (a maximum and its index). Inputs and destinations
    may differ in element type.
    """

    name = "linalg.reduce"

    inputs: Operands = var_operand_def()
    outputs: Operands = var_operand_def()
    dimensions: I64Array = prop_def(I64_ARRAY)

    irdl_options = (SameVariadicOperandSize(),)

    traits = traits_def(StructuredOpEffects())

    def __init__(
        self,
        inputs: Sequence[Value] | Value,
        inits: Sequence[Value] | Value,
        dimensions: Sequence[int],
        body: Region | Block,
    ) -> None:
        ins = values_of(inputs) if isinstance(inputs, Sequence) else [value_of(inputs)]
        outs = values_of(inits) if isinstance(inits, Sequence) else [value_of(inits)]
        properties = {"dimensions": index_array(tuple(dimensions))}
        region = body if isinstance(body, Region) else Region(body)
        init_op(self, [*ins, *outs], tensor_result_types(outs), properties, regions=(region,))

    @staticmethod
    def body_block(inputs: Sequence[SSAValue], inits: Sequence[SSAValue]) -> Block:
        """An empty body for these operands: arguments `%in` and `%init`."""
        return entry_block(inputs, inits, "init")

    @property
    def dimension_values(self) -> tuple[int, ...]:
        """The reduced dimensions as integers."""
        return static_values(self.dimensions)

    @property
    def maps(self) -> Sequence[AffineMap]:
        rank = len(shape_of(self.operands[0].type) or ())
        kept = tuple(AffineExpr.dimension(dim) for dim in range(rank) if dim not in self.dimension_values)
        return [AffineMap.identity(rank)] * len(self.inputs) + [AffineMap(rank, 0, kept)] * len(self.outputs)

    @property
    def iterators(self) -> Sequence[IteratorType]:
        rank = len(shape_of(self.operands[0].type) or ())
        reduced = self.dimension_values
        return [IteratorType.REDUCTION if dim in reduced else IteratorType.PARALLEL for dim in range(rank)]

    def verify_(self) -> None:
        if not self.operands:
            raise VerifyException("expected at least one input")
        dims, rank = self.dimension_values, len(shape_of(self.operands[0].type) or ())
        if list(dims) != sorted(set(dims)) or any(not 0 <= dim < rank for dim in dims):
            raise VerifyException("reduction dimensions must be increasing and dimensions of the input")
        init_rank = len(shape_of(self.outputs[0].type) or ())
        if rank - len(dims) != init_rank:
            raise VerifyException(
                f"number of dimensions after reduction {rank - len(dims)} doesn't match the init rank {init_rank}"
            )
        self.verify_structure()

    @classmethod
    def parse(cls, parser: Parser) -> ReduceOp:
        short = _parse_short_form(parser)
        inputs, inits = parse_ins_and_outs(parser)
        dimensions = parse_dims(parser, "dimensions")
        attributes = parser.parse_optional_attr_dict()
        if short is None:
            body = _parse_body(parser)
        else:
            block = cls.body_block(inputs, inits)
            body = _payload_body(short, block, (*block.args[1:], block.args[0]), block.args[-1].type)
        op = cls(inputs, inits, dimensions, body)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        block = self.body.block
        payload = _find_payload(block, (*block.args[1:], *block.args[:1]))
        if payload is not None:
            _print_short_form(printer, payload)
        print_ins_and_outs(printer, self.inputs, self.outputs)
        printer.print_string(f" dimensions = {list(self.dimension_values)} ")
        printer.print_op_attributes(self.attributes)
        if payload is None:
            _print_body(printer, self.body)


class MapOp(StructuredOp):
    """``%r = linalg.map { arith.addf } ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)``: element
    by element."""

    name = "linalg.map"

    inputs: Operands = var_operand_def()
    init: Operand = operand_def()

    traits = traits_def(StructuredOpEffects())

    def __init__(self, inputs: Sequence[Value], init: Value, body: Region | Block) -> None:
        init = value_of(init)
        region = body if isinstance(body, Region) else Region(body)
        init_op(self, [*values_of(inputs), init], tensor_result_types((init,)), regions=(region,))

    @property
    def maps(self) -> Sequence[AffineMap]:
        return [AffineMap.identity(len(self.iterators))] * len(self.operands)

    @property
    def iterators(self) -> Sequence[IteratorType]:
        return (IteratorType.PARALLEL,) * len(shape_of(self.operands[-1].type) or ())

    @property
    def outputs(self) -> Sequence[SSAValue]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return (self.operands[-1],)

    def verify_(self) -> None:
        init = shape_of(self.init.type) or ()
        for value in self.inputs:
            if (shape := shape_of(value.type) or ()) != init:
                listed = ", ".join(map(str, shape)), ", ".join(map(str, init))
                raise VerifyException(f"expected shape of input ({listed[0]}) to match shape of output ({listed[1]})")
        self.verify_structure()

    @classmethod
    def parse(cls, parser: Parser) -> MapOp:
        short = _parse_short_form(parser)
        inputs, inits = parse_ins_and_outs(parser)
        if len(inits) != 1:
            parser.raise_error("expected one output")
        attributes = parser.parse_optional_attr_dict()
        if short is None:
            body = _parse_body(parser)
        else:
            block = entry_block(inputs, inits, "init")
            body = _payload_body(short, block, block.args[:-1], block.args[-1].type)
        op = cls(inputs, inits[0], body)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        payload = _find_payload(self.body.block, self.body.block.args[:-1])
        if payload is not None:
            _print_short_form(printer, payload)
        print_ins_and_outs(printer, self.inputs, self.outputs)
        printer.print_op_attributes(self.attributes)
        if payload is None:
            _print_body(printer, self.body)
