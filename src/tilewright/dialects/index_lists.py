"""Lists of constants and values, ``[4, %n]``, with what upstream says where they are wrong."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, i64
from xdsl.dialects.utils import DynamicIndexList as XdslIndexList
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    ParsingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.exceptions import ParseError

from tilewright.ir.wording import CustomOpException


@irdl_custom_directive
class DynamicIndexList(XdslIndexList):
    """As xDSL's, whose errors do not say what is read."""

    dynamic_position: VariadicOperandVariable
    static_position: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        try:
            entries = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: _parse_entry(parser), " in dynamic index list"
            )
        except (ParseError, CustomOpException) as error:
            raise CustomOpException("expected SSA value or integer") from error
        values = [entry for entry in entries if isinstance(entry, UnresolvedOperand)]
        constants = [entry if isinstance(entry, int) else DYNAMIC_INDEX for entry in entries]
        self.dynamic_position.set(state, values)
        self.static_position.set(state, DenseArrayBase.from_list(i64, constants))


def _parse_entry(parser: Parser) -> int | UnresolvedOperand:
    value = parser.parse_optional_unresolved_operand()
    if value is not None:
        return value
    at = parser._current_token.span  # pyright: ignore[reportPrivateUsage]
    constant = parser.parse_optional_integer()
    if constant is None:
        raise CustomOpException("expected integer value", at)
    if not -(1 << 63) <= constant < 1 << 63:
        raise CustomOpException("integer value too large", at)
    return constant
