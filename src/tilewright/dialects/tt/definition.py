"""The base of the ops of `tt` and of its descendants."""

from __future__ import annotations

from typing import ClassVar

from tilewright.dialects.definition import Op


class TritonOp(Op):
    """An op whose format may use every directive of `assembly.DIRECTIVES`."""

    DIRECTIVES_MODULE: ClassVar[str] = "tilewright.dialects.tt.assembly"
