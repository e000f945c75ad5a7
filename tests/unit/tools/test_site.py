"""The documentation as a site and the tutorial as a notebook: both are made from the pages, and work."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
SITE = ROOT / "docs" / "site"
CHAPTERS = sorted((ROOT / "docs" / "tutorial").glob("[0-9]-*.md"))


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"docs_site_{name}", SITE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.needs("mkdocs")
@pytest.mark.costly
def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    """Also of links and anchors; every page is in the list, and no page asks another machine for anything."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(ROOT / "mkdocs.yml")]
    done = subprocess.run([*command, "-d", str(tmp_path / "site")], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert not done.stderr.strip()
    pages = list((tmp_path / "site").rglob("*.html"))
    names = {page.relative_to(tmp_path / "site").as_posix() for page in pages}
    assert {"index.html", "architecture.html", "troubles.html", "tutorial/5-attention.html"} <= names
    documents = {
        path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")
    }
    assert {name.replace("README", "index") for name in documents} <= names
    for page in pages:
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]+)"', page.read_text())
        assert not [address for address in loaded if "//" in address and not address.startswith("#")], page.name


def test_links_of_pages_above_docs() -> None:
    links = load("links")
    page = type("Page", (), {"file": type("File", (), {"src_uri": "index.md"})})
    code = "```\n[b](c.md)\n```\n"
    text = "[tutorial](docs/tutorial/README.md), [`CONTRIBUTING.md`](CONTRIBUTING.md#add-an-op), [a](LICENSE)\n"
    expected = "[tutorial](tutorial/README.md), [`CONTRIBUTING.md`](contributing.md#add-an-op), a (`LICENSE`)\n"
    assert links.on_page_markdown(text + code, page) == expected + code


def test_the_notebook_has_all_prose_and_all_code(tmp_path: Path) -> None:
    path = tmp_path / "tutorial.ipynb"
    load("notebook").main(path)
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    blocks = [
        block for page in CHAPTERS for block in re.findall(r"^```python\n(.*?)\n```", page.read_text(), re.M | re.S)
    ]
    assert code == blocks and len(code) > 15
    prose = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert all(page.read_text().partition("\n")[0] in prose for page in CHAPTERS)


@pytest.mark.needs("jupyter")
@pytest.mark.costly
def test_the_notebook_runs(tmp_path: Path) -> None:
    import nbclient  # pyright: ignore[reportMissingImports]
    import nbformat  # pyright: ignore[reportMissingImports]

    notebook = nbformat.reads(json.dumps(load("notebook").make_notebook(CHAPTERS)), as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
