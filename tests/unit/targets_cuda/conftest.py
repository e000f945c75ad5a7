"""The launch path on a driver that records; see `fake_driver`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fake_driver import FakeApi

from tilewright.targets.cuda import driver


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    fake = FakeApi()
    monkeypatch.setattr(driver, "_import_bindings", lambda: fake)
    driver.cuda_driver.cache_clear()
    yield fake
    driver.cuda_driver.cache_clear()
