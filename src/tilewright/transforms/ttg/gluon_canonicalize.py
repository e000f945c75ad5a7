"""`gluon-canonicalize`: arithmetic and control flow in normal form, layouts and buffers as they are."""

from __future__ import annotations

from collections.abc import Set
from functools import cache
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects import ttg
from tilewright.ir.folding import fold_of
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.transforms.common.canonicalize import canonical_entry
from tilewright.transforms.common.greedy import Entry, GreedyRewriter

LEFT_ALONE = ("ttg", "ttng")
"""Dialects whose ops stand where the user put them, but for control flow."""


@cache
def _entry(cls: type[Operation]) -> Entry:
    dialect = cls.dialect_name()
    if dialect in LEFT_ALONE and not issubclass(cls, ttg.WarpSpecializeOp):
        return Entry(None, ())
    return Entry(fold_of(cls), ()) if dialect == "tt" else canonical_entry(cls)


def canonicalize_around_layouts(root: Operation, normal: Set[Operation] = frozenset()) -> bool:
    """`canonicalize` without rules that move conversions, views and copies; returns whether anything changed."""
    return GreedyRewriter(root, _entry, pass_name="gluon-canonicalize").run(normal)


@register_pass
class GluonCanonicalizePass(Pass):
    """Does what `canonicalize` does, for arithmetic and control flow only: layout conversions, views, and copies stay.

    ```mlir
    %1 = arith.addi %0, %c0 : i32
    %2 = ttg.convert_layout %x : tensor<64xi32, #blocked> -> tensor<64xi32, #blocked>
    // becomes
    %2 = ttg.convert_layout %x : tensor<64xi32, #blocked> -> tensor<64xi32, #blocked>
    ```
    """

    name = "gluon-canonicalize"
    takes: ClassVar[tuple[str, ...]] = ("gluon",)

    def run(self, module: ModuleOp, context: PassContext) -> None:
        canonicalize_around_layouts(module)
