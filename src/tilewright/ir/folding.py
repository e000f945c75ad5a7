"""Folding: an op whose results are known becomes those values or constants.

Ops say what they fold to by xDSL's `HasFolder` trait (a `fold` method). Attributes they return become constant ops
through a `Materializer`, which `dialects` provides, as this package knows no dialect.

    %c2 = arith.constant 2 : i32
    %0 = arith.addi %c2, %c2 : i32      =>      %c4_i32 = arith.constant 4 : i32
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import ConstantLike, HasFolder

from tilewright.ir.rules import PatternRewriter, RewriteRule, apply_rules

Materializer = Callable[[Attribute, Attribute], Operation | None]
"""From a value and its type to a constant op, or None if the dialect has no constant for it."""


@cache
def _folder_of(cls: type[Operation]) -> HasFolder | None:
    """Return how the ops of a class fold; constants do not (they would fold to themselves for ever)."""
    folder: HasFolder | None = None
    for trait in getattr(cls, "traits", ()):
        if isinstance(trait, ConstantLike):
            return None
        if isinstance(trait, HasFolder):
            folder = trait
    return folder


def try_fold(op: Operation) -> Sequence[SSAValue | Attribute] | None:
    """Return what each result of an op is equal to, a value or a constant attribute; None where that is not known."""
    folder = _folder_of(type(op))
    return None if folder is None else folder.fold(op)


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
