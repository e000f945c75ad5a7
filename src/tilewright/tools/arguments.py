"""The command line of tilewright-opt, in mlir-opt's manner: pass flags keep their order."""

from __future__ import annotations

import textwrap
from dataclasses import field
from difflib import get_close_matches

from tilewright.ir.options import parse_option_text
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


@dataclass(frozen=True)
class Flag:
    """One flag: how it is written, the field of `Request` that it sets, and what it does."""

    name: str
    help: str
    metavar: str = ""
    """What stands for the value; empty: the flag takes none, and is a switch."""
    absent: str | None = None
    """The value of a flag that may stand without one."""
    short: str = ""

    @property
    def field(self) -> str:
        """The key in `Request`: of ``values["print-ir-before"]`` or ``switches``, without upstream's ``mlir-``."""
        return self.name.removeprefix("mlir-")

    def spelling(self) -> str:
        """As the usage shows it: ``-o FILE``, ``--split-input-file[=MARKER]``."""
        first = f"-{' '.join((self.short, self.metavar)).strip()}, " if self.short else ""
        dashes = "-" if len(self.name) == 1 else "--"
        if not self.metavar:
            return f"{first}{dashes}{self.name}"
        if self.absent is not None:
            return f"{first}{dashes}{self.name}[={self.metavar}]"
        return f"{first}{dashes}{self.name}{'=' if len(self.name) > 1 else ' '}{self.metavar}"


SECTIONS: dict[str, tuple[Flag, ...]] = {
    "passes": (
        Flag("pass-pipeline", "run 'a,b{x=1 y=2}' or 'builtin.module(a,func.func(b))'", "TEXT", short="p"),
        Flag("list-passes", "names, options and summaries of all passes"),
        Flag("show-dialects", "names of all dialects"),
        Flag("show-op", "an op: its class, traits, checks, meaning and lowerings, and which files name it", "OP"),
        Flag("dump-pass-pipeline", "print the pipeline that will be run, with all options, on the error stream"),
    ),
    "input and output": (
        Flag("o", "write there in place of the standard output", "FILE"),
        Flag("split-input-file", "treat the parts between '// -----' lines as separate modules", "MARKER", ""),
        Flag("output-split-marker", "the line between their results", "MARKER"),
        Flag("allow-unregistered-dialect", "accept ops of unknown dialects in generic form"),
        Flag("no-implicit-module", "refuse a text whose top level is not one module"),
        Flag("run-reproducer", "run the pipeline that the first line of the file carries"),
        Flag("mlir-print-op-generic", "print every op in generic form"),
        Flag("mlir-print-debuginfo", "print source locations"),
        Flag("mlir-print-local-scope", "print types, attributes and locations in full, without aliases"),
        Flag("mlir-print-skip-regions", "print {...} for what ops contain"),
        Flag("mlir-elide-elementsattrs-if-larger", "leave out dense constants of more than N elements", "N"),
        Flag("mlir-use-nameloc-as-prefix", "name values after the variables in their locations"),
    ),
    "checks": (
        Flag("verify-each", "verify after every pass (input and output are always verified)"),
        Flag("verify-roundtrip", "fail unless the printed input reads back as the same module, in both forms"),
        Flag("no-verify", "do not verify at all"),
        Flag("mlir-very-unsafe-disable-verifier-on-parsing", "do not verify the input"),
        Flag("check-stage", "at the end, check the contract of tt, structured, linalg, loops or ttg", "STAGE"),
        Flag(
            "verify-diagnostics",
            "check errors and remarks against '// expected-error {{...}}' comments: all, or only the expected ones",
            "all|only-expected",
            "all",
        ),
    ),
    "watching": (
        Flag("mlir-print-ir-before", "print the IR before these passes", "PASS,..."),
        Flag("mlir-print-ir-before-all", "print it before every pass"),
        Flag("mlir-print-ir-after", "print it after these passes", "PASS,..."),
        Flag("mlir-print-ir-after-all", "print it after every pass"),
        Flag("mlir-print-ir-after-change", "after passes: only where they changed it"),
        Flag("mlir-print-ir-after-failure", "after passes: only where they failed"),
        Flag("mlir-print-ir-module-scope", "print the whole module, where a pass runs on one function"),
        Flag("mlir-print-ir-tree-dir", "write it after every pass, one file per pass", "DIR"),
        Flag("mlir-pass-statistics", "count what each pass adds, erases and leaves as it was"),
        Flag("mlir-pass-statistics-display", "accepted: list or pipeline", "HOW"),
        Flag("mlir-timing", "print the time of parser, passes and output"),
        Flag("mlir-timing-display", "in the order in which they run (tree), or the longest first (list)", "list|tree"),
        Flag("mlir-print-op-on-diagnostic", "false: errors do not show the op they are about", "true|false", "true"),
        Flag("mlir-disable-diagnostic-notes", "errors without notes"),
        Flag("mlir-pass-pipeline-crash-reproducer", "where to write the reproducer of a failing pass", "FILE"),
        Flag("mlir-generate-reproducer", "write a file that replays this call", "FILE"),
        Flag("mlir-print-assume-verified", "accepted: what is printed is verified before"),
        Flag("mlir-disable-threading", "accepted: passes run on one thread"),
        Flag("remarks", "print what passes left as it was, and why"),
        Flag(
            "target",
            "facts for lowerings: cpu (this machine), cpu:x86-64-v3, cuda:90, or an installed back end by its name",
            "NAME[:MACHINE]",
        ),
    ),
    "this text": (Flag("help", "how the tool is called", short="h"), Flag("version", "the version")),
}
"""All flags; those that upstream has, too, mean what they mean there."""

_FLAGS = {name: flag for flags in SECTIONS.values() for flag in flags for name in (flag.name, flag.short) if name}

_HELP_COLUMN, _HELP_WIDTH = 38, 118


def usage() -> str:
    """Return what ``--help`` prints: all flags, then the names of all passes and pipelines."""
    names = ", ".join((*available_passes(), *available_pipelines()))
    listed = textwrap.fill(names, _HELP_WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return f"{describe_flags()}\nall passes and pipelines (--list-passes says more):\n{listed}\n"


def describe_flags() -> str:
    """All flags, by sections."""
    lines = ["usage: tilewright-opt [FILE|-] [passes and flags, in any order; passes run in the order given]"]
    for title, flags in SECTIONS.items():
        lines += ("", f"{title}:")
        if title == "passes":
            lines += _entry("--PASS", "run a pass or a named pipeline")
            lines += _entry('--PASS="option=value flag"', "the same with options")
        for flag in flags:
            lines += _entry(flag.spelling(), flag.help)
    return "\n".join(lines) + "\n"


def _entry(spelling: str, help: str) -> list[str]:
    """A line or more of the usage."""
    left = f"  {spelling}"
    first = left.ljust(_HELP_COLUMN) if len(left) < _HELP_COLUMN else f"{left}  "
    return textwrap.wrap(help, _HELP_WIDTH, initial_indent=first, subsequent_indent=" " * _HELP_COLUMN)


TRUE, FALSE = ("true", "TRUE", "True", "1"), ("false", "FALSE", "False", "0")
"""What LLVM's tools take for the value of a switch."""


class UsageError(TilewrightError):
    """The command line cannot be understood."""


@dataclass
class Request:
    """What one call of tilewright-opt is asked to do. Flags go by their names without upstream's ``mlir-``."""

    file: str = "-"
    passes: list[Pass] = field(default_factory=list[Pass])
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


def parse_arguments(argv: list[str]) -> Request:
    """Read a command line; raises `UsageError` or `PipelineError`."""
    request = Request()
    words = list(argv)
    files: list[str] = []
    while words:
        word = words.pop(0)
        if word == "-" or not word.startswith("-"):
            files.append(word)
            continue
        name, has_value, value = word.lstrip("-").partition("=")
        _read_flag(request, name, value if has_value else None, words)
    if len(files) > 1:
        raise UsageError(f"Too many positional arguments specified! Expected one input file, got {' and '.join(files)}")
    request.file = files[0] if files else "-"
    return request


def _read_flag(request: Request, name: str, value: str | None, following: list[str]) -> None:
    flag = _FLAGS.get(name)
    if flag is None:
        if not is_registered(name):
            raise _unknown_flag(name)
        request.passes.extend(build_passes(name, parse_option_text(value or "")))
    elif flag.name == "pass-pipeline":
        request.passes.extend(parse_pipeline(_value_of(name, value, following)).passes)
    elif flag.absent is not None:
        request.values[flag.field] = flag.absent if value is None else value
    elif flag.metavar:
        request.values[flag.field] = _value_of(name, value, following)
    elif value in (None, *TRUE):
        request.switches.add(flag.field)
    elif value not in FALSE:
        raise UsageError(f"--{name} takes no value but true or false, got '{value}'")


def _value_of(name: str, value: str | None, following: list[str]) -> str:
    if value is not None:
        return value
    if not following:
        raise UsageError(f"{'-' if len(name) == 1 else '--'}{name} needs a value")
    return following.pop(0)


def _unknown_flag(name: str) -> PipelineError:
    known = [*available_passes(), *available_pipelines(), *_FLAGS]
    near = get_close_matches(name, known, n=3)
    hint = f"Did you mean {', '.join('--' + word for word in near)}?" if near else "--list-passes shows all passes"
    return PipelineError(f"Unknown command line argument '--{name}'. {hint}")
