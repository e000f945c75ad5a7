"""`tilewright explore FILE[:KERNEL] --signature "*fp32:16, i32, 1024" --target cuda:90 -o page.html`"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import Source, TextSource
from tilewright.ir.stages import STAGES
from tilewright.targets.base import Target, find_target
from tilewright.tools.aot.command import compilation_options, find_kernel, find_machine
from tilewright.tools.aot.signature import read_signature
from tilewright.tools.aot.variants import source_of
from tilewright.tools.explore.page import render_page
from tilewright.tools.explore.recording import record
from tilewright.tools.explore.terminal import (
    ExploreError,
    print_line,
    print_overview,
    print_passes,
    print_stage,
)
from tilewright.tools.validation.file_launches import find_launches

MADE_UP = "types are made up from the kernel's text; --main runs the file as a program, --signature says the types"

NAMED_MACHINES = ("cpu", "cuda")
"""Targets of which `tilewright compile` takes a machine, too."""


def run_explore(options: argparse.Namespace) -> int:
    """The command; the exit status is 1 where the kernel could not be compiled to the end. Raises ExploreError,
    SignatureError, TargetError, and what the front end raises."""
    target, arch = _find_target(options.target)
    source, compile_options = _find_source(options, arch)
    recording = record(source, compile_options, target)
    console = Console()
    if options.output is not None:
        Path(options.output).write_text(render_page(recording), encoding="utf-8")
        console.print(options.output, highlight=False, markup=False)
    elif options.stage is not None:
        print_stage(recording, options.stage, console)
    elif options.pass_ is not None:
        print_passes(recording, options.pass_, console)
    elif options.line is not None:
        print_line(recording, options.line, console)
    else:
        print_overview(recording, console)
    if recording.failure:
        Console(stderr=True).print(recording.failure, markup=False, highlight=False)
    return int(bool(recording.failure))


def _find_target(text: str) -> tuple[Target, str | None]:
    name, _, machine = text.partition(":")
    return find_machine(text) if name in NAMED_MACHINES else (find_target(name), machine or None)


def _find_source(options: argparse.Namespace, arch: str | None) -> tuple[Source, CompileOptions]:
    """What is to be compiled: IR, a kernel for a signature, or a kernel as its file launches it."""
    given = compilation_options(options, arch)
    name, _, kernel = options.file.partition(":")
    path = Path(name)
    if path.suffix.removeprefix(".") in {"source", *(stage.asm_key for stage in STAGES.values())}:
        if not path.is_file():
            raise ExploreError(f"no such file: {name}")
        if kernel or options.signature is not None:
            raise ExploreError(f"{name} is IR, which has one kernel and its types: nothing else says what they are")
        return TextSource.read(path), given
    if options.signature is not None:
        function = find_kernel(options.file)
        return source_of(function, read_signature(options.signature, function)), given
    if not path.is_file():
        raise ExploreError(f"no such file: {name}")
    launches = list(find_launches(path, as_main=options.main))
    wanted = kernel or next((found.launch.name for found in launches), "")
    # Of a kernel that is tuned the last launch has the configuration that was chosen.
    for found in reversed(launches):
        if found.launch.name == wanted:
            if found.is_made_up:
                print(f"{name} launches nothing while it is imported: {MADE_UP}", file=sys.stderr)
            return found.launch.source, found.launch.for_architecture(arch).options
    names = {found.launch.name for found in launches}
    there_are = f"; it launches {', '.join(sorted(names))}" if names else ""
    what = f"kernel {kernel!r}" if kernel else "a kernel"
    raise ExploreError(f"{name} has no launch of {what}{there_are}; --signature says what it is compiled for")
