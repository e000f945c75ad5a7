"""What all layouts of Gluon have in common: values of compile time, with fields that are checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from tilewright.language.registry import wrong_layout
from tilewright.language.values import constexpr_type, is_sequence, unwrap

if TYPE_CHECKING:
    from xdsl.ir import Attribute


Lists = list[list[int]]
LANES = 32
"""Threads of a warp."""


def plain_value(value: Any) -> Any:
    """Constants and tuples of the language as Python's own, sequences as lists."""
    plain: Any = unwrap(value)
    return list(map(plain_value, plain)) if is_sequence(plain) else plain


def as_tuples(value: Any) -> Any:
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]


def check_powers(**groups: Sequence[Any]) -> None:
    for name, values in groups.items():
        if any(not isinstance(v, int) or v <= 0 or v & (v - 1) for v in values):
            raise wrong_layout(ValueError(f"{name} must be powers of two, got {list(values)}"))


def check_ranks(**groups: Sequence[Any]) -> None:
    """ValueError unless all lists have one length."""
    if len({len(values) for values in groups.values()}) > 1:
        shown = ", ".join(f"{name} has {len(values)}" for name, values in groups.items())
        raise wrong_layout(ValueError(f"all fields of a layout must have one rank: {shown}"))


def check_vectors(rank: int, **groups: Lists) -> None:
    for name, vectors in groups.items():
        if any(len(vector) != rank for vector in vectors):
            raise wrong_layout(ValueError(f"each basis of {name} must have {rank} coordinates, got {vectors}"))


def check_order(order: list[int]) -> None:
    if sorted(order) != list(range(len(order))):
        raise wrong_layout(ValueError(f"order must be a permutation of the dimensions, got {order}"))


class Layout:
    """What layouts have in common: fields in plain form, equality by them, a name in symbols."""

    def __post_init__(self) -> None:
        for each in fields(self):  # pyright: ignore[reportArgumentType]
            object.__setattr__(self, each.name, plain_value(getattr(self, each.name)))
        self.check()

    def check(self) -> None:
        """Raises ValueError for fields that are no layout."""

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self)

    def mangle(self) -> str:
        """Text that stands for the layout in symbols."""
        shown = "_".join(str(getattr(self, each.name)) for each in fields(self))  # pyright: ignore[reportArgumentType]
        kind = "".join(letter for letter in type(self).__name__ if letter.isupper())
        return f"{kind}{shown}".translate(str.maketrans("[], ()", "______"))

    def encoding(self) -> Attribute:
        """The attribute of types."""
        raise NotImplementedError

    def __hash__(self) -> int:
        return hash((type(self), *(as_tuples(getattr(self, each.name)) for each in fields(self))))  # pyright: ignore[reportArgumentType]

    def format_tensor_view(self, shape: Sequence[int]) -> str:
        """A table over the elements of a tensor of `shape`: who holds each, or where it lies."""
        raise NotImplementedError

    def format_hardware_view(self, shape: Sequence[int]) -> str:
        """The elements of a tensor of `shape` in the order of threads and registers, or of memory."""
        raise NotImplementedError
