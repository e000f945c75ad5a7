"""What kind of loop each dimension of a linalg op is."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.words import WordAttr


class IteratorType(StrEnum):
    """Whether the steps of a loop are independent or combine."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"
    WINDOW = "window"


@irdl_attr_definition
class IteratorTypeAttr(WordAttr[IteratorType]):
    """``#linalg.iterator_type<parallel>``."""

    name = "linalg.iterator_type"


PARALLEL = IteratorTypeAttr(IteratorType.PARALLEL)
REDUCTION = IteratorTypeAttr(IteratorType.REDUCTION)


def iterator_attrs(iterator_types: Iterable[Attribute | IteratorType | str]) -> list[IteratorTypeAttr]:
    """Iterator types from attributes, enum members or strings."""
    found: list[IteratorTypeAttr] = []
    for iterator in iterator_types:
        if isinstance(iterator, IteratorTypeAttr):
            found.append(iterator)
            continue
        text = iterator.data if isinstance(iterator, StringAttr) else str(iterator)
        found.append(IteratorTypeAttr(IteratorType(text)))
    return found
