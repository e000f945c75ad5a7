"""The suite's way of running tests, on small suites of their own: sampling, skips, absent tools, tests that hang."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from suite.children import Children, start_children

pytestmark = pytest.mark.costly

TESTS = Path(__file__).resolve().parents[2]

SUITE = """
import time
import pytest

@pytest.mark.parametrize("layout", "abcd")
@pytest.mark.parametrize("dtype", range(4))
@pytest.mark.parametrize("extent", range(4))
@pytest.mark.pairwise
def test_grid(extent, dtype, layout):
    assert extent < 9

@pytest.mark.skip(reason="a first reason")
def test_first():
    pass

@pytest.mark.parametrize("n", range(3))
def test_second(n):
    pytest.skip("a second reason")

@pytest.mark.needs("absent")
@pytest.mark.parametrize("n", range(7))
def test_elsewhere(n):
    raise AssertionError
"""

HANGING = """
import time

def test_that_ends():
    pass

def test_that_hangs():
    time.sleep(600)

def test_that_ends_too():
    pass
"""

OUTCOMES = """
import pytest

@pytest.fixture
def broken():
    raise ValueError("a set-up")

@pytest.fixture
def ends_badly():
    yield
    raise ValueError("an end")

def test_passes():
    pass

def test_fails():
    raise ValueError("a test")

def test_without_a_set_up(broken):
    pass

def test_with_a_bad_end(ends_badly):
    pass

@pytest.mark.xfail
def test_that_is_known_to_fail():
    raise ValueError
"""

FOR_SOME = """
import pytest

@pytest.fixture(params=["cpu", "cuda_sim"])
def every_target(request):
    return request.param

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.needs("absent"))])
def test_what_cases_need(n):
    assert n == 1

@pytest.mark.only_on("cpu", "cuda")
def test_target(every_target):
    assert every_target == "cpu"

@pytest.mark.usefixtures("every_target")
@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.only_on("cuda_sim"))])
def test_targets_of_cases(n):
    pass
"""

CONFTEST = """
from suite.requirements import REQUIREMENTS, Requirement

REQUIREMENTS["absent"] = Requirement("a thing that is absent", lambda: False)
"""


BARE = """
import sys
import pytest

class Absent:
    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self):
        sys.modules.update(hypothesis=None, filecheck=None, xdist=None)

raise SystemExit(pytest.main(plugins=[Absent()]))
"""
"""Pytest where packages that parts of the suite need are missing."""


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def pytest_children() -> Iterator[Children]:
    """Programs that need not import pytest and its plug-ins themselves."""
    yield from start_children("pytest", "hypothesis", "xdist", "numpy")


PYTEST = ("pytest", "-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Of plug-ins that are imported already."""


@pytest.fixture
def run(pytest_children: Children) -> Run:
    """Run pytest on a suite, in a folder, with the options and the conftest of ours."""

    def run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        write_suite(folder, text)
        return pytest_children.run([*PYTEST, *options], {}, folder, cwd=folder)

    return run


def write_suite(folder: Path, text: str) -> None:
    tests = folder / "tests" / "exec"
    tests.mkdir(parents=True)
    (folder / "tests" / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    (folder / "tests" / "suite").symlink_to(TESTS / "suite")
    (tests / "conftest.py").write_text(CONFTEST)
    (tests / "test_these.py").write_text(text)
    (folder / "pyproject.toml").write_text((TESTS.parent / "pyproject.toml").read_text())


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_everything(run: Run, tmp_path: Path, jobs: str) -> None:
    done = run(tmp_path, SUITE, "--all", "-n", jobs)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3  a second reason" in done.stdout and "1  a first reason" in done.stdout
    assert "not run here: 7 need a thing that is absent" in done.stdout
    assert "more of 68 cases: pytest --long" in done.stdout
    passed = int(done.stdout.splitlines()[-1].split(" passed")[0].lstrip("= "))
    assert 16 <= passed <= 24


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_cases_that_cannot_run_are_not_collected(run: Run, tmp_path: Path, jobs: str) -> None:
    done = run(tmp_path, FOR_SOME, "--all", "-n", jobs)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not run here: 1 need a thing that is absent" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("5 passed in ")


@pytest.mark.parametrize("options", [("-n", "0"), ("-n", "2"), ("-n", "2", "--durations=3")], ids=" ".join)
def test_every_outcome_is_told(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    """A worker leaves out the reports of set-ups and ends that pass, and no others."""
    done = run(tmp_path, OUTCOMES, "--all", *options)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("1 failed, 2 passed, 1 xfailed, 2 errors in "), done.stdout
    assert all(f"ValueError: {what}" in done.stdout for what in ("a set-up", "an end", "a test"))


def test_long_runs_take_whole_grids(run: Run, tmp_path: Path) -> None:
    done = run(tmp_path, SUITE, "--long")
    assert done.stdout.splitlines()[-1].startswith("64 passed, 4 skipped in ")


def test_without_options_a_sample_is_taken_and_said(run: Run, pytest_children: Children, tmp_path: Path) -> None:
    done = run(tmp_path, SUITE)
    assert "by the date (the same again: --sample=" in done.stdout
    number = done.stdout.partition("--sample=")[2].partition(";")[0]
    for options in (["-n", "2"], [f"--sample={number}", "-n", "2"]):
        again = pytest_children.run([*PYTEST, *options], {}, tmp_path, cwd=tmp_path)
        assert said_of_the_sample(again.stdout) == said_of_the_sample(done.stdout), options


def test_a_sample_and_the_rest_are_everything(run: Run, tmp_path: Path) -> None:
    runs = [run(tmp_path / word[2:], SUITE, word, "-vv") for word in ("--sample=5", "--except-sample=5", "--all")]
    sample, rest, everything = ({line.split()[0] for line in done.stdout.splitlines() if "::" in line} for done in runs)
    assert sample and rest and not sample & rest
    assert sample | rest == everything


def said_of_the_sample(output: str) -> list[str]:
    return [line for line in output.splitlines() if "sampled" in line]


def test_what_is_named_is_not_sampled(run: Run, tmp_path: Path) -> None:
    assert "sampled" not in run(tmp_path, SUITE, "tests/exec").stdout


@pytest.mark.costly
def test_without_a_cache_and_without_workers(tmp_path: Path) -> None:
    """As the GPU suite's workers run, and on machines with less than the suite needs."""
    options = [word for name in ("cacheprovider", "xdist", "hypothesispytest") for word in ("-p", f"no:{name}")]
    write_suite(tmp_path, SUITE)
    command = [sys.executable, "-c", BARE, *options, "tests/exec"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.splitlines()[-1].startswith("16 passed, 4 skipped, 48 deselected"), done.stdout + done.stderr


def test_file_tests_need_no_cache() -> None:
    """Their temporary files are of their own."""
    options = [word for name in ("cacheprovider", "xdist") for word in ("-p", f"no:{name}")]
    command = [sys.executable, "-m", "pytest", *options, "tests/file/tt_to_unstructured/casts.mlir"]
    done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_a_test_that_hangs_is_named(run: Run, tmp_path: Path, jobs: str) -> None:
    """In one process the run ends there; with workers the test has failed, and the others run."""
    done = run(tmp_path, HANGING, "--all", "-n", jobs, "-o", "faulthandler_timeout=2")
    output = done.stdout + done.stderr
    assert done.returncode != 0
    assert "in test_that_hangs" in output, output
    if jobs != "0":
        assert "1 failed, 2 passed" in done.stdout.splitlines()[-1], output
        assert "FAILED tests/exec/test_these.py::test_that_hangs" in output
