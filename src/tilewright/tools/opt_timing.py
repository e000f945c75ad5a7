"""``--mlir-timing``: the times of parser, passes and output, in mlir-opt's form."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import field
from time import perf_counter

from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.instruments import pass_title
from tilewright.ir.passes import Instrument, Pass
from tilewright.support.records import dataclass

RULE = f"===-{'-' * 73}-==="


@dataclass
class PhaseWatch(Instrument):
    """Measures what a call of tilewright-opt does, phase by phase; each pass is one."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    _begun: float = field(default_factory=perf_counter)
    _start: float = field(default=0.0, init=False)

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Count what runs inside to a phase."""
        start = perf_counter()
        try:
            yield
        finally:
            self._add(name, perf_counter() - start)

    def before_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        self._start = perf_counter()

    def after_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        self._add(pass_title(pass_), perf_counter() - self._start)

    def _add(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def report(self, *, as_list: bool = False) -> str:
        """The table: phases in the order in which they began, or the longest first."""
        total = perf_counter() - self._begun
        output = self.seconds.pop("Output", 0.0)
        rows = [*self.seconds.items(), ("Output", output)]
        if as_list:
            rows = [("root", total), *sorted(rows, key=lambda row: -row[1])]
        rest = total - sum(self.seconds.values()) - output
        lines = [RULE, "... Execution time report ...".center(80).rstrip(), RULE]
        lines += [f"  Total Execution Time: {total:.4f} seconds", "", "  ----Wall Time----  ----Name----"]
        for name, seconds in (*rows, ("Rest", rest), ("Total", total)):
            lines.append(f"  {seconds:8.4f} ({100 * seconds / total:5.1f}%)  {name}")
        return "\n".join(lines) + "\n"
