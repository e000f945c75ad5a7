"""`tilewright explain FILE[:KERNEL] --signature "*fp32:16, i32, 1024" --target cuda:90 --json`"""

from __future__ import annotations

import argparse
from dataclasses import replace

from rich.console import Console

from tilewright.compiler.source import ASTSource
from tilewright.tools.explain.margin import as_json, print_report
from tilewright.tools.explain.report import explain
from tilewright.tools.explore.sources import find_named_target, find_subject


def run_explain(options: argparse.Namespace) -> int:
    """The command; the exit status. Raises ExploreError, SignatureError, TargetError, and compilation's errors."""
    target, arch = find_named_target(options.target)
    subject = find_subject(options, arch)
    source = subject.source
    if isinstance(source, ASTSource) and options.signature is not None:
        source = replace(source, noalias=not options.overlap)  # launches find out by themselves
    report = explain(source, subject.options, target, with_machine=True)
    if options.json:
        print(as_json(report))
    else:
        print_report(report, Console())
    return 0
