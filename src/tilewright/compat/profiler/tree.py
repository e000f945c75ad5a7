"""The tree of a profile: scopes, in them the kernels that were launched there, and what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from tilewright.support.records import dataclass

ROOT = "ROOT"


@dataclass
class Frame:
    """A scope or a kernel: `{"frame": {"name": ..., "type": "function"}, "metrics": ..., "children": [...]}`."""

    name: str
    metrics: dict[str, float] = field(default_factory=dict[str, float])
    children: dict[str, Frame] = field(default_factory=dict[str, "Frame"])

    def below(self, path: Iterable[str]) -> Frame:
        """The frame that names lead to, made where it is not there yet."""
        frame = self
        for name in path:
            frame = frame.children.setdefault(name, Frame(name))
        return frame

    def add(self, metrics: Mapping[str, float]) -> None:
        """Add to what was measured before."""
        for name, value in metrics.items():
            self.metrics[name] = self.metrics.get(name, 0) + value

    def literal(self) -> dict[str, Any]:
        """As Hatchet reads it."""
        return {
            "frame": {"name": self.name, "type": "function"},
            "metrics": self.metrics,
            "children": [child.literal() for child in self.children.values()],
        }


__all__ = ["ROOT", "Frame"]
