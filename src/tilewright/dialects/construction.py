"""What every op constructor needs: values out of ops, segment sizes, mixed static/dynamic index lists, shared
attributes.

Constructors call :func:`init_op`, which is xDSL's plain ``Operation.__init__``: operands come flat, so building an op
costs
a third of the checked way. Attributes that recur (``0 : i64``, segment sizes, index arrays) are made once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import ParamSpec, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

Value = SSAValue | Operation
"""What constructors accept as an operand: a value, or an op with one result."""

MixedIndex = int | SSAValue | Operation
"""One entry of a mixed list such as ``[4, %n, 1]``."""

Index: TypeAlias = int | SSAValue
"""An index that is either known now or computed by the program: MLIR's OpFoldResult."""

UNIT = UnitAttr()


def value_of(value: Value) -> SSAValue:
    """The value itself, or the only result of an op."""
    if isinstance(value, SSAValue):
        return value
    if len(value.results) != 1:
        raise ValueError(f"'{value.name}' has {len(value.results)} results where one value is expected")
    return value.results[0]


def values_of(values: Iterable[Value]) -> list[SSAValue]:
    """The values of several operands."""
    return [value_of(value) for value in values]


def region_of(body: Region | Block | Sequence[Operation]) -> Region:
    """A region from a region, its only block, or ops."""
    if isinstance(body, Region):
        return body
    return Region(body if isinstance(body, Block) else Block(list(body)))


def init_op(
    op: Operation,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] | None = None,
    *,
    attributes: Mapping[str, Attribute] | None = None,
    regions: Sequence[Region] = (),
    successors: Sequence[Block] = (),
) -> None:
    """Initialise an op from flat operands and finished attributes, without the checks of xDSL's friendly
    constructor."""
    Operation.__init__(
        op,
        operands=operands,
        result_types=result_types,
        properties=properties or {},
        attributes=attributes or {},
        regions=regions,
        successors=successors,
    )


P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")


def once_per_value(function: Callable[P, R]) -> Callable[P, R]:
    """A function that makes one attribute for each of its arguments."""
    return cast("Callable[P, R]", lru_cache(maxsize=4096)(function))


@once_per_value
def segment_sizes(*sizes: int) -> DenseArrayBase:
    """``array<i32: 1, 2, 0>``: how many operands each operand group has."""
    return DenseArrayBase.from_list(i32, sizes)


@once_per_value
def index_array(values: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    """``array<i64: 4, 8>``."""
    return DenseArrayBase.from_list(i64, values)


def index_list(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """``array<i64: 4, 8>``, of any sequence."""
    return index_array(tuple(values))


@once_per_value
def i32_array(values: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    """``array<i32: 4, 8>``."""
    return DenseArrayBase.from_list(i32, values)


def i32_list(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """``array<i32: 4, 8>``, of any sequence."""
    return i32_array(tuple(values))


@once_per_value
def int_attr(value: int, width: int = 64) -> IntegerAttr:
    """``value : iN``."""
    return IntegerAttr(value, width)


@once_per_value
def i32_attr(value: int) -> IntegerAttr[IntegerType]:
    """``value : i32``."""
    return IntegerAttr(int(value), i32)


@once_per_value
def bool_attr(value: bool) -> IntegerAttr[IntegerType]:
    """``true`` or ``false``."""
    return IntegerAttr(-1 if value else 0, i1)


@once_per_value
def string_attr(value: str | StringAttr) -> StringAttr:
    """``"value"``."""
    return StringAttr(value) if isinstance(value, str) else value


@once_per_value
def symbol_attr(name: str | SymbolRefAttr) -> SymbolRefAttr:
    """``@name``."""
    return SymbolRefAttr(name) if isinstance(name, str) else name


def optional(function: Callable[[A], R]) -> Callable[[A | None], R | None]:
    """A function that leaves None alone."""
    return lambda value: None if value is None else function(value)


def unit_if(value: bool) -> UnitAttr | None:
    """``unit`` for true."""
    return UNIT if value else None


def dense_attr(type_: Attribute, data: bytes | BytesAttr) -> DenseIntOrFPElementsAttr:
    """``dense<...> : type_``, a tensor or vector type, from the packed elements."""
    return DenseIntOrFPElementsAttr(
        cast("TensorType[IntegerType]", type_), data if isinstance(data, BytesAttr) else BytesAttr(data)
    )


def reassociation_attr(groups: Sequence[Sequence[int]]) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    """``[[0, 1], [2]]``: which dimensions of the larger shape make up each one of the smaller."""
    return _reassociation_attr(tuple(tuple(group) for group in groups))


@once_per_value
def _reassociation_attr(groups: tuple[tuple[int, ...], ...]) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    return ArrayAttr(ArrayAttr(int_attr(dim) for dim in group) for group in groups)


def split_mixed(values: Iterable[MixedIndex]) -> tuple[DenseArrayBase, list[SSAValue]]:
    """``[4, %n, 1]`` as ``array<i64: 4, DYNAMIC, 1>`` and ``[%n]``."""
    static: list[int] = []
    dynamic: list[SSAValue] = []
    for value in values:
        if isinstance(value, int):
            static.append(value)
        else:
            static.append(DYNAMIC_INDEX)
            dynamic.append(value_of(value))
    return index_array(tuple(static)), dynamic


def join_mixed(static: DenseArrayBase, dynamic: Sequence[SSAValue]) -> list[int | SSAValue]:
    """The inverse of :func:`split_mixed`."""
    remaining = iter(dynamic)
    return [next(remaining) if value == DYNAMIC_INDEX else value for value in static_values(static)]


@lru_cache(maxsize=4096)
def static_values(array: DenseArrayBase) -> tuple[int, ...]:
    """The integers of an ``array<iN: ...>``."""
    return tuple(int(value) for value in cast(DenseArrayBase[IntegerType], array).get_values())
