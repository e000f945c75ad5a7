"""argparse with suggestions: an error names the nearest command, choice or flag, under the usage of its command."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, cast

from tilewright.tools.suggestions import nearest

_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors suggest what was meant."""

    free_flags: frozenset[str] = frozenset()
    """Flags whose value may begin with a dash."""

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride] (its overloads are about `namespace`)
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """As argparse, which takes a value that begins with a dash for a flag unless `=` stands before it."""
        joined: list[str] = []
        for word in args or ():
            if joined and joined[-1] in self.free_flags:
                joined[-1] += f"={word}"
            else:
                joined.append(word)
        return super().parse_known_args(args if args is None else joined, namespace)

    def error(self, message: str) -> NoReturn:
        found = _CHOICE.search(message)
        near = nearest(found[1], re.findall(r"[\w.-]+", found[2])) if found is not None else ""
        super().error(f"{message}; did you mean '{near}'?" if near else message)

    def parse_args(  # pyright: ignore[reportIncompatibleMethodOverride] (its overloads are about `namespace`)
        self, args: Iterable[str] | None = None, namespace: Any = None
    ) -> Any:
        """As argparse, but what is left over is the error of the command that did not take it."""
        options, unknown = self.parse_known_args(None if args is None else list(args), namespace)
        if unknown:
            parser = self.command_parsers().get(getattr(options, "command", None) or "", self)
            hints = {word: nearest(word.partition("=")[0], parser.flags()) for word in unknown}
            said = ", ".join(f"{word} (did you mean {near}?)" if near else word for word, near in hints.items())
            parser.error(f"unrecognized arguments: {said}")
        return options

    def command_parsers(self) -> dict[str, CommandParser]:
        """The parsers of the sub-commands."""
        found: dict[str, CommandParser] = {}
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
                found.update(cast(Any, action).choices)
        return found

    def flags(self) -> list[str]:
        """All flags, in every spelling."""
        return [flag for action in self._actions for flag in action.option_strings]

    def choices(self) -> list[str]:
        """The words that positional arguments may be."""
        named = (action for action in self._actions if not action.option_strings and action.choices)
        return [str(choice) for action in named for choice in action.choices or ()]

    def description_of(self, command: str) -> str:
        """Return what a sub-command is for, in a line."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
                for choice in action._choices_actions:  # pyright: ignore[reportPrivateUsage]
                    if choice.dest == command:
                        return choice.help or ""
        return ""
