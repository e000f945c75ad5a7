"""Bringing memory into the caches ahead of its use."""

from __future__ import annotations

from xdsl.dialects.builtin import I32, BoolAttr, IntegerAttr, i32
from xdsl.ir import SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import i32_attr
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operand, Operands, operand_def, prop_def, var_operand_def
from tilewright.dialects.text import write
from tilewright.dialects.types import ANY_MEMREF, INDEX, as_memref

MOST_LOCAL = 3
"""Locality of data for the cache next to the core; 0 means no reuse."""


class PrefetchOp(Op):
    """``memref.prefetch %m[%i], read, locality<3>, data : memref<?xf32>``: a hint; any address will do."""

    name = "memref.prefetch"

    memref: Operand = operand_def(ANY_MEMREF)
    indices: Operands = var_operand_def(INDEX)
    is_write: BoolAttr = prop_def(
        BoolAttr, prop_name="isWrite", default=False, converter=BoolAttr.from_bool, kw_only=True
    )
    locality_hint: IntegerAttr = prop_def(
        IntegerAttr[I32], prop_name="localityHint", default=MOST_LOCAL, converter=i32_attr, kw_only=True
    )
    is_data_cache: BoolAttr = prop_def(
        BoolAttr, prop_name="isDataCache", default=True, converter=BoolAttr.from_bool, kw_only=True
    )

    # As upstream: no pass may move or drop it.
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def verify_(self) -> None:
        if as_memref(self.operands[0].type).get_num_dims() != len(self.operands) - 1:
            raise VerifyException("incorrect number of indices")
        if not 0 <= self.locality_hint.value.data <= MOST_LOCAL:
            raise VerifyException(f"locality {self.locality_hint.value.data} is not between 0 and {MOST_LOCAL}")

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_ssa_value)
        access = "write" if self.is_write.value.data else "read"
        cache = "data" if self.is_data_cache.value.data else "instr"
        printer.print_string(f", {access}, locality<{self.locality_hint.value.data}>, {cache}")
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", self.memref.type)

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
