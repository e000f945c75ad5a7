"""The type of MLIR's `ptr` dialect: a pointer that does not say what it points to."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


@irdl_attr_definition
class PtrType(ParametrizedAttribute, TypeAttribute):
    """``!ptr.ptr<#tptr.default_memory_space>``: an address in a memory space."""

    name = "ptr.ptr"

    memory_space: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (parser.parse_attribute(),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.memory_space)


Ptr = Dialect("ptr", [], [PtrType])
"""The dialect, to be loaded into a context."""
