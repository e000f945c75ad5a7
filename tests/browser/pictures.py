"""Pictures of the explorer's page for docs/exploring.md: `python tests/browser/pictures.py docs/pictures`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import sync_playwright  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

from browser.pages import KERNEL, write_pages  # pyright: ignore[reportMissingImports]
from suite.requirements import find_browser

PICTURES = {
    "overview": ("cpu", "", 1280, False),
    "assembly": ("cpu", "#view=text:asm&pin=0:17", 1280, False),
    "layouts": ("gpu", "#view=layouts", 1280, True),
    "compare": ("versions", "#view=compare:ttgir", 1280, False),
    "phone": ("cpu", "#view=step:1", 390, True),
}
"""By name: the page, its state, the width of the window, whether it is dark."""


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        (Path(made) / "rows.py").write_text(KERNEL)
        pages = write_pages(Path(made))
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        for name, (page_name, state, width, dark) in PICTURES.items():
            scheme = "dark" if dark else "light"
            page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            page.goto(pages[page_name].as_uri() + state)
            page.screenshot(path=folder / f"explore-{name}.jpg", type="jpeg", quality=70)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
