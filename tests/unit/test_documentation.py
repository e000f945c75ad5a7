"""Files, flags and folders that the documentation names are there.

A path is anything between backticks that ends in a slash or in a file's suffix; it may leave out leading folders, as
`microkernels/pack_cache.py` does. A flag is `--name` in code. `docs/tour.md` is held against the code by
`tools/test_tour.py`, too, down to its functions.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tilewright.ir.passes import available_passes, available_pipelines

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "tests", "docs", "benchmarks", "examples")
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")))

PATH = re.compile(r"((?:[\w.-]+/)+(?:[\w-]+\.\w+)?|[\w-]+\.(?:py|ll|md|mlir|toml|html))(?::[\w.]+)?")
PICTURED = re.compile(r"[a-z]+(?:[_/][a-z]+)+")

ELSEWHERE = {
    "docs/versions.md": {
        "torch/_inductor/",
        "codegen/cpp_wrapper_cpu.py",
        "codegen/triton.py",
        "cpp_wrapper_cpu.py",
        "torch/utils/_triton.py",
    },
}
"""Files of Triton's and PyTorch's."""

OTHER_FLAGS = {"your-pass", "nthreads", "nworkers"}
"""Of the reader's pass, and of Dask's workers."""


def code_of(text: str) -> list[str]:
    """What stands in backticks, and the lines of blocks of shell commands."""
    blocks = re.findall(r"^```(?:sh|bash|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [*re.findall(r"`([^`\n]+)`", prose), *(line for block in blocks for line in block.splitlines())]


@cache
def tails() -> frozenset[str]:
    """Every file and folder, by its path and by all ends of it."""
    found = [path.relative_to(ROOT).parts for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    found += [(path.name,) for path in ROOT.iterdir()]
    return frozenset("/".join(parts[start:]) for parts in found for start in range(len(parts)))


@cache
def flags() -> frozenset[str]:
    """Passes, pipelines, and what parsers of command lines and calls of other tools say in strings."""
    names = {*available_passes(), *available_pipelines()}
    for path in (path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")):
        if path != Path(__file__):
            text = path.read_text()
            names.update(re.findall(r"""["']--([a-z][A-Za-z0-9-]*)""", text), re.findall(r'Flag\(\s*"([a-z-]+)"', text))
    return frozenset(names)


def missing_paths(page: str, text: str) -> list[str]:
    named = {match[1] for code in code_of(text) if (match := PATH.fullmatch(code))}
    return sorted(path for path in named - ELSEWHERE.get(page, set()) if path.rstrip("/") not in tails())


def missing_flags(text: str) -> list[str]:
    named = {name for code in code_of(text) for name in re.findall(r"(?<![\w-])--([a-z][A-Za-z0-9-]*\w)", code)}
    return sorted(named - flags() - OTHER_FLAGS)


def missing_folders(picture: str) -> list[str]:
    return sorted(name for name in set(PICTURED.findall(picture)) if name not in tails())


@pytest.mark.parametrize("page", PAGES)
def test_paths_are_there(page: str) -> None:
    assert not missing_paths(page, (ROOT / page).read_text())


@pytest.mark.parametrize("page", PAGES)
def test_flags_are_there(page: str) -> None:
    assert not missing_flags((ROOT / page).read_text())


def test_folders_in_the_picture_are_there() -> None:
    picture = (ROOT / "ARCHITECTURE.md").read_text().split("```")[1]
    assert len(PICTURED.findall(picture)) >= 10
    assert not missing_folders(picture)


def test_what_is_not_there_is_found() -> None:
    text = (
        "`lowering/nowhere.py`, `lowering/nowhere/` and `lowering/access_lowering.py`; `--triton-lcm`, `--triton-licm`"
    )
    assert missing_paths("", text) == ["lowering/nowhere.py", "lowering/nowhere/"]
    assert missing_flags(text) == ["triton-lcm"]
    assert missing_flags("```sh\ntilewright-opt kernel.mlir --triton-lcm --cse\n```\n") == ["triton-lcm"]
    assert missing_folders("tt ─tt_to_nowhere─▶ ttg ─transforms/ttg─▶") == ["tt_to_nowhere"]
