"""The text of a kernel as it grows."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from tilewright.tools.fuzzing.values import Argument


class Writer:
    """Lines with indentation, fresh names, and the parameters and functions that the lines came to need."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.functions: list[str] = []
        """Whole functions that the kernel calls."""
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

    def function(self, parameters: str, body: str, decorator: str = "@triton.jit") -> str:
        """A new function at the top of the file; returns its name. The lines of `body` are not indented."""
        name = self.name("f")
        indented = "\n".join(f"    {line}" for line in body.splitlines())
        self.functions.append(f"{decorator}\ndef {name}({parameters}):\n{indented}\n")
        return name
