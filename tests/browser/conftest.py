"""Pages of the explorer in headless Chromium. Every test fails where the page says anything on the console."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.pages import KERNEL, write_pages  # pyright: ignore[reportMissingImports]
from suite.requirements import find_browser

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    with sync_playwright() as playwright:
        flags = ["--no-sandbox"] if os.name == "posix" and os.getuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=find_browser(), args=flags)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "rows.py").write_text(KERNEL)
    return write_pages(folder)


@pytest.fixture
def open_page(chromium: Any, pages: dict[str, Path]) -> Iterator[Open]:
    """Open a page by its name, or an address: `open_page("cpu", "#view=layouts", width=390)`."""
    said: list[str] = []
    contexts: list[Any] = []

    def open_(name: str, state: str = "", *, width: int = 1440, height: int = 900, dark: bool = False) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.goto((name if "://" in name else pages[name].as_uri()) + state)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert not said, "the console is silent"
