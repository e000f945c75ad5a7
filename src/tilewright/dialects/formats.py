"""Assembly formats that read ops of wrong types, so that the verifier says what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Attribute
from xdsl.irdl import OpDef, OperandDef, RangeLengthConstraint, RangeOf, ResultDef
from xdsl.irdl.declarative_assembly_format import FormatProgram, ParsingState
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.types import BoolLikeOf, Derived
from tilewright.ir.wording import CustomOpException


class Format(FormatProgram):
    """xDSL's format, which stops at the first operand whose type breaks a constraint.

    Upstream's parsers go on, unless the type of a result is computed from that type.
    """

    def resolve_constraint_variables(self, state: ParsingState, op_def: OpDef) -> None:
        try:
            super().resolve_constraint_variables(state, op_def)
        except VerifyException:
            state.context = type(state.context)()
            self._resolve_wrong_types(state, op_def)

    def _resolve_wrong_types(self, state: ParsingState, op_def: OpDef) -> None:
        for name, definition, types in _types_that_were_read(state, op_def):
            try:
                definition.constr.verify(types, state.context)
            except VerifyException as error:
                if _computes_a_result(state, op_def):
                    raise CustomOpException(f"'{name}' {error}") from None


def _types_that_were_read(
    state: ParsingState, op_def: OpDef
) -> Iterator[tuple[str, OperandDef | ResultDef, Sequence[Attribute]]]:
    read = [*state.operand_types, *state.result_types]
    for (name, definition), types in zip([*op_def.operands, *op_def.results], read, strict=True):
        if types is not None:
            yield name, definition, (types,) if isinstance(types, Attribute) else types


def _computes_a_result(state: ParsingState, op_def: OpDef) -> bool:
    """Return whether the type of a result that was not read follows by a function from another."""
    for (_, definition), types in zip(op_def.results, state.result_types, strict=True):
        constraint: object = definition.constr
        while isinstance(constraint, RangeLengthConstraint | RangeOf):
            constraint = constraint.constraint if isinstance(constraint, RangeLengthConstraint) else constraint.constr
        if types is None and isinstance(constraint, BoolLikeOf | Derived):
            return True
    return False
