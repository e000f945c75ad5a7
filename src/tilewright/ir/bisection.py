"""Leaving out the last passes, and the last rewrites, of a process: what `tilewright bisect` counts with.

The `bisect` switch is ``passes[:rewrites[:log]]``. Of the passes that a module can do without, those numbered above
`passes` (from 1, over all compilations of the process) are skipped; the last one that runs makes at most `rewrites`
rewrites. The file `log` receives a line for each pass that could have run: its number, name, and how many rewrites it
made.
"""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.passes import Pass, PassContext
from tilewright.ir.rewrite_watch import watch_rewrites
from tilewright.support.errors import KnobError
from tilewright.support.records import dataclass

OPTIONAL = frozenset(
    {
        "canonicalize",
        "cse",
        "symbol-dce",
        "triton-combine",
        "triton-reorder-broadcast",
        "triton-loop-unroll",
        "triton-join-loops",
        "triton-guard-masks",
        "triton-licm",
        "triton-loop-aware-cse",
        "loop-invariant-code-motion",
        "linalg-reduce-assertions",
        "linalg-if-conversion",
        "linalg-fuse-elementwise",
        "linalg-narrow-results",
        "linalg-recognize-scans",
        "linalg-elide-reduction-starts",
        "linalg-select-microkernels",
        "linalg-allow-flush-to-zero",
        "linalg-form-exchange-networks",
        "linalg-sink-producers",
        "linalg-recognize-k-loops",
        "linalg-fuse-matmul-stores",
        "linalg-transpose-matmuls",
        "forward-loads",
        "remove-dead-values",
    }
)
"""Passes that improve a module and need not run."""


@dataclass(frozen=True)
class Limits:
    """The `bisect` switch, taken apart; None for no limit."""

    passes: int | None
    rewrites: int | None = None
    log: str = ""

    @staticmethod
    def parse(text: str) -> Limits:
        passes, _, rest = text.partition(":")
        rewrites, _, log = rest.partition(":")
        try:
            return Limits(int(passes) if passes else None, int(rewrites) if rewrites else None, log)
        except ValueError:
            raise KnobError(f"bisect: expected passes[:rewrites[:log]], got {text!r}") from None


_count = 0


class _Limited(Pass):
    """A pass that is left out, or cut short, where the limits say so."""

    def __init__(self, inner: Pass, limits: Limits) -> None:
        self.inner = inner
        self.limits = limits
        self.name = inner.name  # pyright: ignore[reportAttributeAccessIssue]

    def spelling(self) -> str:
        return self.inner.spelling()

    def run(self, module: ModuleOp, context: PassContext) -> None:
        global _count
        _count += 1
        limits = self.limits
        if limits.passes is not None and _count > limits.passes:
            return
        is_last = limits.passes == _count
        with watch_rewrites(limits.rewrites if is_last else None) as watch:
            self.inner.run(module, context)
        if limits.log:
            last = watch.rewrites[-1] if watch.rewrites else ""
            with Path(limits.log).open("a") as file:
                file.write(f"{_count}\t{self.name}\t{len(watch.rewrites)}\t{last}\n")


def limited(pass_: Pass, limits: Limits) -> Pass:
    """The pass under the limits; passes that a module cannot do without stay as they are."""
    return _Limited(pass_, limits) if pass_.name in OPTIONAL else pass_
