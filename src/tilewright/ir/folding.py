"""Folding: an op whose results are known becomes those values or constants.

Ops say what they fold to by xDSL's `HasFolder` trait (a `fold` method). Attributes they return become constant ops
through a `Materializer`, which `dialects` provides, as this package knows no dialect.

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

from tilewright.ir.rules import PatternRewriter, RewriteRule, apply_rules

Materializer = Callable[[Attribute, Attribute], Operation | None]
"""From a value and its type to a constant op, or None if the dialect has no constant for it."""


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


def fold_to_values(op: Operation, materialize: Materializer) -> tuple[list[Operation], list[SSAValue]] | None:
    """The constants to create and the values that replace the results of a foldable op; changes nothing."""
    folded = try_fold(op)
    if folded is None:
        return None
    constants: list[Operation] = []
    values: list[SSAValue] = []
    for result, known in zip(op.results, folded, strict=True):
        if isinstance(known, SSAValue):
            if known is result:
                return None
            values.append(known)
            continue
        constant = materialize(known, result.type)
        if constant is None:
            return None
        constants.append(constant)
        values.append(constant.results[0])
    return constants, values


class FoldOps(RewriteRule):
    """op(constants) = constant, for every op that knows how to fold. Removes one op."""

    def __init__(self, materialize: Materializer) -> None:
        self._materialize = materialize

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        folded = fold_to_values(op, self._materialize)
        if folded is not None:
            constants, values = folded
            rewriter.replace(op, constants, values)


def fold_all(root: Operation, materialize: Materializer) -> bool:
    """Fold everything inside `root`; returns whether anything changed."""
    return apply_rules(root, [FoldOps(materialize)], name="fold")
