"""What older Triton and triton-shared wrote otherwise: it is read, with a remark that says how it is written today.

Dialects and types that have another name since are in `RENAMED`; ops whose text changed have `OLDER_FORMATS`
(`dialects.definition`), and layouts drop the fields of single CTAs in `dialects.ttg.fields`.
"""

from __future__ import annotations

from dataclasses import field

from tilewright.support.records import dataclass

RENAMED_KEYS: tuple[tuple[str, str], ...] = (("triton_nvidia_gpu.", "ttng."), ("triton_gpu.", "ttg."))
"""Dialects, at the beginning of the keys of attributes."""

RENAMED: tuple[tuple[str, str], ...] = (
    ("triton_gpu.shared", "ttg.swizzled_shared"),
    ("tt.memdesc", "ttg.memdesc"),
    *RENAMED_KEYS,
)
"""Names of ops, types and attributes, and of dialects, at the beginning of such."""


def find_renaming(name: str, table: tuple[tuple[str, str], ...]) -> tuple[str, str] | None:
    """The entry of a table that a name falls under: it is the name or, of a dialect, its beginning."""
    return next(
        (entry for entry in table if name == entry[0] or (entry[0].endswith(".") and name.startswith(entry[0]))), None
    )


@dataclass
class OlderSpellings:
    """The older spellings of one text: each with its first place."""

    found: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """From the spelling to today's and the offset in the text."""

    def note(self, older: str, today: str, position: int) -> None:
        """Remember the first place of a spelling."""
        self.found.setdefault(older, (today, position))


def note_older_spelling(parser: object, older: str, today: str, position: int) -> None:
    """Note a spelling with a parser of ours (`ir.parsing`); one of xDSL's keeps no notes."""
    spellings = getattr(parser, "older", None)
    if isinstance(spellings, OlderSpellings):
        spellings.note(older, today, position)
