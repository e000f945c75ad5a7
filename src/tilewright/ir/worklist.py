"""The ops that a driver of rules still has to look at: last in, first out, each once at a time."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation


class Worklist:
    """A stack of ops that also takes ops out of its middle. One call gets an op, where xDSL's list takes two."""

    __slots__ = ("_places", "_stack")

    def __init__(self) -> None:
        self._stack: list[Operation | None] = []
        self._places: dict[Operation, int] = {}

    def __bool__(self) -> bool:
        return bool(self._places)

    def fill(self, ops: Iterable[Operation]) -> None:
        """Push ops, each once, none of which is there."""
        start = len(self._stack)
        self._stack += ops
        self._places.update(zip(self._stack[start:], range(start, len(self._stack)), strict=True))  # pyright: ignore[reportArgumentType, reportCallIssue]

    def push(self, op: Operation) -> None:
        """Put an op on top, unless it is there already."""
        if op not in self._places:
            self._places[op] = len(self._stack)
            self._stack.append(op)

    def pop(self) -> Operation | None:
        """Take the op on top; None where there is none."""
        while self._stack:
            op = self._stack.pop()
            if op is not None:
                del self._places[op]
                return op
        return None

    def remove(self, op: Operation) -> None:
        """Take an op out, if it is there."""
        place = self._places.pop(op, None)
        if place is not None:
            self._stack[place] = None
