"""The whole suite: its options, its cache folder, what it collects and samples, how it tells its progress."""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from suite import sampling
from suite.cache_folder import enter_cache_folder, leave_cache_folder
from suite.children import Children, start_children
from suite.pairwise import keep_pairs
from suite.progress import Progress, skips_by_kind
from suite.reports import run_with_one_report, wants_every_report
from suite.requirements import LeftOut, describe

# A busy machine is no defect: generated inputs are neither timed nor refused for being slow to make.
# The GPU suite (benchmarks/gpu/suite.py) runs without hypothesis, filecheck and pytest-xdist, too.
if importlib.util.find_spec("hypothesis") is not None:
    from hypothesis import HealthCheck, settings
    from hypothesis.internal.conjecture import providers

    settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("suite")
    # It draws the constants of all local modules, too. Those of a compiler's thousand files are no inputs to look for,
    # and to parse them takes eight seconds of every process in a fresh clone.
    providers.is_local_module_file = lambda path: False  # pyright: ignore[reportPrivateImportUsage]

# A kernel that an optimising pass cannot lower is a defect, also in processes that tests start.
os.environ.setdefault("TILEWRIGHT_OPT", "strict")
COLLECT_AFTER = (10_000, 10, 10)
"""More new objects than by default between collections, whose full ones took 4 % of the time of the tests."""
OWN_FOLDER = enter_cache_folder()
LEFT_OUT = LeftOut()
SAID: dict[str, str] = {}
"""What is said at the end about the tests that were not run, by kind; workers send theirs to the first process."""

MARKERS = (
    "long: beyond what continuous integration runs; `pytest --long` runs these too",
    "pairwise: of a grid of parameters, as many combinations as all pairs of values need; `--long` runs all",
    "costly: takes seconds; the sample of `make test` has it only when its part has its turn",
    "sampled: among tests that `make test` runs whole, one of whose cases it takes",
    "only_on(*targets): not collected for others of `every_target`",
    "needs(*names): not collected where one of these is absent (suite/requirements.py)",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tilewright")
    group.addoption("--all", action="store_true", help="run everything (make test-all)")
    group.addoption("--long", action="store_true", help="run also what --all samples (tens of minutes)")
    group.addoption(
        "--sample",
        type=int,
        metavar="N",
        help=f"run a sample, part N of {sampling.PARTS} of the rest; by default the part is of the day, and tests that "
        "are named by path, -k or -m are not sampled",
    )
    group.addoption(
        "--except-sample", type=int, metavar="N", help="run everything but sample N, after a run of `--sample=N`"
    )
    group.addoption(
        "--day",
        type=int,
        metavar="N",
        help=f"run what continuous integration does on day N: of families of like cases part N of {sampling.DAYS}",
    )


@pytest.fixture(scope="session")
def compiler_children() -> Iterator[Children]:
    """Programs that compile, which import the compiler once for all; none of them has compiled before it is run."""
    yield from start_children("numpy", "suite.whole_compiler")


def is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if is_worker(config):
        config.option.sample = config.workerinput["sample"]  # pyright: ignore[reportAttributeAccessIssue]
    else:
        config.option.sample = _find_sample(config)
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and config.get_verbosity() <= 0 and not config.option.collectonly:
            config.pluginmanager.register(Progress(config, reporter), "tilewright-progress")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker takes the sample that the first process has chosen."""
    node.workerinput["sample"] = node.config.option.sample


def _find_sample(config: pytest.Config) -> int | None:
    """The part of the rest that a run takes, or None where it takes everything."""
    options: Any = config.option
    if options.all or options.long or options.day is not None or options.except_sample is not None:
        return None
    if options.sample is not None:
        return options.sample % sampling.PARTS
    is_named = options.keyword or options.markexpr or config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    return None if is_named else sampling.part_of_today()


def pytest_unconfigure() -> None:
    leave_cache_folder(OWN_FOLDER)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> list[Any] | None:
    """What cannot run here is not collected."""
    is_test = name.startswith(("test", "Test")) and LEFT_OUT.leaves_out(collector, obj)
    return [] if is_test else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Twenty thousand cases live as long as the run: Python's collector has no need to walk them again and again, and
    what tests keep (modules, kernels) not every few seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if not LEFT_OUT.leaves_out_case(item)]
    SAID["left out"] = describe(LEFT_OUT.counts)
    if config.getoption("--long"):
        return
    dropped = {item.nodeid for item in items if item.get_closest_marker("long")}
    dropped |= keep_pairs([item for item in items if item.nodeid not in dropped])
    count = len(items)
    _deselect(config, items, dropped)
    if dropped:
        SAID["long"] = f"{len(dropped)} more of {count} cases: pytest --long"
    sample = config.getoption("--sample")
    if sample is not None:
        count = len(items)
        _deselect(config, items, {item.nodeid for item in items} - sampling.choose(items, sample))
        SAID["sample"] = (
            f"sampled: {len(items)} of {count} tests, part {sample} of {sampling.PARTS} by the date "
            f"(the same again: --sample={sample}; everything: make test-all)"
        )
    left_out, day = config.getoption("--except-sample"), config.getoption("--day")
    other = set[str]() if left_out is None else sampling.choose(items, left_out % sampling.PARTS)
    waiting = set[str]() if day is None else {item.nodeid for item in items} - sampling.choose_of_day(items, day)
    count = len(items)
    _deselect(config, items, other | waiting)
    if left_out is not None:
        SAID["sample"] = f"{len(other)} of {count} tests are those of --sample={left_out}"
    if day is not None:
        SAID["day"] = (
            f"{len(waiting - other)} of {count} tests wait for their turn, day {day} (the same again: --day={day}; "
            "everything: make test-all)"
        )


def _deselect(config: pytest.Config, items: list[pytest.Item], dropped: set[str]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in dropped])
    items[:] = [item for item in items if item.nodeid not in dropped]


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if not is_worker(item.config) or wants_every_report(item.config):
        return None
    run_with_one_report(item, nextitem)
    return True


def pytest_sessionfinish(session: pytest.Session) -> None:
    if is_worker(session.config):
        session.config.workeroutput["said"] = dict(SAID)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    SAID.update(getattr(node, "workeroutput", {}).get("said", {}))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped and terminalreporter.config.get_verbosity() <= 0:
        terminalreporter.write_line("skipped:")
        for line in skips_by_kind(skipped):
            terminalreporter.write_line(line)
    for kind in ("left out", "long", "sample", "day"):
        if SAID.get(kind):
            terminalreporter.write_line(SAID[kind])
