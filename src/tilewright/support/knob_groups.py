"""Triton's switches as attributes, group by group: what each of its names means here.

    runtime = Group({"debug": Shared("debug"), "interpret": Shared("interpret")})
    runtime.debug = True
    with runtime.scope():
        runtime.interpret = True

A name is a switch of ours (`Shared`, or `Derived` from one), a variable of a module of ours (`Variable`) or hooks in it
(`Hooks`), a value of its own (`FromEnvironment`), without effect here (`Ignored`), or refused because doing nothing
would be wrong (`Refused`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from tilewright.support import knobs as table
from tilewright.support.errors import KnobError, TilewrightError
from tilewright.support.records import dataclass


class Env:
    """The class of `env`: setting a switch to it means what the environment says."""


env = Env()

Restore = Callable[[], None]


class Meaning(Protocol):
    """What a name of Triton's means here."""

    def get(self) -> Any:
        """The value."""
        ...

    def set(self, value: Any) -> None:
        """Change it."""
        ...

    def reset(self) -> None:
        """Give it what the environment says, or its default."""
        ...

    def keep(self) -> Restore:
        """Note the present value; the result gives it back."""
        ...

    def described(self) -> str:
        """A few words for the documentation."""
        ...


@dataclass(frozen=True)
class Shared:
    """A switch of ours. Where it is `optional`, Triton says None for what is empty here."""

    switch: str
    optional: bool = False

    def get(self) -> Any:
        value = table.ask_again(self.switch)
        return None if self.optional and value == "" else value

    def set(self, value: Any) -> None:
        table.set_value(self.switch, "" if self.optional and value is None else value)

    def reset(self) -> None:
        table.restore(self.switch)

    def keep(self) -> Restore:
        return table.keep(self.switch)

    def described(self) -> str:
        return f"`{self.switch}`"


@dataclass(frozen=True)
class Derived:
    """Another form of a switch of ours, or of what lies on this machine; `write` is None where it cannot be set."""

    read: Callable[[], Any]
    write: Callable[[Any], None] | None
    meaning: str
    switch: str = ""

    def get(self) -> Any:
        return self.read()

    def set(self, value: Any) -> None:
        if self.write is None:
            raise KnobError(f"{value!r} is refused: {self.meaning}")
        self.write(value)

    def reset(self) -> None:
        if self.switch:
            table.restore(self.switch)

    def keep(self) -> Restore:
        return table.keep(self.switch) if self.switch else _nothing

    def described(self) -> str:
        return self.meaning


@dataclass(frozen=True)
class Variable:
    """A variable of a module of ours, None by default; the module is imported when it is needed."""

    module: str
    name: str
    meaning: str

    def get(self) -> Any:
        return getattr(import_module(self.module), self.name)

    def set(self, value: Any) -> None:
        setattr(import_module(self.module), self.name, value)

    def reset(self) -> None:
        self.set(None)

    def keep(self) -> Restore:
        return partial(self.set, self.get())

    def described(self) -> str:
        return self.meaning


@dataclass(frozen=True)
class Hooks(Variable):
    """A chain of functions in a module of ours. Setting it has it call the functions of another chain, one, or none."""

    def set(self, value: Any) -> None:
        self.get().replace(value)

    def keep(self) -> Restore:
        calls = list(self.get().calls)

        def restore() -> None:
            self.get().calls = calls
            table.renew()

        return restore


@dataclass
class Ignored:
    """Without effect; it keeps what it is set to. A function as the default gives it where it is asked for."""

    default: Any
    why: str

    def __post_init__(self) -> None:
        self._value = self.default

    def get(self) -> Any:
        return self._value() if self._value is self.default and callable(self.default) else self._value

    def set(self, value: Any) -> None:
        self._value = value

    def reset(self) -> None:
        self._value = self.default

    def keep(self) -> Restore:
        return partial(self.set, self._value)

    def described(self) -> str:
        return f"no effect: {self.why}"


@dataclass
class FromEnvironment:
    """A value of its own: what it is set to, else what an environment variable says, else a default."""

    variable: str
    default: Any
    convert: Callable[[str, str], Any]
    """The value from the variable's name and text; its ValueError becomes a KnobError."""
    meaning: str

    def __post_init__(self) -> None:
        self._value: Any = env

    def get(self) -> Any:
        if self._value is not env:
            return self._value
        text = os.environ.get(self.variable)
        if text is None:
            return self.default() if callable(self.default) else self.default
        try:
            return self.convert(self.variable, text)
        except KnobError:
            raise
        except ValueError as error:
            raise KnobError(f"{self.variable}={text!r}: {error}") from error

    def set(self, value: Any) -> None:
        self._value = value

    def reset(self) -> None:
        self._value = env

    def keep(self) -> Restore:
        return partial(self.set, self._value)

    def described(self) -> str:
        return f"{self.meaning} (`{self.variable}`)"


def class_named(variable: str, text: str, base: str) -> type[Any]:
    """The class that a variable names, as `module:class`. Raises KnobError for anything else, and for a class without a
    base of some name."""
    module, separator, name = text.partition(":")
    if not separator:
        raise KnobError(f"{variable}={text!r} does not name a class: expected module:class")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise KnobError(f"{variable}={text!r} does not name a class: {error}") from error
    if not isinstance(found, type) or not any(one.__name__ == base for one in found.__mro__):
        raise KnobError(f"{variable}={text!r} does not derive from {base}")
    return found


@dataclass(frozen=True)
class Refused:
    """It stays what it is: setting it is a KnobError, as a program would not get what it asked for."""

    default: Any
    instead: str

    def get(self) -> Any:
        return self.default

    def set(self, value: Any) -> None:
        if value != self.default:
            raise KnobError(f"{value!r} is refused: {self.instead}")

    def reset(self) -> None:
        """Nothing: it cannot have changed."""

    def keep(self) -> Restore:
        return _nothing

    def described(self) -> str:
        return f"refused: {self.instead}"


def _nothing() -> None:
    """Do nothing: there is nothing to restore."""


class Group:
    """One group of switches, as attributes."""

    _meanings: Mapping[str, Meaning]

    def __init__(self, meanings: Mapping[str, Meaning]) -> None:
        object.__setattr__(self, "_meanings", dict(meanings))

    def __getattr__(self, name: str) -> Any:
        return self._known(name).get()

    def __setattr__(self, name: str, value: Any) -> None:
        meaning = self._known(name)
        if isinstance(value, Env):
            meaning.reset()
        else:
            meaning.set(value)

    def __delattr__(self, name: str) -> None:
        self._known(name).reset()

    def __dir__(self) -> list[str]:
        return sorted([*self._meanings, "knobs", "reset", "scope"])

    def _known(self, name: str) -> Meaning:
        if name not in self._meanings:
            raise AttributeError(f"no switch {name!r} in this group; it has {', '.join(sorted(self._meanings))}")
        return self._meanings[name]

    @property
    def knobs(self) -> dict[str, Any]:
        """All of them that can be read on this machine, with their values."""
        found: dict[str, Any] = {}
        for name, meaning in self._meanings.items():
            try:
                found[name] = meaning.get()
            except TilewrightError:
                continue
        return found

    def reset(self) -> Group:
        """Give all switches of the group what the environment says."""
        for meaning in self._meanings.values():
            meaning.reset()
        return self

    @contextmanager
    def scope(self) -> Generator[None]:
        """Give all switches of the group their present values back at the end of a `with`."""
        kept = [meaning.keep() for meaning in self._meanings.values()]
        try:
            yield
        finally:
            for restore in kept:
                restore()

    def described(self) -> dict[str, str]:
        """Return what each name means here."""
        return {name: meaning.described() for name, meaning in self._meanings.items()}
