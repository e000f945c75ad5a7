"""Promises of the user: `tt.contiguity`, `tt.divisibility` and `tt.constancy` on ops and arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from tilewright.analysis.axis_info.lattice import AxisInfo, power_of_two_in, shape_of
from tilewright.dialects import tt

NAMES = {"contiguity": "tt.contiguity", "divisibility": "tt.divisibility", "constancy": "tt.constancy"}


def _numbers(attribute: Attribute | None, rank: int) -> tuple[int, ...] | None:
    """The numbers of a hint, one per dimension, as powers of two."""
    match attribute:
        case IntegerAttr():
            values: Sequence[int] = (attribute.value.data,)
        case DenseIntOrFPElementsAttr():
            values = [value for value in attribute.get_values() if isinstance(value, int)]
        case _:
            return None
    if len(values) == 1:
        values = tuple(values) * rank
    if len(values) != rank or any(value <= 0 for value in values):
        return None
    return tuple(power_of_two_in(value) for value in values)


def with_attributes(info: AxisInfo, attributes: Mapping[str, Attribute], shape: Sequence[int]) -> AxisInfo:
    """Facts with what the attributes promise in their place."""
    promised: dict[str, tuple[int, ...]] = {}
    for field, name in NAMES.items():
        numbers = _numbers(attributes.get(name), info.rank)
        if numbers is None:
            continue
        if field != "divisibility":
            numbers = tuple(min(number, extent) for number, extent in zip(numbers, shape, strict=True))
        promised[field] = numbers
    return replace(info, **promised) if promised else info


def with_hints(info: AxisInfo, op: Operation) -> AxisInfo:
    """Facts about the result of an op, with the hints on the op."""
    if not op.attributes or len(op.results) != 1:
        return info
    return with_attributes(info, op.attributes, shape_of(op.results[0].type))


def argument_hints(function: tt.FuncOp) -> list[Mapping[str, Attribute]]:
    """The attributes of each argument of a function."""
    if function.arg_attrs is None:
        return [{}] * len(function.args)
    return [attributes.data for attributes in function.arg_attrs]
