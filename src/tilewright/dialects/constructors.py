"""The constructors of ops, written from their fields.

The text of a constructor is Python, as one would write it by hand for that op, so that making an op costs no more: it
is run once, when the first op of a class is made.

```python
def __init__(self, source, index, *, nontemporal=False):
    if not isinstance(source, SSAValue):
        source = value_of(source)
    ...
    Operation.__init__(self, operands=(source, index), result_types=(t0,), properties=properties)
```
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AnyAttr, AttrSizedOperandSegments, AttrSizedResultSegments, VarConstraint

from tilewright.dialects.construction import region_of, segment_sizes, split_mixed, value_of, values_of
from tilewright.dialects.fields import REQUIRED, Field, FieldKind, fields_of
from tilewright.dialects.types import BoolLikeOf, Derived, bool_like
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from tilewright.dialects.definition import Op

PARAMETERS = frozenset(FieldKind) - {FieldKind.INFERRED, FieldKind.INFERRED_RESULTS, FieldKind.INTERNAL}
OPERANDS = (FieldKind.OPERAND, FieldKind.OPTIONAL_OPERAND, FieldKind.OPERANDS, FieldKind.MIXED)
RESULTS = (
    FieldKind.RESULT,
    FieldKind.OPTIONAL_RESULT,
    FieldKind.RESULTS,
    FieldKind.INFERRED,
    FieldKind.INFERRED_RESULTS,
)
REGIONS = (FieldKind.REGION, FieldKind.REGIONS)
SINGLE = (FieldKind.OPERAND, FieldKind.RESULT, FieldKind.INFERRED, FieldKind.REGION)

TO_VALUES = {
    FieldKind.OPTIONAL_OPERAND: "{0} = () if {0} is None else (value_of({0}),)",
    FieldKind.OPERANDS: "{0} = values_of({0})",
    FieldKind.MIXED: "{1}, {0} = split_mixed({0})",
    FieldKind.OPTIONAL_RESULT: "{0} = () if {0} is None else ({0},)",
    FieldKind.REGION: "{0} = region_of({0})",
}
"""What makes of an argument what the op holds; of a mixed list, `{1}` is the static part."""

NAMES: dict[str, Any] = {
    "Operation": Operation,
    "SSAValue": SSAValue,
    "region_of": region_of,
    "segment_sizes": segment_sizes,
    "split_mixed": split_mixed,
    "value_of": value_of,
    "values_of": values_of,
}
"""What the texts of constructors use."""


def write_constructor(cls: type[Op]) -> Callable[..., None]:
    """Return the constructor of an op class."""
    writer = _Writer(cls, fields_of(cls))
    text = writer.text()
    exec(compile(text, f"<constructor of {cls.__qualname__}>", "exec"), writer.names)
    constructor: Callable[..., None] = writer.names["__init__"]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    setattr(constructor, "is_written", True)  # noqa: B010
    return constructor


@dataclass
class _Writer:
    cls: type[Op]
    fields: Mapping[str, Field]
    names: dict[str, Any] = dataclasses.field(default_factory=lambda: dict(NAMES))

    def text(self) -> str:
        required = ", ".join(f"{name!r}: {value}" for name, value in sorted(self._required_properties()))
        optional = [
            line for name, field in self._of(FieldKind.PROPERTY) for line in self._optional_property(name, field)
        ]
        given = {
            "operands": self._join(OPERANDS),
            "result_types": self._join(RESULTS),
            "properties": "properties" if optional else required and f"{{{required}}}",
            "regions": self._join(REGIONS),
        }
        lines = [
            *(
                f"if not isinstance({name}, SSAValue): {name} = value_of({name})"
                for name, _ in self._of(FieldKind.OPERAND)
            ),
            *self._types(),
            *(TO_VALUES[field.kind].format(name, field.name) for name, field in self._of(*TO_VALUES)),
            *([f"properties = {{{required}}}", *optional] if optional else []),
            f"Operation.__init__(self, {', '.join(f'{name}={text}' for name, text in given.items() if text)})",
        ]
        return f"def __init__({self._parameters()}):\n    " + "\n    ".join(lines)

    def _of(self, *kinds: FieldKind) -> Iterator[tuple[str, Field]]:
        return ((name, field) for name, field in self.fields.items() if field.kind in kinds)

    def _constant(self, name: str, value: object) -> str:
        self.names[name] = value
        return name

    def _parameters(self) -> str:
        positional, named = ["self"], list[str]()
        for name, field in self._of(*PARAMETERS):
            default = "" if field.default is REQUIRED else "=" + self._constant(f"default_{name}", field.default)
            (named if field.kw_only else positional).append(name + default)
        return ", ".join([*positional, "*", *named] if named else positional)

    def _join(self, kinds: tuple[FieldKind, ...]) -> str:
        terms = [_term(name, field) for name, field in self._of(*kinds)]
        return f"({', '.join(terms)},)" if terms else ""

    def _types(self) -> Iterator[str]:
        """The types of results that follow from the arguments, as these were given."""
        for name, field in self._of(FieldKind.INFERRED):
            yield f"{name} = {self._inferred(name, field)}"
        for name, field in self._of(FieldKind.RESULT):
            if field.default is None:
                yield f"if {name} is None: {name} = {self._inferred(name, field)}"

    def _inferred(self, name: str, field: Field) -> str:
        of = (field.of,) if isinstance(field.of, str) else field.of
        sources = [f"{source}.type" if self.fields[source].kind is FieldKind.OPERAND else source for source in of]
        if field.by is not None:
            return f"{self._constant(f'type_of_{name}', field.by)}({', '.join(sources)})"
        return sources[0] if sources else self._type_by(name, field.constraint)

    def _type_by(self, name: str, constraint: object) -> str:
        """The type that a constraint leaves alone possible."""
        match constraint:
            case Attribute():
                return self._constant(f"type_of_{name}", constraint)
            case VarConstraint(name=variable):
                for operand, field in self._of(FieldKind.OPERAND):
                    if getattr(field.constraint, "name", None) == variable:
                        return f"{operand}.type"
            case Derived():
                source = self._type_by(name, VarConstraint(constraint.variable, AnyAttr()))
                return f"{self._constant(f'type_of_{name}', constraint.function)}({source})"
            case BoolLikeOf():
                return f"{self._constant('bool_like', bool_like)}({self._type_by(name, constraint.shaped)})"
            case _:
                pass
        raise TypeError(f"{self.cls.__name__}.{name}: its type does not follow from its constraint; say `of` and `by`")

    def _required_properties(self) -> Iterator[tuple[str, str]]:
        for name, field in self._of(FieldKind.PROPERTY):
            if not field.is_optional:
                yield field.name or name, self._property(name, field)
        for _, field in self._of(FieldKind.MIXED):
            yield field.name, field.name
        for option in self.cls.get_irdl_definition().options:
            if isinstance(option, (AttrSizedOperandSegments, AttrSizedResultSegments)):
                kinds = OPERANDS if isinstance(option, AttrSizedOperandSegments) else RESULTS
                sizes = ("1" if field.kind in SINGLE else f"len({name})" for name, field in self._of(*kinds))
                yield option.attribute_name, f"segment_sizes({', '.join(sizes)})"

    def _property(self, name: str, field: Field) -> str:
        if field.converter is None:
            return name
        converted = f"{self._constant(f'to_{name}', field.converter)}({name})"
        if field.default is REQUIRED:
            return converted
        default = self._constant(f"converted_default_{name}", field.converter(field.default))
        return f"{default} if {name} is default_{name} else {converted}"

    def _optional_property(self, name: str, field: Field) -> Iterator[str]:
        """A property that the op lacks where the argument says what holds without it, as most defaults do."""
        if not field.is_optional:
            return
        default = field.default if field.converter is None else field.converter(field.default)
        missing, indent = self._constant(f"missing_{name}", field.default_value), ""
        if default is None or default == field.default_value:
            yield f"if {name} is not {self._constant(f'default_{name}', field.default)}:"
            indent = "    "
        if field.converter is not None:
            yield f"{indent}{name} = {self._constant(f'to_{name}', field.converter)}({name})"
        yield f"{indent}if {name} is not None and {name} != {missing}:"
        yield f"{indent}    properties[{field.name or name!r}] = {name}"


def _term(name: str, field: Field) -> str:
    """Return the source of what a field adds to a tuple of operands, types or regions."""
    if field.kind is FieldKind.INFERRED_RESULTS:
        return f"*[value.type for value in {field.of}]"
    return name if field.kind in SINGLE else f"*{name}"
