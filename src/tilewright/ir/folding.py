"""Folding: an op whose results are known becomes those values or constants.

Ops say what they fold to by xDSL's `HasFolder` trait (a `fold` method); the passes that fold make constant ops of the
attributes that they return.

    %c2 = arith.constant 2 : i32
    %0 = arith.addi %c2, %c2 : i32      =>      %c4_i32 = arith.constant 4 : i32
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import methodcaller
from typing import Any

from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import ConstantLike, HasFolder

Fold = Callable[[Any], Sequence[SSAValue | Attribute] | None]
"""From an op to what each of its results is equal to."""

CALL_FOLD: Fold = methodcaller("fold")
"""Looks the method up when it is called: `tilewright validate`'s tests put wrong ones in the place of right ones."""


@cache
def fold_of(cls: type[Operation]) -> Fold | None:
    """Return how the ops of a class fold; constants do not (they would fold to themselves for ever)."""
    traits: list[object] = list(getattr(cls, "traits", ()))
    folder = next((trait for trait in traits if isinstance(trait, HasFolder)), None)
    if folder is None or any(isinstance(trait, ConstantLike) for trait in traits):
        return None
    return CALL_FOLD if issubclass(cls, HasFolderInterface) else folder.fold  # which only calls it


def try_fold(op: Operation) -> Sequence[SSAValue | Attribute] | None:
    """Return what each result of an op is equal to, a value or a constant attribute; None where that is not known."""
    fold = fold_of(type(op))
    return None if fold is None else fold(op)
