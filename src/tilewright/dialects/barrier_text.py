"""How barriers are written: since Triton 3.7 as `ttg.barrier` with the memory they order, before by other names."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.definition import Op
from tilewright.ir.printing import HasTextName
from tilewright.support.triton_version import is_before

_ONE_NAME_SINCE = "3.7"


class VersionedBarrier(Op, HasTextName):
    """`ttg.barrier local`, or the op's own name where an older Triton is stood in for."""

    SPACE: ClassVar[str] = ""

    def has_one_name(self) -> bool:
        """Is it written as `ttg.barrier`?"""
        return not is_before(_ONE_NAME_SINCE)

    def text_name(self) -> str:
        return "ttg.barrier" if self.has_one_name() else self.name

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse what follows the op's own name; `ttg.barrier` is read by `ttg.control.BarrierText`."""
        op = cls()
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        if self.has_one_name():
            printer.print_string(f" {self.SPACE}")
        printer.print_op_attributes(self.attributes)
