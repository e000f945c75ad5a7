"""The tutorial as a Jupyter notebook: `python docs/site/notebook.py tutorial.ipynb`. Prose and code are those of the
chapters, so there is nothing to keep in step."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TUTORIAL = Path(__file__).parents[1] / "tutorial"
_BLOCK = re.compile(r"^```python\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\((?!\w+://)[^)]*\)")


def make_notebook(chapters: list[Path]) -> dict[str, Any]:
    """The notebook of some chapters, in the format of nbformat 4.5."""
    cells = [cell for chapter in chapters for cell in cells_of(chapter)]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def cells_of(chapter: Path) -> Iterator[dict[str, Any]]:
    """Prose and blocks of Python of a chapter, in turns."""
    text, end = chapter.read_text(encoding="utf-8"), 0
    for block in _BLOCK.finditer(text):
        yield from _prose(text[end : block.start()])
        source = block.group(1).rstrip("\n").splitlines(keepends=True)
        yield {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
        end = block.end()
    yield from _prose(text[end:])


def _prose(text: str) -> Iterator[dict[str, Any]]:
    """A cell of text; links to files, which a notebook has not beside it, become their text."""
    text = _LINK.sub(r"\1", text).strip()
    if text:
        yield {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def main(path: Path) -> None:
    chapters = sorted(TUTORIAL.glob("[0-9]-*.md"))
    path.write_text(json.dumps(make_notebook(chapters), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
