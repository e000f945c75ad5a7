"""Runs tests of the exec suite and prints one line of JSON as each begins and ends; started by `suite.py`.

    python suite_worker.py collect FILE ...       the names of the tests
    python suite_worker.py run FILE ... < NAMES   those tests of them

A test that loses the GPU's context (an illegal address does) ends the process: the next one starts anew.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

LOST = 3
"""Exit status after a test that lost the context."""


class Reporter:
    """Selects tests and reports on them."""

    def __init__(self, wanted: set[str] | None) -> None:
        self.wanted = wanted
        self.lines = os.fdopen(os.dup(1), "w", buffering=1)

    def say(self, **line: Any) -> None:
        self.lines.write(json.dumps(line) + "\n")
        self.lines.flush()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.wanted is None:
            self.say(collected=[item.nodeid for item in items])
        else:
            items[:] = [item for item in items if item.nodeid in self.wanted]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.say(broken=report.nodeid, reason=last_lines(report.longreprtext))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.say(begun=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.say(
                test=report.nodeid, outcome=report.outcome, seconds=round(report.duration, 3), reason=reason_of(report)
            )

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        if is_context_lost():
            self.say(lost=nodeid)
            os._exit(LOST)


def reason_of(report: pytest.TestReport) -> str:
    if report.outcome == "passed":
        return ""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    return " ".join(crash.message.split())[:600] if crash is not None else last_lines(report.longreprtext)


def last_lines(text: str) -> str:
    return " | ".join(text.strip().splitlines()[-3:])[:600]


def is_context_lost() -> bool:
    """Whether the GPU answers no more in this process."""
    module: Any = sys.modules.get("tilewright.targets.cuda.driver")
    if module is None:
        return False
    try:
        driver = module.cuda_driver()
    except Exception:  # no GPU was ever used
        return False
    try:
        with driver.entered(driver.device(0)):
            driver.synchronize(0)
    except Exception:
        return True
    return False


def main(arguments: list[str]) -> int:
    verb, *files = arguments
    wanted = None if verb == "collect" else {line.rstrip("\n") for line in sys.stdin}
    reporter = Reporter(wanted)
    os.dup2(2, 1)  # what kernels and tests print is no result
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "--tb=short", "-q"]
    if wanted is None:
        options.append("--collect-only")
    return int(pytest.main([*options, *files], plugins=[reporter]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
