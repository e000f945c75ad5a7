"""docs/tutorial: every block of Python runs, in the order of its page; links lead somewhere."""

from __future__ import annotations

import re
import runpy
from itertools import pairwise
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
PAGES = sorted((DOCS / "tutorial").glob("*.md"))
CHAPTERS = [page for page in PAGES if page.stem != "README"]


@pytest.mark.sampled
@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)
def test_the_code_of_a_chapter_runs(page: Path, tmp_path: Path) -> None:
    """In one file, as a reader would paste it: kernels are read from their source."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks, "a chapter shows code"
    file = tmp_path / f"chapter_{page.stem.partition('-')[0]}.py"
    file.write_text("\n\n".join(blocks))
    runpy.run_path(str(file))


def test_there_are_eight_chapters_and_each_leads_to_the_next() -> None:
    assert [page.stem.partition("-")[0] for page in CHAPTERS] == list("12345678")
    for page, following in pairwise(CHAPTERS):
        assert f"({following.name})" in page.read_text()


@pytest.mark.parametrize("page", [*PAGES, *DOCS.glob("*.md"), *DOCS.parent.glob("*.md")], ids=lambda page: page.stem)
def test_links_lead_to_files(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
