"""`tilewright explore FILE[:KERNEL] --signature "*fp32:16, i32, 1024" --target cuda:90 -o page.html`"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from tilewright.tools.explore.page import render_page
from tilewright.tools.explore.recording import record
from tilewright.tools.explore.sources import find_named_target, find_source
from tilewright.tools.explore.terminal import print_line, print_overview, print_passes, print_stage


def run_explore(options: argparse.Namespace) -> int:
    """The command; the exit status is 1 where the kernel could not be compiled to the end. Raises ExploreError,
    SignatureError, TargetError, and what the front end raises."""
    target, arch = find_named_target(options.target)
    source, compile_options = find_source(options, arch)
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
