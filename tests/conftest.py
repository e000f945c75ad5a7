"""Options of the whole suite, its cache folder."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

from suite.cache_folder import enter_cache_folder, leave_cache_folder

# A busy machine is no defect: generated inputs are neither timed nor refused for being slow to make.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

OWN_FOLDER = enter_cache_folder()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run all of what is otherwise sampled (tens of minutes)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: beyond the sample that every run takes; `pytest --long` runs these too")


def pytest_unconfigure() -> None:
    leave_cache_folder(OWN_FOLDER)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skipped = [item for item in items if item.get_closest_marker("long")]
    if skipped:
        config.hook.pytest_deselected(items=skipped)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
