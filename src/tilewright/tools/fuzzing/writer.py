"""The text of a kernel as it grows."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from tilewright.tools.fuzzing.values import Argument


class Writer:
    """Lines with indentation, fresh names, and the parameters that the lines came to need."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.arguments: list[Argument] = []
        self.scalars: dict[str, int | float] = {}
        self.variables: set[str] = set()
        self.features: set[str] = set()
        self._indent = 0
        self._count = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self._indent + text)

    @contextmanager
    def indented(self) -> Generator[None]:
        self._indent += 1
        try:
            yield
        finally:
            self._indent -= 1

    def name(self, letter: str) -> str:
        """A name that was not used before."""
        self._count += 1
        return f"{letter}{self._count}"
