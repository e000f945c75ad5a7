"""The text of pipelines, with upstream's errors: ``builtin.module(a,func.func(b{x=1 y=2}))``.

What stands for itself, without the op around it, is taken too: ``a,b{x=1}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NoReturn

from tilewright.ir.options import parse_option_text
from tilewright.support.errors import PipelineError
from tilewright.support.records import dataclass

UNWRAPPED = "expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'"


@dataclass(frozen=True)
class PipelineEntry:
    """A pass as a pipeline writes it: its name, its options, and the anchors around it, the outermost first."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    anchors: tuple[str, ...] = ()
    option_text: str = field(default="", compare=False)
    at: tuple[str, int] = field(default=("", 0), compare=False)
    """The text that it stands in, and where."""


def parse_pipeline_text(text: str) -> list[PipelineEntry]:
    """``builtin.module(a,func.func(b{x=1}))`` to `a` below one anchor, and `b` with its option below two."""
    text = text.strip()
    root, opening, rest = text.partition("(")
    if not opening or "," in root or "{" in root:
        return _Reader(text).entries(()) if text else []
    if not root.strip() or not rest.endswith(")"):
        raise PipelineError(UNWRAPPED, UNWRAPPED)
    return _Reader(rest[:-1]).entries((root.strip(),)) if rest[:-1] else []


class _Reader:
    """Reads what stands between the brackets of the outermost op."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def entries(self, anchors: tuple[str, ...]) -> list[PipelineEntry]:
        """The passes, below these anchors and those that the text opens."""
        entries: list[PipelineEntry] = []
        outermost = len(anchors)
        start, is_more = 0, True
        while is_more:
            start = self._at
            name = self._name()
            if self._takes("("):
                anchors = (*anchors, name.strip())
                continue
            is_last = self._at == len(self._text)
            options = self._options() if self._takes("{") else ""
            at = (self._text, start + len(name) - len(name.lstrip()))
            entries.append(PipelineEntry(name.strip(), parse_option_text(options), anchors, options, at))
            if is_last:
                break
            anchors = self._close(anchors, outermost)
            start, is_more = self._at, self._at < len(self._text)
            if is_more and not self._takes(","):
                fail_at(self._text, self._at, "expected ',' after parsing pipeline")
        if len(anchors) > outermost:
            fail_at(self._text, start, "encountered unbalanced parentheses while parsing pipeline")
        return entries

    def _name(self) -> str:
        """Read the name before the next bracket or comma."""
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in ",(){":
            self._at += 1
        return self._text[start : self._at]

    def _options(self) -> str:
        """The text of options up to the closing brace."""
        start, depth = self._at, 1
        while self._at < len(self._text):
            depth += {"{": 1, "}": -1}.get(self._text[self._at], 0)
            self._at += 1
            if depth == 0:
                options = self._text[start : self._at - 1]
                self._skip_blanks()
                return options
        return fail_at(self._text, start - 1, "missing closing '}' while processing pass options")

    def _close(self, anchors: tuple[str, ...], outermost: int) -> tuple[str, ...]:
        """Return the anchors that are left after the closing brackets that follow."""
        while self._takes(")"):
            if len(anchors) == outermost:
                reason = "encountered extra closing ')' creating unbalanced parentheses while parsing pipeline"
                fail_at(self._text, self._at - 1, reason)
            anchors = anchors[:-1]
            self._skip_blanks()
        return anchors

    def _takes(self, char: str) -> bool:
        found = self._text.startswith(char, self._at)
        self._at += found
        return found

    def _skip_blanks(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1


def fail_at(text: str, at: int, reason: str, message: str = "") -> NoReturn:
    """Raise `PipelineError` about a place in the text of a pipeline, with the line that it is in."""
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1)
    shown = text.split("\n")[line - 1]
    said = f"MLIR Textual PassPipeline Parser:{line}:{column + 1}: error: {reason}\n{shown}\n{' ' * column}^\n"
    raise PipelineError(message or said.rstrip("\n"), said)
