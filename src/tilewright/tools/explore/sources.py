"""What `tilewright explore` and `tilewright explain` compile: a target, and a kernel with its types and options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import Source, TextSource
from tilewright.ir.stages import STAGES
from tilewright.support.errors import TilewrightError
from tilewright.support.records import dataclass
from tilewright.targets.base import Target, find_target
from tilewright.tools.aot.command import find_kernel, find_machine, given_options
from tilewright.tools.aot.signature import read_signature
from tilewright.tools.aot.variants import source_of
from tilewright.tools.suggestions import did_you_mean
from tilewright.tools.validation.file_launches import FileLaunch, find_launches
from tilewright.tools.validation.launches import Launch

MADE_UP = "types are made up from the kernel's text; --main runs the file as a program, --signature says the types"

NAMED_MACHINES = ("cpu", "cuda")
"""Targets of which `tilewright compile` takes a machine, too."""


class ExploreError(TilewrightError):
    """Something was asked for that a file, or a recording, does not have."""


@dataclass(frozen=True)
class Subject:
    """What is to be compiled, and the launch that it comes from, where there is one."""

    source: Source
    options: CompileOptions
    launch: Launch | None = None


def find_named_target(text: str) -> tuple[Target, str | None]:
    """The target of `--target`, and the architecture that it names. Raises TargetError."""
    name, _, machine = text.partition(":")
    return find_machine(text) if name in NAMED_MACHINES else (find_target(name), machine or None)


def find_subject(options: argparse.Namespace, arch: str | None) -> Subject:
    """Return what is to be compiled: IR, a kernel for a signature, or a kernel as its file launches it.

    Raises ExploreError, SignatureError, and what running the file does.
    """
    given = CompileOptions.from_keywords(asked := given_options(options, arch))
    name, _, kernel = options.file.partition(":")
    path = Path(name)
    if path.suffix.removeprefix(".") in {"source", *(stage.asm_key for stage in STAGES.values())}:
        if not path.is_file():
            raise ExploreError(f"no such file: {name}")
        if kernel or options.signature is not None:
            raise ExploreError(f"{name} is IR, which has one kernel and its types: nothing else says what they are")
        return Subject(TextSource.read(path), given)
    if options.signature is not None:
        function = find_kernel(options.file)
        return Subject(source_of(function, read_signature(options.signature, function)), given)
    if not path.is_file():
        raise ExploreError(f"{name} is a folder, not a file" if path.is_dir() else f"no such file: {name}")
    try:
        found = choose_launch(list(find_launches(path, as_main=options.main)), kernel, name)
    except ExploreError as error:
        raise ExploreError(f"{error}; --signature says what it is compiled for") from None
    if found.is_made_up:
        print(f"{name} launches nothing while it is imported: {MADE_UP}", file=sys.stderr)
    own = {field.name for field in fields(CompileOptions)} & asked.keys()
    launched = replace(found.launch.options, **{name: getattr(given, name) for name in own})
    return Subject(found.launch.source, launched, found.real_launch)


def choose_launch(launches: Sequence[FileLaunch], kernel: str, origin: str) -> FileLaunch:
    """Return the launch of a kernel, or of the first one where no kernel is named. Raises ExploreError where there is
    none; `origin` is what made the launches, in words."""
    wanted = kernel or next((found.launch.name for found in launches), "")
    # Of a kernel that is tuned the last launch has the configuration that was chosen.
    for found in reversed(launches):
        if found.launch.name == wanted:
            return found
    names = {found.launch.name for found in launches}
    there_are = f"{did_you_mean(kernel, names)}; it launches {', '.join(sorted(names))}" if names else ""
    what = f"kernel {kernel!r}" if kernel else "a kernel"
    raise ExploreError(f"{origin} has no launch of {what}{there_are}")
