"""What an op class declares: operands, results, properties and regions, one field each.

A field says three things at once: what the verifier checks (its constraint), what `op.field` gives, and which parameter
of the constructor fills it. The constructor is written from the fields (`dialects.constructors`), and a type checker
derives the same signature from the same lines, by PEP 681: parameters come in the order of the fields, those of
properties are by keyword where the field says `kw_only`, and a result whose type follows from the operands has none.

```python
class DimOp(Op):
    source: Operand = operand_def(ANY_MEMREF)
    index: Operand = operand_def(INDEX)
    result: Result = inferred_result_def(INDEX)

DimOp(source, index)
```

Fields bear the names of xDSL's, and are xDSL's with a note attached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import Any, Generic, Literal, NoReturn, overload

from typing_extensions import TypeVar
from xdsl import irdl
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, SSAValues
from xdsl.irdl import AttrConstraint

from tilewright.dialects.construction import MixedIndex, Value
from tilewright.support.records import dataclass

Constraint = AttrConstraint | Attribute | type[Attribute]
TypeT = TypeVar("TypeT", bound=Attribute, default=Attribute, covariant=True)
I64Array = DenseArrayBase[IntegerType]
"""``array<i64: 4, 8>``."""


class FieldKind(Enum):
    """What a field holds, and so how the constructor fills it."""

    OPERAND = auto()
    OPTIONAL_OPERAND = auto()
    OPERANDS = auto()
    MIXED = auto()
    """Operands for the entries of a list that are not static; these are in a property beside it."""
    RESULT = auto()
    OPTIONAL_RESULT = auto()
    RESULTS = auto()
    INFERRED = auto()
    """A result whose type is not a parameter."""
    INFERRED_RESULTS = auto()
    """Results of the types of other values."""
    PROPERTY = auto()
    INTERNAL = auto()
    """A property that is not a parameter."""
    REGION = auto()
    REGIONS = auto()


class _Required:
    """The default of a parameter without one."""


REQUIRED = _Required()


@dataclass(frozen=True)
class Field:
    """What the constructor knows of a field."""

    kind: FieldKind
    constraint: Any
    default: Any = REQUIRED
    kw_only: bool = False
    converter: Callable[[Any], Attribute | None] | None = None
    """From the argument to what the property holds; None leaves the property out."""
    of: str | tuple[str, ...] = ()
    """The fields that an inferred type follows from."""
    by: Callable[..., Attribute] | None = None
    """From the types of those that are operands, and the arguments for the others, to the inferred type."""
    is_optional: bool = False
    """Whether the op may lack the property."""
    default_value: Attribute | None = None
    """What such a property means when it is not there."""
    name: str = ""
    """The property's name in the IR, where it is not the field's; of a mixed list, that of its static part."""


class _Accessor(Generic[TypeT]):
    """How a type checker sees a field: what reading it gives; what the constructor takes is what `__set__` does."""


class Operand(_Accessor[TypeT]):
    """One operand."""

    @overload
    def __get__(self, op: None, owner: type) -> Operand[TypeT]: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> SSAValue[TypeT]: ...
    def __get__(self, op: Any, owner: type) -> Any: ...
    def __set__(self, op: Operation, value: Value) -> NoReturn: ...


class OptionalOperand(_Accessor[TypeT]):
    """An operand that may be absent."""

    @overload
    def __get__(self, op: None, owner: type) -> OptionalOperand[TypeT]: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> SSAValue[TypeT] | None: ...
    def __get__(self, op: Any, owner: type) -> Any: ...
    def __set__(self, op: Operation, value: Value | None) -> NoReturn: ...


class Operands(_Accessor[TypeT]):
    """Any number of operands."""

    @overload
    def __get__(self, op: None, owner: type) -> Operands[TypeT]: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> SSAValues[SSAValue[TypeT]]: ...
    def __get__(self, op: Any, owner: type) -> Any: ...
    def __set__(self, op: Operation, value: Sequence[Value]) -> NoReturn: ...


class MixedOperands(_Accessor[TypeT]):
    """The operands among the entries of a list such as ``[4, %n]``."""

    @overload
    def __get__(self, op: None, owner: type) -> MixedOperands[TypeT]: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> SSAValues[SSAValue[TypeT]]: ...
    def __get__(self, op: Any, owner: type) -> Any: ...
    def __set__(self, op: Operation, value: Sequence[MixedIndex]) -> NoReturn: ...


class Result(_Accessor[TypeT]):
    """One result; the constructor takes its type."""

    @overload
    def __get__(self, op: None, owner: type) -> Result[TypeT]: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> OpResult[TypeT]: ...
    def __get__(self, op: Any, owner: type) -> Any: ...
    def __set__(self, op: Operation, value: Attribute) -> NoReturn: ...


class InferableResult(Result[TypeT]):
    """A result whose type may be left out."""

    def __set__(self, op: Operation, value: Attribute | None) -> NoReturn: ...


class OptionalResult(_Accessor[TypeT]):
    """A result that may be absent."""

    @overload
    def __get__(self, op: None, owner: type) -> OptionalResult[TypeT]: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> OpResult[TypeT] | None: ...
    def __get__(self, op: Any, owner: type) -> Any: ...
    def __set__(self, op: Operation, value: Attribute | None) -> NoReturn: ...


class Results(_Accessor[TypeT]):
    """Any number of results; the constructor takes their types."""

    @overload
    def __get__(self, op: None, owner: type) -> Results[TypeT]: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> SSAValues[OpResult[TypeT]]: ...
    def __get__(self, op: Any, owner: type) -> Any: ...
    def __set__(self, op: Operation, value: Sequence[Attribute]) -> NoReturn: ...


class Body:
    """A region; the constructor takes one block or a list of ops as well."""

    @overload
    def __get__(self, op: None, owner: type) -> Body: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> Region: ...
    def __get__(self, op: Any, owner: type) -> Any: ...
    def __set__(self, op: Operation, value: Region | Block | Sequence[Operation]) -> NoReturn: ...


class Bodies:
    """Any number of regions."""

    @overload
    def __get__(self, op: None, owner: type) -> Bodies: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> tuple[Region, ...]: ...
    def __get__(self, op: Any, owner: type) -> Any: ...
    def __set__(self, op: Operation, value: Sequence[Region]) -> NoReturn: ...


def _noted(definition: Any, field: Field) -> Any:
    definition.field = field
    return definition


_FIELDS: dict[type[Operation], Mapping[str, Field]] = {}


def note_fields(cls: type[Operation]) -> None:
    """Remember the fields of a class, before xDSL puts accessors in their stead: the bases' first, as PEP 681 has
    it."""
    fields = {name: field for base in reversed(cls.__mro__[1:]) for name, field in _FIELDS.get(base, {}).items()}
    noted = ((name, getattr(value, "field", None)) for name, value in vars(cls).items())
    fields |= {name: field for name, field in noted if isinstance(field, Field)}
    _FIELDS[cls] = fields


def fields_of(cls: type[Operation]) -> Mapping[str, Field]:
    """The fields of a class, in the order of the constructor's parameters."""
    return _FIELDS[cls]


def operations_of(package: str) -> list[type[Operation]]:
    """All ops that a module, or the modules of a package, define."""
    return [
        cls
        for cls in _FIELDS
        if "name" in vars(cls) and (cls.__module__ == package or cls.__module__.startswith(f"{package}."))
    ]


def operand_def(constraint: Constraint = Attribute) -> Any:
    """An `Operand`."""
    return _noted(irdl.operand_def(constraint), Field(FieldKind.OPERAND, constraint))


def opt_operand_def(constraint: Constraint = Attribute, *, default: None = None, kw_only: bool = False) -> Any:
    """An `OptionalOperand`."""
    return _noted(
        irdl.opt_operand_def(constraint), Field(FieldKind.OPTIONAL_OPERAND, constraint, default, kw_only=kw_only)
    )


def var_operand_def(constraint: Any = Attribute, *, default: Any = REQUIRED, kw_only: bool = False) -> Any:
    """`Operands`."""
    return _noted(irdl.var_operand_def(constraint), Field(FieldKind.OPERANDS, constraint, default, kw_only))


def mixed_operand_def(static: str, constraint: Constraint, *, default: Any = REQUIRED) -> Any:
    """`MixedOperands`; `static` names the property of the static entries."""
    return _noted(irdl.var_operand_def(constraint), Field(FieldKind.MIXED, constraint, default, name=static))


def result_def(
    constraint: Constraint = Attribute,
    *,
    default: Any = REQUIRED,
    of: str | tuple[str, ...] = (),
    by: Callable[..., Attribute] | None = None,
    kw_only: bool = False,
) -> Any:
    """A `Result` whose type the constructor takes; an `InferableResult` with a default of None."""
    return _noted(irdl.result_def(constraint), Field(FieldKind.RESULT, constraint, default, kw_only, of=of, by=by))


def inferred_result_def(
    constraint: Constraint = Attribute,
    *,
    of: str | tuple[str, ...] = (),
    by: Callable[..., Attribute] | None = None,
    init: Literal[False] = False,
) -> Any:
    """A `Result` whose type follows: from the constraint (a type, or a variable that an operand's constraint has, too),
    from an operand that it is like (`of`), or `by` a function of the types of the operands, and of other arguments,
    that `of` names."""
    return _noted(irdl.result_def(constraint), Field(FieldKind.INFERRED, constraint, of=of, by=by))


def inferred_results_def(constraint: Any = Attribute, *, of: str, init: Literal[False] = False) -> Any:
    """`Results` of the types of the `Operands` that `of` names."""
    return _noted(irdl.var_result_def(constraint), Field(FieldKind.INFERRED_RESULTS, constraint, of=of))


def opt_result_def(constraint: Constraint = Attribute, *, default: None = None) -> Any:
    """An `OptionalResult`."""
    return _noted(irdl.opt_result_def(constraint), Field(FieldKind.OPTIONAL_RESULT, constraint, default))


def var_result_def(constraint: Any = Attribute, *, default: Any = REQUIRED) -> Any:
    """`Results`."""
    return _noted(irdl.var_result_def(constraint), Field(FieldKind.RESULTS, constraint, default))


def prop_def(
    constraint: Any = Attribute,
    default_value: Attribute | None = None,
    *,
    prop_name: str | None = None,
    default: Any = REQUIRED,
    kw_only: bool = False,
    converter: Callable[[Any], Attribute] | None = None,
) -> Any:
    """A property. `default_value` is what it holds where the text has none, `default` the parameter's."""
    return _noted(
        irdl.prop_def(constraint, default_value, prop_name=prop_name),
        Field(FieldKind.PROPERTY, constraint, default, kw_only, converter, name=prop_name or ""),
    )


def internal_prop_def(
    constraint: Any = Attribute,
    default_value: Attribute | None = None,
    *,
    prop_name: str | None = None,
    init: Literal[False] = False,
) -> Any:
    """A property that the constructor does not take: it has a default, or is the static part of a mixed list."""
    return _noted(irdl.prop_def(constraint, default_value, prop_name=prop_name), Field(FieldKind.INTERNAL, constraint))


def opt_prop_def(
    constraint: Any = Attribute,
    default_value: Attribute | None = None,
    *,
    prop_name: str | None = None,
    default: Any = None,
    kw_only: bool = True,
    converter: Callable[[Any], Attribute | None] | None = None,
) -> Any:
    """A property that may be absent."""
    made: Any = irdl.opt_prop_def(constraint, prop_name=prop_name)
    made.default_value = default_value
    field = Field(FieldKind.PROPERTY, constraint, default, kw_only, converter, name=prop_name or "")
    return _noted(made, replace(field, is_optional=True, default_value=default_value))


def region_def(single_block: Literal["single_block"] | None = None) -> Any:
    """A `Body`."""
    return _noted(irdl.region_def(single_block), Field(FieldKind.REGION, None))


def var_region_def(single_block: Literal["single_block"] | None = None, *, default: Any = REQUIRED) -> Any:
    """`Bodies`."""
    return _noted(irdl.var_region_def(single_block), Field(FieldKind.REGIONS, None, default))
