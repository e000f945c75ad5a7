"""Attributes that are one word of an enumeration, in angle brackets: ``#vector.kind<add>``."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar, cast, get_args

from xdsl.ir import Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

WordT = TypeVar("WordT", bound=StrEnum)


class WordAttr(Data[WordT], Generic[WordT]):
    """The base of such attributes; a class names its enumeration, `class KindAttr(WordAttr[Kind])`."""

    words: ClassVar[type[StrEnum]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        (cls.words,) = get_args(cls.__dict__["__orig_bases__"][0])

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> WordT:
        with parser.in_angle_brackets():
            return cast("WordT", parser.parse_str_enum(cls.words))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)
