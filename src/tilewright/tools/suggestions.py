"""Suggestions for misspelt words."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is like another; empty where none is."""
    near = get_close_matches(word, list(known), n=1)
    return near[0] if near else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean linalg?)`, to be appended to what says that a word is unknown; empty where nothing is like it."""
    near = nearest(word, known)
    return f" (did you mean {near}?)" if near else ""
