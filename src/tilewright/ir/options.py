"""Options of passes as text: ``block-size=16 fast=true sizes=1,2,3``."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from functools import cache
from typing import Any

from tilewright.support.errors import PipelineError
from tilewright.support.records import dataclass

OptionValues = Mapping[str, str]
"""Options as written: kebab-case name to text; a bare name has the text ``"true"``."""


@dataclass(frozen=True)
class Option:
    """One option of a pass: its Python field name, its type, and its default."""

    field_name: str
    type: Any
    default: Any
    required: bool = False

    @property
    def flag(self) -> str:
        return self.field_name.replace("_", "-")

    def describe(self) -> str:
        """Type and default, as ``--list-passes`` shows them: ``int = 16``."""
        kind = self.type.__name__ if isinstance(self.type, type) else str(self.type)
        return f"{kind} (required)" if self.required else f"{kind} = {_quote(format_value(self.default))}"


@cache
def options_of_dataclass(cls: type) -> tuple[Option, ...]:
    """The options of a pass class: its dataclass fields that the constructor takes."""
    hints = typing.get_type_hints(cls)
    options: list[Option] = []
    for item in dataclasses.fields(cls):
        if not item.init:
            continue
        default = item.default
        if item.default_factory is not dataclasses.MISSING:
            default = item.default_factory()
        missing = default is dataclasses.MISSING
        options.append(Option(item.name, hints[item.name], None if missing else default, missing))
    return tuple(options)


def options_of_callable(builder: Callable[..., object]) -> list[Option]:
    """The options of a pipeline: the parameters of its builder."""
    hints = typing.get_type_hints(builder)
    options: list[Option] = []
    for name, parameter in inspect.signature(builder).parameters.items():
        missing = parameter.default is inspect.Parameter.empty
        options.append(Option(name, hints.get(name, str), None if missing else parameter.default, missing))
    return options


def read_options(owner: str, values: OptionValues, options: Sequence[Option]) -> dict[str, Any]:
    """Python keyword arguments from option text; raises `PipelineError` for unknown names and unreadable values."""
    by_flag = {option.flag: option for option in options}
    result: dict[str, Any] = {}
    for name, text in values.items():
        option = by_flag.get(name.replace("_", "-"))
        if option is None:
            near = get_close_matches(name, by_flag, n=1)
            known = f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(by_flag) or 'no options'}"
            said = f"<Pass-Options-Parser>: no such option {name}\n"
            raise PipelineError(f"pass '{owner}' has no option '{name}'{known}", said)
        try:
            result[option.field_name] = _read_value(text, option.type)
        except ValueError as error:
            said = f"for the --{name} option: {refusal(text, option.type)}"
            raise PipelineError(f"pass '{owner}', option '{name}': {error}", "", said) from None
    for option in options:
        if option.required and option.field_name not in result:
            raise PipelineError(f"pass '{owner}' needs option '{option.flag}'")
    return result


def _read_value(text: str, expected: Any) -> Any:
    """Text to a value of the annotated type: bool, int, float, str, enum, tuple or list of these, or optional."""
    origin = typing.get_origin(expected)
    arguments = typing.get_args(expected)
    if origin in (typing.Union, types.UnionType):
        if text == "none" and type(None) in arguments:
            return None
        return _read_value(text, next(arg for arg in arguments if arg is not type(None)))
    if origin in (tuple, list):
        parts = [part.strip() for part in text.strip("[]()").split(",") if part.strip()]
        values = [_read_value(part, arguments[0]) for part in parts]
        return tuple(values) if origin is tuple else values
    if origin is typing.Literal:
        return _read_choice(text, {str(choice): choice for choice in arguments})
    if expected is bool:
        return _read_choice(text.lower(), {"true": True, "false": False, "1": True, "0": False})
    if expected is int:
        return _read_number(text, lambda word: int(word, 0), "an integer")
    if expected is float:
        return _read_number(text, float, "a number")
    if isinstance(expected, type) and issubclass(expected, Enum):
        return _read_choice(text, {str(member.value): member for member in expected})
    if expected is str:
        return text
    raise ValueError(f"cannot be given as text (its type is {expected})")


def refusal(text: str, expected: Any) -> str:
    """Return what LLVM's command line says of a value that is not of a type."""
    arguments = [each for each in typing.get_args(expected) if each is not type(None)]
    if typing.get_origin(expected) in (tuple, list, typing.Union, types.UnionType):
        return refusal(text, arguments[0])
    if expected is bool:
        return f"'{text}' is invalid value for boolean argument! Try 0 or 1"
    if expected in (int, float):
        kind = "long" if expected is int else "floating point"
        return "requires a value!" if text == "true" else f"'{text}' value invalid for {kind} argument!"
    return f"Cannot find option named '{text}'!"


def _read_number(text: str, convert: Callable[[str], Any], what: str) -> Any:
    try:
        return convert(text)
    except ValueError:
        raise ValueError(f"expected {what}, got '{text}'") from None


def _read_choice(text: str, choices: dict[str, Any]) -> Any:
    if text not in choices:
        raise ValueError(f"expected one of {', '.join(choices)}, got '{text}'")
    return choices[text]


def format_value(value: Any) -> str:
    """A value as option text."""
    match value:
        case bool():
            return "true" if value else "false"
        case None:
            return "none"
        case Enum():
            return str(value.value)
        case tuple() | list():
            return ",".join(map(format_value, value))  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return str(value)


def format_options(instance: object) -> str:
    """The options of a pass that differ from their defaults, as text: ``block-size=16 fast=true``."""
    if not dataclasses.is_dataclass(instance) or isinstance(instance, type):
        return ""
    parts: list[str] = []
    for option in options_of_dataclass(type(instance)):
        value = getattr(instance, option.field_name)
        if option.required or value != option.default:
            parts.append(f"{option.flag}={_quote(format_value(value))}")
    return " ".join(parts)


def format_all_options(instance: object) -> str:
    """All options of a pass by name, as upstream's ``--dump-pass-pipeline`` has them: empty lists leave a blank."""
    if not dataclasses.is_dataclass(instance) or isinstance(instance, type):
        return ""
    options = sorted(options_of_dataclass(type(instance)), key=lambda option: option.flag)
    texts = {option.flag: format_value(getattr(instance, option.field_name)) for option in options}
    return " ".join(f"{flag}={_quote(text)}" if text else "" for flag, text in texts.items())


def _quote(text: str) -> str:
    return f'"{text}"' if not text or any(char in ' "{}' for char in text) else text


def parse_option_text(text: str) -> dict[str, str]:
    """``a=1 b c="x y"`` to ``{"a": "1", "b": "true", "c": "x y"}``."""
    values: dict[str, str] = {}
    pos = 0
    while pos < len(text):
        if text[pos].isspace():
            pos += 1
            continue
        start = pos
        while pos < len(text) and text[pos] != "=" and not text[pos].isspace():
            pos += 1
        name = text[start:pos]
        if pos < len(text) and text[pos] == "=":
            value, pos = _scan_value(text, pos + 1)
        else:
            value = "true"
        if not name:
            raise PipelineError(f"option without a name in '{text}'")
        values[name] = value
    return values


def _scan_value(text: str, pos: int) -> tuple[str, int]:
    """A value from `pos` up to the next blank outside of quotes, brackets and braces."""
    if pos < len(text) and text[pos] in "\"'":
        end = text.find(text[pos], pos + 1)
        if end < 0:
            raise PipelineError(f"quote without end in options '{text}'")
        return text[pos + 1 : end], end + 1
    start, depth = pos, 0
    while pos < len(text) and (depth or not text[pos].isspace()):
        depth += (text[pos] in "{[(") - (text[pos] in "}])")
        pos += 1
    return text[start:pos], pos
