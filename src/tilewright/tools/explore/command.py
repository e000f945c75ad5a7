"""`tilewright explore FILE[:KERNEL] --signature "*fp32:16, i32, 1024" --target cuda:90 -o page.html`"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from tilewright.tools.explore.page import render_page
from tilewright.tools.explore.parser import version_of
from tilewright.tools.explore.recording import Recording, record
from tilewright.tools.explore.serving import serve
from tilewright.tools.explore.sources import ExploreError, find_named_target, find_subject
from tilewright.tools.explore.terminal import print_line, print_overview, print_passes, print_stage
from tilewright.tools.explore.watching import Versions, watch_file


def run_explore(options: argparse.Namespace) -> int:
    """The command; the exit status is 1 where the kernel could not be compiled to the end. Raises ExploreError,
    SignatureError, TargetError, and what the front end raises."""
    if options.watch and options.output is None and options.serve is None:
        raise ExploreError("--watch is for pages: add --serve or --output PAGE.html")
    if options.output is None and options.serve is None:
        if options.compare:
            raise ExploreError("--compare is for pages: add --serve or --output PAGE.html")
        return _print(options, _record(options))
    versions = Versions(lambda: _record_all(options))
    if options.serve is not None:
        serve(versions, options.serve, watched=_file_of(options) if options.watch else None)
        return 0
    console, page = Console(), Path(options.output or "")
    for shown in watch_file(versions, _file_of(options)) if options.watch else [versions.compile()]:
        page.write_text(render_page(*shown.recordings, labels=shown.labels), encoding="utf-8")
        console.print(options.output, highlight=False, markup=False)
        _print_failure(shown.recordings[0])
    return int(bool(versions.shown.recordings[0].failure))


def _file_of(options: argparse.Namespace) -> Path:
    return Path(options.file.partition(":")[0])


def _record(options: argparse.Namespace) -> Recording:
    target, arch = find_named_target(options.target)
    subject = find_subject(options, arch)
    return record(subject.source, subject.options, target, subject.launch)


def _record_all(options: argparse.Namespace) -> dict[str, Recording]:
    """The kernel and all versions to compare it with, by what is written above them."""
    recorded = {f"{Path(options.file).name} -t {options.target}": _record(options)}
    for text in options.compare:
        recorded[text] = _record(version_of(options, text))
    return recorded


def _print(options: argparse.Namespace, recording: Recording) -> int:
    console = Console()
    if options.stage is not None:
        print_stage(recording, options.stage, console)
    elif options.pass_ is not None:
        print_passes(recording, options.pass_, console)
    elif options.line is not None:
        print_line(recording, options.line, console)
    else:
        print_overview(recording, console)
    _print_failure(recording)
    return int(bool(recording.failure))


def _print_failure(recording: Recording) -> None:
    if recording.failure:
        Console(stderr=True).print(recording.failure, markup=False, highlight=False)
