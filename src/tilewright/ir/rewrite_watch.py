"""Which rewrites happen, and a limit on how many: how `tilewright validate` and `bisect` find the one that is wrong.

Both drivers of rules (`ir.rules`, canonicalisation) tell this module what they did and ask whether they may go on.
Without a watch that costs one look at an empty list.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import field

from xdsl.ir import Operation

from tilewright.ir.diagnostics import op_name, op_place
from tilewright.support.records import dataclass
from tilewright.support.spans import Span


@dataclass(frozen=True)
class Rewrite:
    """One application of a rule or of an op's fold."""

    rule: str
    op_name: str
    location: Span | str | None

    def __str__(self) -> str:
        place = f" ({self.location})" if self.location else ""
        return f"{self.rule} on '{self.op_name}'{place}"


@dataclass
class RewriteWatch:
    """The rewrites that happened while it was on; after `limit` of them no rule is tried any more."""

    limit: int | None = None
    rewrites: list[Rewrite] = field(default_factory=list[Rewrite])

    @property
    def is_full(self) -> bool:
        return self.limit is not None and len(self.rewrites) >= self.limit


_watches: list[RewriteWatch] = []


@contextmanager
def watch_rewrites(limit: int | None = None) -> Generator[RewriteWatch]:
    """Record all rewrites within a `with`, and allow at most `limit`."""
    watch = RewriteWatch(limit)
    _watches.append(watch)
    try:
        yield watch
    finally:
        _watches.remove(watch)


def rewriting_stopped() -> bool:
    """Return whether some watch allows no further rewrite."""
    return bool(_watches) and any(watch.is_full for watch in _watches)


def record_rewrite(rule: str, op: Operation) -> None:
    """Tell the watches that a rule has rewritten `op`, which may be erased by now."""
    if _watches:
        rewrite = Rewrite(rule, op_name(op), op_place(op))
        for watch in _watches:
            watch.rewrites.append(rewrite)
