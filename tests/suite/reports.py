"""What a worker tells the first process of a test: one report where it passes, not one each of its set-up and end."""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol


def run_with_one_report(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Run a test as pytest does, but for the reports of a set-up and an end that pass: the report of the test has their
    time. Twelve thousand tests have a third fewer messages between processes."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    quiet = [report for report in reports if report.when != "call" and report.passed]
    for report in reports:
        if report.when == "call":
            report.duration += sum(each.duration for each in quiet)
        if report not in quiet:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def wants_every_report(config: pytest.Config) -> bool:
    """Does something ask for what the reports of set-ups have?"""
    options = config.option
    return options.durations is not None or options.xmlpath is not None
