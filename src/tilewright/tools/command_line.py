"""The command line of tilewright-opt, in mlir-opt's manner: pass flags keep their order, and all mistakes are told at
once, in the words of LLVM's command lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from tilewright.ir.options import parse_option_text, refusal
from tilewright.ir.passes import (
    Pass,
    available_passes,
    available_pipelines,
    build_passes,
    is_registered,
    parse_pipeline,
)
from tilewright.support.errors import PipelineError, TilewrightError
from tilewright.support.records import dataclass
from tilewright.tools.arguments import EACH_PASS, FALSE, FLAGS, NUMBER, TRUE, Flag

PROGRAM = "tilewright-opt"


class UsageError(TilewrightError):
    """The command line cannot be understood."""

    def rendered(self) -> str:
        """Return what the tool prints."""
        return f"{PROGRAM}: error: {self} (--help lists all flags)\n"


class Refusals(UsageError):
    """What LLVM's command lines say of theirs, too: a line or more of each mistake."""

    def rendered(self) -> str:
        return "".join(f"{PROGRAM}: {line}\n" for line in self.args)


@dataclass
class Request:
    """What one call of tilewright-opt is asked to do. Flags go by their names without upstream's ``mlir-``."""

    file: str = "-"
    passes: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Names and options of passes, in the order of their flags."""
    switches: set[str] = field(default_factory=set[str])
    values: dict[str, str] = field(default_factory=dict[str, str])

    def has(self, name: str) -> bool:
        """Return whether a flag was given."""
        return name in self.switches or name in self.values

    def value(self, name: str, default: str = "") -> str:
        """The value of a flag."""
        return self.values.get(name, default)

    def words(self, name: str) -> list[str]:
        """The value of a flag that takes names with commas between."""
        return [word for word in self.value(name).split(",") if word]

    def build_passes(self) -> list[Pass]:
        """The passes, by one flag each or by a pipeline. Raises `PipelineError`."""
        if not self.has("pass-pipeline"):
            return [pass_ for name, options in self.passes for pass_ in build_passes(name, parse_option_text(options))]
        if self.passes:
            said = "'-pass-pipeline' option can't be used with individual pass options"
            raise PipelineError(said, said)
        return parse_pipeline(self.value("pass-pipeline")).passes


def parse_arguments(argv: Sequence[str]) -> Request:
    """Read a command line; raises `UsageError`."""
    request = Request()
    words = list(argv)
    files: list[str] = []
    refused: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            files += words
            break
        if word == "-" or not word.startswith("-"):
            files.append(word)
        elif reason := _read_flag(request, word, words):
            refused.append(reason)
    if len(files) > 1:
        most = f"Can specify at most 1 positional arguments: See: {PROGRAM} --help"
        refused.append(f"Too many positional arguments specified!\n{most}")
    if refused:
        raise Refusals(*refused)
    request.file = files[0] if files else "-"
    return request


def _read_flag(request: Request, word: str, following: list[str]) -> str:
    """Note what a flag asks for; return what is wrong with it, if anything is."""
    name, has_value, value = word.removeprefix("-").removeprefix("-").partition("=")
    flag = FLAGS.get(name)
    if flag is None:
        if not is_registered(name):
            return _unknown(word, name, value)
        request.passes.append((name, value))
        return ""
    if not has_value:
        if flag.metavar and flag.absent is None and not following:
            return f"for the {_dashed(name)} option: requires a value!"
        value = flag.absent if flag.absent is not None else following.pop(0) if flag.metavar else TRUE[0]
    if reason := _wrong_value(flag, value):
        return f"for the {_dashed(name)} option: {reason}"
    if flag.metavar:
        request.values[flag.field] = value
    elif value in (*TRUE, ""):
        request.switches.add(flag.field)
    else:
        request.switches.discard(flag.field)
    return ""


def _wrong_value(flag: Flag, value: str) -> str:
    """Return what LLVM says of a value that a flag cannot have; nothing of others."""
    if not flag.metavar or flag.choices == (*TRUE, *FALSE):
        return "" if value in (*TRUE, *FALSE, "") else refusal(value, bool)
    if flag.choices == NUMBER:
        return "" if value.isdecimal() else f"'{value}' value invalid for uint argument!"
    known = available_passes() if flag.choices == EACH_PASS else flag.choices
    wrong = next((word for word in value.split(",") if known and word not in known), None)
    return "" if wrong is None else f"Cannot find option named '{wrong}'!"


def _unknown(word: str, name: str, value: str) -> str:
    known = sorted(
        (*available_passes(), *available_pipelines(), *FLAGS), key=lambda each: (_distance(name, each), each)
    )
    near = f"{_dashed(known[0])}={value}" if value else _dashed(known[0])
    return f"Unknown command line argument '{word}'.  Try: '{PROGRAM} --help'\n{PROGRAM}: Did you mean '{near}'?"


def _dashed(name: str) -> str:
    return f"{'-' if len(name) == 1 else '--'}{name}"


def _distance(left: Iterable[str], right: str) -> int:
    """Return how many letters must be inserted, removed or replaced to turn one word into the other."""
    row = list(range(len(right) + 1))
    for at, letter in enumerate(left, 1):
        above, row = row, [at]
        for column, other in enumerate(right):
            row.append(min(above[column] + (letter != other), above[column + 1] + 1, row[column] + 1))
    return row[-1]
