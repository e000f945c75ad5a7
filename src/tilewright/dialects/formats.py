"""Assembly formats that read ops of wrong types, so that the verifier says what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import FunctionType, MemRefType, TensorType, VectorType
from xdsl.ir import Attribute
from xdsl.irdl import (
    BaseAttr,
    OpDef,
    OperandDef,
    ParamAttrConstraint,
    RangeLengthConstraint,
    RangeOf,
    ResultDef,
    VarConstraint,
)
from xdsl.irdl.declarative_assembly_format import (
    FormatDirective,
    FormatProgram,
    OperandVariable,
    OptionalGroupDirective,
    ParsingState,
    ResultVariable,
    TypeDirective,
    VariadicOperandVariable,
)
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.types import BoolLikeOf, Derived, TypeWhere
from tilewright.ir.wording import CustomOpException
from tilewright.support.records import dataclass

NAMES: dict[type[Attribute], str] = {
    MemRefType: "memref",
    VectorType: "vector",
    TensorType: "tensor",
    FunctionType: "function",
}
"""What upstream calls its classes of types, after `builtin.`."""


class Format(FormatProgram):
    """xDSL's format, which stops at the first operand whose type breaks a constraint.

    Upstream's parsers go on, unless the type of a result is computed from that type, or the type is of another class
    than all that the constraint allows.
    """

    @classmethod
    def of(cls, text: str, definition: OpDef) -> Format:
        """Compile a format's text."""
        return cls(_with_checked_types(FormatProgram.from_str(text, definition).stmts, definition))

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


def _with_checked_types(statements: Sequence[FormatDirective], definition: OpDef) -> tuple[FormatDirective, ...]:
    """Replace directives that read types by those that say of a type what upstream does."""
    checked: list[FormatDirective] = []
    for statement in statements:
        match statement:
            case OptionalGroupDirective():
                elements = _with_checked_types(statement.then_elements, definition)
                checked.append(replace(statement, then_elements=elements))
            case TypeDirective(inner=OperandVariable() as inner):
                checked.append(_OneType(inner, _kinds_of(definition.operands[inner.index][1])))
            case TypeDirective(inner=ResultVariable() as inner):
                checked.append(_OneType(inner, _kinds_of(definition.results[inner.index][1])))
            case TypeDirective(inner=VariadicOperandVariable() as inner):
                checked.append(_SomeTypes(inner))
            case _:
                checked.append(statement)
    return tuple(checked)


@dataclass(frozen=True)
class _OneType(TypeDirective):
    """The type of an operand or result that must be of some classes, if any are named."""

    kinds: tuple[type[Attribute], ...]

    def parse(self, parser: Parser, state: ParsingState) -> None:
        at = parser._current_token.span  # pyright: ignore[reportPrivateUsage]
        super().parse(parser, state)
        types = state.operand_types if isinstance(self.inner, OperandVariable) else state.result_types
        read = types[self.inner.index]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        found = read[0] if isinstance(read, Sequence) else read
        if not self.kinds or found is None or isinstance(found, self.kinds):
            return
        reason = "invalid kind of type specified"
        if len(self.kinds) == 1:
            reason += f": expected builtin.{NAMES[self.kinds[0]]}, but found '{found}'"
        raise CustomOpException(reason, at)


class _SomeTypes(TypeDirective):
    """The types of several operands: there are some where there are operands."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        super().parse(parser, state)
        assert isinstance(self.inner, VariadicOperandVariable)
        if state.operands[self.inner.index] and not state.operand_types[self.inner.index]:
            parser.raise_error("type expected")


def _kinds_of(definition: OperandDef | ResultDef) -> tuple[type[Attribute], ...]:
    """The classes of types that a constraint allows, if upstream has one class for all of them; else none."""
    constraint: object = definition.constr
    while isinstance(constraint, RangeLengthConstraint | RangeOf | VarConstraint):
        constraint = constraint.constr if isinstance(constraint, RangeOf) else constraint.constraint
    if isinstance(constraint, TypeWhere):
        return constraint.kinds
    match constraint:
        case BaseAttr(attr=kind) if kind in NAMES:
            return (kind,)
        case ParamAttrConstraint(base_attr=kind) if kind in NAMES:
            return (kind,)
        case _:
            return ()


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
