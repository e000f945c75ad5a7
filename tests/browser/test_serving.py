"""`--serve` and `--watch`: an open page shows what was edited, and compares it with what was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.pages import KERNEL  # pyright: ignore[reportMissingImports]

pytestmark = [pytest.mark.needs("browser"), pytest.mark.costly]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    file = tmp_path / "rows.py"
    file.write_text(KERNEL)
    command = [sys.executable, "-m", "tilewright", "explore", f"{file}:rows", "--main", "--serve", "--watch"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, preexec_fn=_hear_interrupts)
    assert server.stdout is not None
    try:
        address = server.stdout.readline().split()[0]
        yield file, address
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0
    finally:
        server.kill()


def _hear_interrupts() -> None:
    """What a shell runs in the background ignores SIGINT, and what that starts does."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_page_follows_its_file(served: tuple[Path, str], open_page: Any) -> None:
    file, address = served
    page = open_page(address, "#view=step:0")
    page.get_by_role("link", name="linalg-to-loops").click()
    shown = page.locator("#panes .code")
    assert "math.exp2" not in shown.inner_text()
    file.write_text(KERNEL.replace("tl.exp(", "tl.exp2("))
    page.locator("#source").get_by_text("tl.exp2").wait_for(timeout=60_000)
    view = page.locator("nav a[aria-current]").inner_text()
    assert view.startswith("linalg-to-loops"), "the view stays"
    page.get_by_role("link", name="compare versions").click()
    page.get_by_label("text", exact=True).select_option("ttir")
    assert page.locator("#panes > section").first.locator(".dropped").filter(has_text="math.exp2").count() == 1
    file.write_text(KERNEL.replace("tl.exp(", "tl.expo("))
    page.locator("#failure").get_by_text("expo").wait_for(timeout=60_000)
    file.write_text(KERNEL)
    page.wait_for_function("document.getElementById('failure').textContent === ''", timeout=60_000)
