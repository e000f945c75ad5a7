"""Bringing memory into the caches ahead of its use."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import I32, BoolAttr, IntegerAttr, i32
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, operand_def, prop_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, value_of, values_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.types import ANY_MEMREF, INDEX, as_memref

MOST_LOCAL = 3
"""Locality of data for the cache next to the core; 0 means no reuse."""


@op_definition
class PrefetchOp(IRDLOperation):
    """``memref.prefetch %m[%i], read, locality<3>, data : memref<?xf32>``: a hint; any address will do."""

    name = "memref.prefetch"

    memref = operand_def(ANY_MEMREF)
    indices = var_operand_def(INDEX)
    is_write = prop_def(BoolAttr, prop_name="isWrite")
    locality_hint = prop_def(IntegerAttr[I32], prop_name="localityHint")
    is_data_cache = prop_def(BoolAttr, prop_name="isDataCache")

    # As upstream: no pass may move or drop it.
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, memref: Value, indices: Sequence[Value], *, is_write: bool = False, locality: int = MOST_LOCAL
    ) -> None:
        properties = {
            "isWrite": BoolAttr.from_bool(is_write),
            "localityHint": IntegerAttr(locality, i32),
            "isDataCache": BoolAttr.from_bool(True),
        }
        init_op(self, [value_of(memref), *values_of(indices)], (), properties)

    def verify_(self) -> None:
        if as_memref(self.operands[0].type).get_num_dims() != len(self.operands) - 1:
            raise VerifyException("incorrect number of indices")
        if not 0 <= self.locality_hint.value.data <= MOST_LOCAL:
            raise VerifyException(f"locality {self.locality_hint.value.data} is not between 0 and {MOST_LOCAL}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_ssa_value)
        access = "write" if self.is_write.value.data else "read"
        cache = "data" if self.is_data_cache.value.data else "instr"
        printer.print_string(f", {access}, locality<{self.locality_hint.value.data}>, {cache}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        base = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
        parser.parse_punctuation(",")
        is_write = _keyword(parser, "read", "write") == "write"
        parser.parse_punctuation(",")
        parser.parse_keyword("locality")
        parser.parse_punctuation("<")
        locality = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_punctuation(">")
        parser.parse_punctuation(",")
        is_data = _keyword(parser, "data", "instr") == "data"
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        memref: SSAValue = parser.resolve_operand(base, parser.parse_type())
        op = cls(memref, [parser.resolve_operand(index, INDEX) for index in indices], is_write=is_write)
        op.properties |= {"localityHint": IntegerAttr(locality, i32), "isDataCache": BoolAttr.from_bool(is_data)}
        op.attributes = attributes
        return op


def _keyword(parser: Parser, first: str, second: str) -> str:
    if parser.parse_optional_keyword(first) is not None:
        return first
    parser.parse_keyword(second)
    return second
