"""The command line of tilewright-opt, in mlir-opt's manner: pass flags keep their order."""

from __future__ import annotations

from dataclasses import dataclass, field
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

USAGE = """\
usage: tilewright-opt [FILE|-] [passes and flags, in any order; passes run in the order given]

passes:
  --PASS                            run a pass or a named pipeline
  --PASS="option=value flag"        the same with options
  -p TEXT, --pass-pipeline=TEXT     run 'a,b{x=1 y=2}' or 'builtin.module(a,func.func(b))'
  --list-passes                     names, options and summaries of all passes

input and output:
  -o FILE                           write there in place of the standard output
  --split-input-file                treat the parts between '// -----' lines as separate modules
  --allow-unregistered-dialect      accept ops of unknown dialects in generic form
  --run-reproducer                  run the pipeline that the first line of the file carries
  --mlir-print-op-generic           print every op in generic form
  --mlir-print-debuginfo            print source locations
  --mlir-use-nameloc-as-prefix      name values after the variables in their locations

checks:
  --verify-each                     verify after every pass (input and output are always verified)
  --no-verify                       do not verify at all
  --check-stage=STAGE               at the end, check the contract of tt, structured, linalg, loops or ttg
  --verify-diagnostics              check errors and remarks against '// expected-error {{...}}' comments

watching:
  --mlir-print-ir-after-all         print the module after every pass
  --mlir-print-ir-after-change      print it after every pass that changed it
  --mlir-print-ir-after=PASS,...    print it after these passes
  --mlir-print-ir-tree-dir=DIR      write it after every pass, one file per pass
  --mlir-timing                     print the time of each pass
  --mlir-pass-pipeline-crash-reproducer=FILE   where to write the reproducer of a failing pass
  --remarks                         print what passes left as it was, and why
  --target=NAME[:MACHINE]           facts for lowerings: cpu (this machine), cpu:x86-64-v3, cuda:90, or an installed
                                    back end by its name
"""

_VALUE_FLAGS = {
    "o": "output",
    "check-stage": "check_stage",
    "target": "target",
    "mlir-print-ir-after": "print_after",
    "mlir-print-ir-tree-dir": "tree_dir",
    "mlir-pass-pipeline-crash-reproducer": "reproducer",
}

_SWITCHES = {
    "split-input-file": "split_input",
    "allow-unregistered-dialect": "allow_unregistered",
    "run-reproducer": "run_reproducer",
    "mlir-print-op-generic": "generic",
    "mlir-print-debuginfo": "debuginfo",
    "mlir-use-nameloc-as-prefix": "names_from_locations",
    "verify-each": "verify_each",
    "no-verify": "no_verify",
    "verify-diagnostics": "verify_diagnostics",
    "mlir-print-ir-after-all": "print_after_all",
    "mlir-print-ir-after-change": "print_after_change",
    "mlir-timing": "timing",
    "remarks": "remarks",
    "list-passes": "list_passes",
    "help": "help",
    "h": "help",
}


class UsageError(TilewrightError):
    """The command line cannot be understood."""


@dataclass
class Request:
    """What one call of tilewright-opt is asked to do."""

    file: str = "-"
    output: str = ""
    passes: list[Pass] = field(default_factory=list[Pass])
    target: str = "cpu"
    check_stage: str = ""
    print_after: str = ""
    tree_dir: str = ""
    reproducer: str = ""
    switches: set[str] = field(default_factory=set[str])

    def has(self, switch: str) -> bool:
        """Whether a switch is on, by the names on the right side of `_SWITCHES`."""
        return switch in self.switches


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
        raise UsageError(f"expected one input file, got {' and '.join(files)}")
    request.file = files[0] if files else "-"
    return request


def _read_flag(request: Request, name: str, value: str | None, following: list[str]) -> None:
    if name in ("p", "pass-pipeline"):
        request.passes.extend(parse_pipeline(_value_of(name, value, following)).passes)
    elif name in _VALUE_FLAGS:
        setattr(request, _VALUE_FLAGS[name], _value_of(name, value, following))
    elif name in _SWITCHES:
        if value in (None, "true", "1"):
            request.switches.add(_SWITCHES[name])
        elif value not in ("false", "0"):
            raise UsageError(f"--{name} takes no value but true or false, got '{value}'")
    elif is_registered(name):
        request.passes.extend(build_passes(name, parse_option_text(value or "")))
    else:
        raise _unknown_flag(name)


def _value_of(name: str, value: str | None, following: list[str]) -> str:
    if value is not None:
        return value
    if not following:
        raise UsageError(f"{'-' if len(name) == 1 else '--'}{name} needs a value")
    return following.pop(0)


def _unknown_flag(name: str) -> PipelineError:
    known = [*available_passes(), *available_pipelines(), *_SWITCHES, *_VALUE_FLAGS]
    near = get_close_matches(name, known, n=3)
    hint = f"did you mean {', '.join('--' + word for word in near)}?" if near else "--list-passes shows all passes"
    return PipelineError(f"unknown pass or flag '--{name}'; {hint}")
