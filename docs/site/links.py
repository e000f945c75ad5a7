"""A hook of MkDocs: pages that lie above docs/ become pages of the site; links to other files of the repository become
their text and the file's name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

PAGES = {
    "index.md": "README.md",
    "architecture.md": "ARCHITECTURE.md",
    "contributing.md": "CONTRIBUTING.md",
    "changes.md": "CHANGELOG.md",
}
"""Pages of the site and the files that they are."""

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s#]+)(#[^)]*)?\)")
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are not below docs/."""
    from mkdocs.structure.files import File  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    for page, source in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))  # pyright: ignore[reportUnknownMemberType]
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Have links lead to pages of the site; those to other files become their text and the file's name."""
    source = ROOT / PAGES[page.file.src_uri] if page.file.src_uri in PAGES else ROOT / "docs" / page.file.src_uri
    return outside_code(markdown, lambda text: _LINK.sub(lambda link: _led(link, source, page.file.src_uri), text))


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Change a page's text, its blocks of code as they are."""
    parts: list[str] = []
    end = 0
    for block in _CODE.finditer(markdown):
        parts += [change(markdown[end : block.start()]), block.group()]
        end = block.end()
    return "".join([*parts, change(markdown[end:])])


def _led(link: re.Match[str], source: Path, page: str) -> str:
    text, target, anchor = link[1], link[2], link[3] or ""
    if "://" in target:
        return link[0]
    file = (source.parent / target).resolve()
    by_file = {(ROOT / name).resolve(): uri for uri, name in PAGES.items()}
    if file in by_file:
        uri = by_file[file]
    elif file.is_relative_to(ROOT / "docs") and file.is_file():
        uri = file.relative_to(ROOT / "docs").as_posix()
    else:
        name = file.relative_to(ROOT).as_posix()
        return f"`{name}`" if text.strip("`") == name else f"{text} (`{name}`)"
    return f"[{text}]({'../' * page.count('/')}{uri}{anchor})"
