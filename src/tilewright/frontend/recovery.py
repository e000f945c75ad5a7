"""After a wrong statement the walk over a function goes on: its errors are collected and reported together.

What a wrong statement would have assigned is a `WrongValue`; a statement that reads one fails without a word.
"""

from __future__ import annotations

from tilewright.support.errors import MOST_ERRORS, CompilationError


class FollowUpError(CompilationError):
    """A statement fails because of another that is reported already. No user sees it."""


class WrongValue:
    """Stands for the value of a name whose assignment is wrong."""


class Mistakes:
    """The errors of one function so far."""

    def __init__(self) -> None:
        self._errors: list[CompilationError] = []
        self._failure: CompilationError | None = None

    def add(self, error: CompilationError) -> bool:
        """Note an error, with those reported with it, each place and text once. Is there sense in going on?"""
        self._failure = self._failure or error
        known = {(found.span, found.message) for found in self._errors}
        for found in error.errors:
            if not isinstance(found, FollowUpError) and (found.span, found.message) not in known:
                self._errors.append(found)
        del self._errors[MOST_ERRORS:]
        error.others = ()
        return not error.is_final and len(self._errors) < MOST_ERRORS

    def check(self) -> None:
        """Raise the first error, with the others in it, if there is any."""
        if self._errors:
            first, *others = self._errors
            first.others = tuple(others)
            first.is_final = any(error.is_final for error in self._errors)
            raise first
        if self._failure is not None:
            raise self._failure
