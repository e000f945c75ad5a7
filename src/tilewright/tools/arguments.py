"""The flags of tilewright-opt, most of them mlir-opt's, and what `--help` says of them."""

from __future__ import annotations

import textwrap

from tilewright.ir.passes import available_passes, available_pipelines
from tilewright.support.records import dataclass

EACH_PASS, NUMBER = ("pass",), ("uint",)
TRUE, FALSE = ("true", "TRUE", "True", "1"), ("false", "FALSE", "False", "0")
"""What LLVM's tools take for the value of a switch."""


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
    choices: tuple[str, ...] = ()
    """What the value can be; `EACH_PASS`: names of passes with commas between, `NUMBER`: a number; empty: anything."""

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
        if self.absent:
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
        Flag(
            "mlir-elide-elementsattrs-if-larger",
            "leave out dense constants of more than N elements",
            "N",
            choices=NUMBER,
        ),
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
            choices=("all", "only-expected"),
        ),
    ),
    "watching": (
        Flag("mlir-print-ir-before", "print the IR before these passes", "PASS,...", "", choices=EACH_PASS),
        Flag("mlir-print-ir-before-all", "print it before every pass"),
        Flag("mlir-print-ir-after", "print it after these passes", "PASS,...", "", choices=EACH_PASS),
        Flag("mlir-print-ir-after-all", "print it after every pass"),
        Flag("mlir-print-ir-after-change", "after passes: only where they changed it"),
        Flag("mlir-print-ir-after-failure", "after passes: only where they failed"),
        Flag("mlir-print-ir-module-scope", "print the whole module, where a pass runs on one function"),
        Flag("mlir-print-ir-tree-dir", "write it after every pass, one file per pass", "DIR"),
        Flag("mlir-pass-statistics", "count what each pass adds, erases and leaves as it was"),
        Flag("mlir-pass-statistics-display", "accepted: list or pipeline", "HOW", choices=("list", "pipeline")),
        Flag("mlir-timing", "print the time of parser, passes and output"),
        Flag(
            "mlir-timing-display",
            "in the order in which they run (tree), or the longest first (list)",
            "list|tree",
            choices=("list", "tree"),
        ),
        Flag(
            "mlir-print-op-on-diagnostic",
            "false: errors do not show the op they are about",
            "true|false",
            "true",
            choices=(*TRUE, *FALSE),
        ),
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

FLAGS = {name: flag for flags in SECTIONS.values() for flag in flags for name in (flag.name, flag.short) if name}

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
