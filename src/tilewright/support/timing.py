"""Timing of compilations: named, nested stopwatches and the table they print.

```python
with timing.measure("frontend"): ...
```

Nothing is recorded unless a `Stopwatch` is active, and then a measurement costs well under a microsecond.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from time import perf_counter

from tilewright.support.records import dataclass


@dataclass
class TimeSpan:
    """One named span of time, in seconds, with the spans measured inside it."""

    name: str
    seconds: float = 0.0
    calls: int = 0
    children: dict[str, TimeSpan] = field(default_factory=dict[str, "TimeSpan"])

    def child(self, name: str) -> TimeSpan:
        """The span of that name inside this one."""
        found = self.children.get(name)
        if found is None:
            found = self.children[name] = TimeSpan(name)
        return found

    def add(self, seconds: float) -> None:
        """Add another measurement."""
        self.seconds += seconds
        self.calls += 1


@dataclass
class Stopwatch:
    """Collects the times of everything that runs while it is active."""

    root: TimeSpan = field(default_factory=lambda: TimeSpan("total"))

    @contextmanager
    def active(self) -> Generator[Stopwatch]:
        """Record for the length of a `with`."""
        token = _current.set(self.root)
        start = perf_counter()
        try:
            yield self
        finally:
            self.root.add(perf_counter() - start)
            _current.reset(token)

    def table(self) -> str:
        """Lines of seconds, share and name; inner spans are indented below the outer."""
        return render_times(self.root)


_current: ContextVar[TimeSpan | None] = ContextVar("tilewright_timing", default=None)


@contextmanager
def measure(name: str) -> Generator[None]:
    """Count the time of a `with` under `name`, if a stopwatch is active."""
    parent = _current.get()
    if parent is None:
        yield
        return
    span = parent.child(name)
    token = _current.set(span)
    start = perf_counter()
    try:
        yield
    finally:
        span.add(perf_counter() - start)
        _current.reset(token)


def render_times(root: TimeSpan) -> str:
    """A table of a span and everything inside it.

    ---- time (ms) ----  ---- share ----  ---- name ----
                12.345          100.0 %   total
                 4.000           32.4 %     parse
    """
    total = root.seconds or sum(child.seconds for child in root.children.values())
    lines = [f"{'ms':>12}  {'share':>7}  {'calls':>6}  name"]
    _render_span(root, total, 0, lines)
    return "\n".join(lines) + "\n"


def _render_span(span: TimeSpan, total: float, depth: int, lines: list[str]) -> None:
    share = 100.0 * span.seconds / total if total else 0.0
    lines.append(f"{span.seconds * 1e3:12.3f}  {share:6.1f}%  {span.calls:6d}  {'  ' * depth}{span.name}")
    for child in span.children.values():
        _render_span(child, total, depth + 1, lines)
